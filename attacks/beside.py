"""Small groups and side doors: what is told by the shape of an answer, and beside it."""

from __future__ import annotations

import time

from attacks.attack import Family
from attacks.office import DOORS, POLICIES, Door, Guess, Office, searched


def group_key(door: Door, who: str) -> float:
    """The key of a group of one."""
    door.share(1)
    if door.setting in POLICIES:
        query = f"SELECT p.salary, count(*) FROM {door.table} p WHERE {who} GROUP BY p.salary"
    else:
        query = f"SELECT shown, number FROM lab.keys('p.salary', $q${who}$q$)"
    rows = door.session.execute(query.encode()).fetchall()
    return float(rows[0][0]) if rows else 0.0


def empty_input(door: Door, who: str) -> float:
    """The sum over no row is NULL, and so it is with noise."""
    door.share(16)
    return searched(lambda middle: door.ask("sum(p.salary)", f"{who} AND p.salary >= {middle}", repeats=1) is not None)


def table_scans(door: Door, who: str) -> float:
    """Another table is read only if the secret holds; every role sees how often it was read."""
    door.share(16)
    scans = "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relid = 'lab.seat'::regclass"

    def at_least(salary: int) -> bool:
        seats = "(SELECT count(*) FROM lab.seat s WHERE s.floor = p.floor) > 0"
        read_if = f"count(*) FILTER (WHERE CASE WHEN {who} AND p.salary >= {salary} THEN {seats} ELSE false END)"
        with door.session.transaction():
            ((before,),) = door.session.execute(scans).fetchall()
            door.ask(read_if, repeats=1)
            ((after,),) = door.session.execute(scans).fetchall()
        return bool(after > before)

    return searched(at_least)


def by_time(slow: str) -> Guess:
    """Something slow is done only if the secret holds."""

    def guess(door: Door, who: str) -> float:
        door.share(80)

        def duration(condition: str) -> float:
            aggregate = f"count(*) FILTER (WHERE CASE WHEN {condition} THEN {slow} ELSE false END)"
            durations = []
            for _ in range(4):
                begun = time.perf_counter()
                door.ask(aggregate, repeats=1)
                durations.append(time.perf_counter() - begun)
            return min(durations)

        between = (duration(f"{who} AND p.salary > 0") + duration(f"{who} AND p.salary < 0")) / 2
        return searched(lambda middle: duration(f"{who} AND p.salary >= {middle}") > between)

    return guess


def attacks(office: Office) -> Family:
    one = office.attack
    return Family(
        "Small groups and side doors",
        "The salary of one person, by the shape of an answer, or by what can be seen beside it.",
        DOORS,
        (
            one("existence of a group key", group_key),
            one("empty input", empty_input),
            one("pg_stat_xact_user_tables", table_scans),
            one("response time", by_time("(SELECT count(*) FROM generate_series(1, 600000 + p.id)) > 0"), most=3),
            one("pg_sleep, clocks", by_time("pg_sleep(0.03) IS NOT NULL"), most=3),
        ),
    )
