"""What PostgreSQL is told when a rule or a limit is added: triggers that it evaluates itself, row by row."""

from __future__ import annotations

from hashlib import sha256

from discreet.core.declarations import given
from discreet.core.errors import InvalidParameterError
from discreet.core.quoting import identifier as identifier
from discreet.core.quoting import literal as literal
from discreet.rules.expressions import Predicate, Rule

# an identifier of PostgreSQL is cut after so many bytes, and the longest prefix below is put before the name
LONGEST_NAME = 63 - len("update limit ")


def rule_name(name: str | None) -> str:
    wanted = given("name", name)
    if not wanted.strip():
        raise InvalidParameterError("name is empty", "Give the rule a name; errors will show it.")
    if len(wanted.encode()) > LONGEST_NAME:
        raise InvalidParameterError(f"name is longer than {LONGEST_NAME} bytes", "Give a shorter one.")
    return wanted


def rule_triggers(name: str, table: str, rule: Rule) -> list[str]:
    """AFTER: the row is judged as it was written, whatever other triggers made of it."""
    return [trigger(f"rule {name}", rule.events, table, f"({rule.sql}) IS FALSE", "_refuse_row()")]


def limit_triggers(name: str, table: str, index: str, predicate: Predicate, at_most: int) -> list[str]:
    """A row that takes a place is counted with all others; one that had a place before takes none."""
    call = f"_keep_limit('{at_most}', {literal(index)})"
    newly = f"({predicate.new_sql}) AND (({predicate.old_sql}) IS NOT TRUE)"
    return [
        trigger(f"limit {name}", "INSERT", table, predicate.new_sql, call),
        trigger(f"update limit {name}", "UPDATE", table, newly, call),
    ]


def multilevel_rule(name: str, view: str, function: str, rule: Rule) -> list[str]:
    """On a view: triggers after those that write, by the order of their names, for the rows that these have written."""
    body = (
        f"BEGIN\n    IF ({rule.sql}) IS FALSE THEN\n"
        + raised(f'a row of {view} breaks rule "{name}"', f"The rule is: {rule.sql}")
        + "    END IF;\n    RETURN coalesce(NEW, OLD);\nEND"
    )
    return [
        created(function, "INVOKER", body),
        f"CREATE TRIGGER {identifier(f'rule {name}')} INSTEAD OF {rule.events} ON {view} FOR EACH ROW"
        f" EXECUTE FUNCTION {function}({literal(rule.sql)}, '')",
    ]


def multilevel_limit(name: str, view: str, function: str, predicate: Predicate, at_most: int) -> list[str]:
    """Counts, after a statement that took places, the rows that the session sees."""
    beyond = f"(SELECT count(*) FROM ({counted_rows(view, predicate, at_most)}) t) > {at_most}"  # noqa: S608
    turn = f"(TG_RELID, {literal(name)})"
    body = (
        "BEGIN\n    IF TG_LEVEL = 'ROW' THEN\n"
        f"        IF ({predicate.new_sql}) AND (TG_OP = 'INSERT' OR ({predicate.old_sql}) IS NOT TRUE) THEN\n"
        f"            PERFORM discreet._take_turn{turn};\n        END IF;\n        RETURN NEW;\n    END IF;\n"
        f"    IF discreet._has_turn{turn} AND {beyond} THEN\n"
        + raised(
            f'limit "{name}" of {view} is reached: at most {at_most}',
            f"Rows are counted for which {predicate.sql}; free a place first.",
        )
        + "    END IF;\n    RETURN NULL;\nEND"
    )
    events = f"INSERT OR UPDATE ON {view} FOR EACH"
    return [
        created(function, "DEFINER", body),
        f"CREATE TRIGGER {identifier(f'limit {name}')} INSTEAD OF {events} ROW"
        f" EXECUTE FUNCTION {function}({literal(predicate.sql)}, '{at_most}')",
        f"CREATE TRIGGER {identifier(f'update limit {name}')} AFTER {events} STATEMENT EXECUTE FUNCTION {function}()",
    ]


def created(function: str, security: str, body: str) -> str:
    # fails where a planted function has that name, which would stay with its owner
    return (
        f"CREATE FUNCTION {function}()\nRETURNS trigger\nLANGUAGE plpgsql\nSECURITY {security}\n"
        f"SET search_path = pg_catalog, pg_temp\nAS {literal(body)}"
    )


def raised(message: str, hint: str) -> str:
    return f"        RAISE check_violation USING MESSAGE = {literal(message)}, HINT = {literal(hint)};\n"


def bare_function_name(view: str, name: str) -> str:
    """Of the function that judges a multilevel table; one name for each rule, however long both names are."""
    digest = sha256(name.encode()).hexdigest()[:8]
    short = view.encode()[:45].decode(errors="ignore")
    return f"{short}_rule_{digest}"


def function_name(schema: str, view: str, name: str) -> str:
    return f"{identifier(schema)}.{identifier(bare_function_name(view, name))}"


def trigger(name: str, events: str, table: str, condition: str, call: str) -> str:
    return (
        f"CREATE TRIGGER {identifier(name)} AFTER {events} ON {table} FOR EACH ROW"
        f" WHEN ({condition}) EXECUTE FUNCTION discreet.{call}"
    )


def limit_index(index: str, table: str, predicate: Predicate) -> str:
    """Holds the predicate, so that it follows renamed columns, and finds the rows that are counted."""
    return f"CREATE INDEX {identifier(index)} ON {table} ((true)) WHERE {predicate.sql}"


def index_name(table: str, name: str, taken: frozenset[str]) -> str:
    """A name that no relation of the schema has."""
    for number in range(len(taken) + 1):
        end = "_limit" if number == 0 else f"_limit{number}"
        wanted = f"{table}_{name}".encode()[: 63 - len(end)].decode(errors="ignore") + end
        if wanted not in taken:
            return wanted
    raise AssertionError("more names than relations")


def broken_rows(table: str, rule: Rule) -> str:
    """One row for which the rule does not hold."""
    return f"SELECT FROM {table} AS new WHERE ({rule.sql}) IS FALSE LIMIT 1"


def counted_rows(table: str, predicate: Predicate, at_most: int) -> str:
    """The rows that the limit counts, as far as it matters."""
    return f"SELECT FROM {table} WHERE {predicate.sql} LIMIT {at_most + 1}"
