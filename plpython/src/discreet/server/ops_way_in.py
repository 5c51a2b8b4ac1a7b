"""The way in: findings of `discreet.check_installation()` about connections, passwords and what is logged of them."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.ops.way_in import Line, Role, weak_lines
from discreet.server.ops_openings import PROBLEM, WARNING, Finding
from discreet.server.plpy import Plpy, run

OK = "ok"

# those whose rights discreet limits or lends: analysts, cleared and trusted roles, and who may open keys
WATCHED = """
    WITH RECURSIVE member(role, of) AS (
        SELECT oid, oid FROM pg_roles
        UNION SELECT m.role, a.roleid FROM member m JOIN pg_auth_members a ON a.member = m.of),
    watched(role) AS (
        SELECT m.role FROM member m JOIN pg_roles g ON g.oid = m.of
        WHERE g.rolname IN ('discreet_analyst', 'discreet_trusted')
        UNION SELECT role FROM discreet._clearance
        UNION SELECT m.role FROM member m JOIN discreet._key_holder h ON h.role = m.of)
"""
ROLES = f"""{WATCHED}
    SELECT r.rolname AS name, ARRAY(SELECT m.of::regrole::text FROM member m WHERE m.role = r.oid) AS groups
    FROM pg_roles r JOIN watched w ON w.role = r.oid WHERE r.rolcanlogin ORDER BY 1
"""
MIGHTY = f"""{WATCHED}
    SELECT r.rolname AS name, quote_ident(r.rolname) AS quoted, r.rolsuper AS superuser
    FROM pg_roles r JOIN watched w ON w.role = r.oid WHERE r.rolcanlogin AND (r.rolsuper OR r.rolbypassrls) ORDER BY 1
"""
OLD_HASHES = """
    SELECT string_agg(rolname, ', ' ORDER BY rolname) AS names FROM pg_authid
    WHERE rolcanlogin AND rolpassword IS NOT NULL AND rolpassword NOT LIKE 'SCRAM-SHA-256$%'
"""
# since PostgreSQL 16 other files can be included, and rules have numbers and files of their own
RULES = """
    SELECT line_number, type, database::text[] AS databases, user_name::text[] AS users, address, netmask,
           auth_method AS method, coalesce(options, '{}')::text[] AS options, error,
           coalesce(regexp_replace(to_jsonb(r) ->> 'file_name', '^.*/', ''), 'pg_hba.conf') AS file
    FROM pg_hba_file_rules r ORDER BY coalesce((to_jsonb(r) ->> 'rule_number')::int, line_number)
"""
# settings of a role or a database come before those of the server; off: queries fail instead of being filtered
ROW_SECURITY = """
    SELECT coalesce('role ' || s.setrole::regrole::text, 'database ' || d.datname) AS place,
           CASE WHEN s.setrole = 0 THEN format('ALTER DATABASE %I RESET row_security', d.datname)
                WHEN s.setdatabase = 0 THEN format('ALTER ROLE %s RESET row_security', s.setrole::regrole)
                ELSE format('ALTER ROLE %s IN DATABASE %I RESET row_security', s.setrole::regrole, d.datname)
           END AS change
    FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole
         LEFT JOIN pg_database d ON d.oid = s.setdatabase,
         unnest(s.setconfig) c(setting)
    WHERE c.setting IN ('row_security=off', 'row_security=false', 'row_security=0')
      AND (s.setdatabase = 0 OR d.datname = current_database()) AND (s.setrole = 0 OR r.oid IS NOT NULL)
    UNION ALL SELECT 'postgresql.conf', 'set row_security = on in postgresql.conf' FROM pg_settings
    WHERE name = 'row_security' AND reset_val = 'off'
      AND source IN ('configuration file', 'command line')
"""


def settings(plpy: Plpy) -> dict[str, str]:
    """As the server has them; a session may have others of its own."""
    rows = run(plpy, "SELECT name, coalesce(reset_val, '') AS value FROM pg_settings")
    return {row["name"]: row["value"] for row in rows}


def encryption(plpy: Plpy) -> Iterator[Finding]:
    found = settings(plpy)
    if found["ssl"] != "on":
        if found["listen_addresses"] == "":
            yield "TLS", OK, "off, and the server listens to local sockets only"
        else:
            yield (
                "TLS",
                WARNING,
                "ssl is off, so passwords, questions and answers cross the network in the clear, and keys cannot be "
                "opened over it: set ssl = on, ssl_cert_file and ssl_key_file in postgresql.conf",
            )
        return
    lowest = found["ssl_min_protocol_version"]
    if lowest in ("", "TLSv1", "TLSv1.1"):
        yield (
            "TLS",
            WARNING,
            f"ssl_min_protocol_version is '{lowest}', which lets broken protocols in: set it to 'TLSv1.2' in "
            "postgresql.conf",
        )
    else:
        yield "TLS", OK, f"on, from {lowest}"


def way_in(plpy: Plpy) -> Iterator[Finding]:
    """Lines of pg_hba.conf by which roles come in that discreet is about."""
    lines = []
    for row in run(plpy, RULES):
        if row["error"] is not None:
            yield "way in", PROBLEM, f"line {row['line_number']} of {row['file']} cannot be read: {row['error']}"
            continue
        lines.append(
            Line(row["line_number"], row["type"], tuple(row["databases"]), tuple(row["users"]), row["address"],
                 row["netmask"], row["method"], tuple(row["options"]), row["file"])
        )  # fmt: skip
    roles = [Role(row["name"], frozenset(row["groups"])) for row in run(plpy, ROLES)]
    database = run(plpy, "SELECT current_database() AS name")[0]["name"]
    tls = settings(plpy)["ssl"] == "on"
    for line, what, change, names in weak_lines(tuple(lines), roles, database, tls):
        yield (
            "way in",
            WARNING,
            f"{', '.join(names)} can connect {what} by {line.place} ({line}): {change}",
        )


def passwords(plpy: Plpy) -> Iterator[Finding]:
    names = run(plpy, OLD_HASHES)[0]["names"]
    if names is not None:
        yield (
            "passwords",
            WARNING,
            f"passwords of {names} are not stored as SCRAM-SHA-256, so who reads the hash can log in or guess fast: "
            "set password_encryption = 'scram-sha-256', and let them set their passwords anew with \\password",
        )
    if settings(plpy)["password_encryption"] != "scram-sha-256":
        yield (
            "passwords",
            WARNING,
            "password_encryption is md5: set password_encryption = 'scram-sha-256' in postgresql.conf",
        )


def mighty_roles(plpy: Plpy) -> Iterator[Finding]:
    for row in run(plpy, MIGHTY):
        attribute = "SUPERUSER" if row["superuser"] else "BYPASSRLS"
        yield (
            "mighty roles",
            WARNING,
            f"{row['name']} is an analyst, a cleared or trusted role or holds a key, and has {attribute}: "
            f"ALTER ROLE {row['quoted']} NO{attribute}",
        )


def row_security(plpy: Plpy) -> Iterator[Finding]:
    for row in run(plpy, ROW_SECURITY):
        yield (
            "row security",
            WARNING,
            f"row_security is off for {row['place']}, so that statements on tables with policies fail: {row['change']}",
        )


def logged_parameters(plpy: Plpy) -> Iterator[Finding]:
    found = settings(plpy)
    logs = (
        found["log_statement"] in ("mod", "all")
        or any(found[name] != "-1" for name in ("log_min_duration_statement", "log_min_duration_sample"))
        or float(found["log_transaction_sample_rate"]) > 0
    )
    if logs and found["log_parameter_max_length"] != "0":
        yield (
            "logged parameters",
            WARNING,
            "statements are logged with their parameters, and so values of protected and sealed columns: set "
            "log_parameter_max_length = 0 in postgresql.conf",
        )
    if found["log_parameter_max_length_on_error"] != "0":
        yield (
            "logged parameters",
            WARNING,
            "parameters of statements that fail are logged: set log_parameter_max_length_on_error = 0 in "
            "postgresql.conf",
        )
