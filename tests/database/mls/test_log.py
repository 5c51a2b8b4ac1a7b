"""Clearances, trusted operations and denied writes are in a log that outlives the transaction and shows tampering."""

from __future__ import annotations

from tests.database.mls.subjects import Subjects, refused

LOG = """
    SELECT role::text, act, relation, details ->> 'label' FROM discreet.mls_log
    WHERE act NOT IN ('mls_define', 'mls_table')
"""


def test_denied_writes_stay_in_the_log_after_a_rollback(smith_and_brown: Subjects) -> None:
    admin = smith_and_brown.admin
    admin.execute("SET log_min_messages = fatal")
    before = len(admin.execute(LOG).fetchall())
    session = smith_and_brown.at("S")
    smith_and_brown.at("U").execute("INSERT INTO employee (name) VALUES ('Rossi')")
    session.execute("BEGIN")
    refused(session, "DELETE FROM employee WHERE name = 'Rossi'")
    session.execute("ROLLBACK")
    refused(smith_and_brown.at("C"), "INSERT INTO employee (name, name_label) VALUES ('x', 'U')")
    refused(session, "SELECT discreet._deny('employee', 'DELETE', 'forged', NULL)")
    logged = admin.execute(LOG).fetchall()
    assert [row[1:] for row in logged[before:] if row[1].startswith("denied")] == [
        ("denied DELETE", '"public"."employee"', "S"),
        ("denied INSERT", '"public"."employee"', "C"),
    ]


def test_trusted_operations_are_logged_with_their_reason_even_when_rolled_back(smith_and_brown: Subjects) -> None:
    session = smith_and_brown.trusted("S")
    session.execute("BEGIN")
    session.execute(
        """SELECT discreet.mls_declassify('employee', '{"name": "Smith"}', ARRAY['perf'], 'U', 'was published')"""
    )
    session.execute("ROLLBACK")
    logged = smith_and_brown.admin.execute("SELECT details FROM discreet.mls_log WHERE act = 'mls_declassify'")
    ((details,),) = logged.fetchall()
    assert details == {
        "key": {"name": "Smith"}, "columns": ["perf"], "to": "U", "reason": "was published", "label": "S",
    }  # fmt: skip


def test_events_are_shown_to_those_who_dominate_them(smith_and_brown: Subjects) -> None:
    """Keys of a label are no less secret in a log; what officers do without a label is shown to every auditor."""
    smith_and_brown.at("U").execute("INSERT INTO employee (name) VALUES ('Rossi')")
    for label in ("C", "S"):
        refused(smith_and_brown.at(label), "DELETE FROM employee WHERE name = 'Rossi'")
    seen: dict[str | None, set[str | None]] = {}
    for label in (None, "C", "S", "S:NATO"):  # type: ignore[assignment]
        auditor = smith_and_brown._make_role("auditor", "discreet_auditor")
        if label is not None:
            smith_and_brown.admin.execute("SELECT discreet.mls_clear(%s, %s)", [auditor, label])
        session = smith_and_brown.database.connect(auditor)
        session.execute("SET search_path = pg_catalog")
        seen[label] = {row[0] for row in session.execute("SELECT details ->> 'label' FROM discreet.mls_log").fetchall()}
    assert seen == {None: {None}, "C": {None, "C"}, "S": {None, "C", "S"}, "S:NATO": {None, "C", "S"}}


def test_clearances_are_logged_and_tampering_shows(smith_and_brown: Subjects) -> None:
    admin = smith_and_brown.admin
    role = smith_and_brown.role("C")
    cleared = "SELECT count(*) FROM discreet.mls_log WHERE act = 'mls_clear' AND details ->> 'role' = %s"
    assert admin.execute(cleared, [role]).fetchall() == [(1,)]
    verify = "SELECT intact, first_bad FROM discreet.verify_log() WHERE dataset IS NULL"
    assert admin.execute(verify).fetchall() == [(True, None)]
    admin.execute("UPDATE discreet._label_event SET details = '{}' WHERE id = 2")
    assert admin.execute(verify).fetchall() == [(False, 2)]
