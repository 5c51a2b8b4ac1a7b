"""Trackers: sums and counts over many people that, put together, are about one."""

from __future__ import annotations

from secrets import randbits

import numpy as np

from attacks.attack import Family
from attacks.office import BY_KEY, DOORS, LOWEST, PEOPLE, VICTIM, Door, Office, born, searched

MEN, OTHERS = "p.gender = 'M'", "p.gender <> 'M'"
KNOWN = 27  # of the same department: a person whose salary the attacker knows, such as the attacker's own
KNOWN_SALARY = LOWEST + KNOWN * 7919 % 2**16


def direct(door: Door, who: str) -> float:
    return door.combined((1, f"{who} AND (p.gender = 'F' OR p.gender = 'M' OR p.floor > 99)"))


def difference(door: Door, who: str) -> float:
    return door.combined((1, "true"), (-1, f"NOT ({who})"))


def individual(door: Door, who: str) -> float:
    return door.combined((1, f"{who} OR {MEN}"), (1, f"{who} OR {OTHERS}"), (-1, "true"))


def general(door: Door, who: str) -> float:
    """With C the victim and T the men: (C or T) + (C or not T) - T - not T."""
    return door.combined((1, f"{who} OR {MEN}"), (1, f"{who} OR {OTHERS}"), (-1, MEN), (-1, OTHERS))


def union(door: Door, who: str) -> float:
    """Padded by two groups at once, with the victim and without."""
    first, second = "p.dept = 'dept 0'", "p.dept = 'dept 1'"
    return door.combined(
        (1, f"{who} OR {first} OR {second}"), (-1, f"({first} OR {second}) AND NOT ({who})"),
    )  # fmt: skip


def counting_out(door: Door, who: str) -> float:
    """Men, or the victim if she earns that much: counted in thousands, which fixed noise does not hide."""
    door.share(17)
    base = door.ask("sum(1000)", MEN) or 0.0

    def at_least(salary: int) -> bool:
        padded = f"({MEN} AND NOT ({who})) OR ({who} AND p.salary >= {salary})"
        without = base - (1000 if VICTIM % 2 else 0)
        return (door.ask("sum(1000)", padded) or 0.0) > without + 500

    return searched(at_least)


def other_words(door: Door, who: str) -> float:
    negated = who.replace(" = ", " <> ")
    return door.combined((1, f"NOT ({negated}) OR ({MEN} AND true)"), (-1, f"{MEN} AND NOT (NOT ({negated}))"))


def by_join(door: Door, who: str) -> float:
    column, value = who.split(" = ")
    door.share(1)
    return door.total("true", f"JOIN (VALUES ({value})) AS list (who) ON {column} = list.who")


def composite_key(door: Door, who: str) -> float:
    return door.combined((1, f"p.floor = {VICTIM // 20} AND p.room = {VICTIM % 20}"))


def public_list(door: Door, who: str) -> float:
    door.share(1)
    return door.total("s.chosen", "JOIN lab.seat s ON s.floor = p.floor AND s.room = p.room")


def three_sets(door: Door, who: str) -> float:
    """A and B overlap in the victim and one known person; with A or B that is the sum of two."""
    two = f"({who} OR p.id = {KNOWN})" if "id" in who else f"({who} OR p.dob = date '{born(KNOWN)}')"
    one, other = f"({two} OR p.dept = 'dept 0')", f"({two} OR p.dept = 'dept 1')"
    return door.combined((1, one), (1, other), (-1, f"({one} OR {other})")) - KNOWN_SALARY


def many_in_one_sum(door: Door, who: str) -> float:
    """The victim's salary above all others: divided out again."""
    door.share(1)
    factor = 10**9
    coded = door.ask(f"sum(CASE WHEN {who} THEN p.salary * {factor}::bigint ELSE p.salary END)") or 0.0
    return float(int(coded / factor))


def linear_system(door: Door, who: str) -> float:
    """Sums over random halves of a department, solved for all people in it."""
    colleagues = range(2, PEOPLE + 1, 5)
    number = 2 * len(colleagues)
    door.share(number)
    sets = np.array([[bool(randbits(1)) for _ in colleagues] for _ in range(number)])
    sums = []
    for chosen in sets:
        days = ", ".join(f"date '{born(person)}'" for person, there in zip(colleagues, chosen, strict=True) if there)
        sums.append(door.ask("sum(p.salary)", f"p.dob IN ({days})", repeats=64) or 0.0)
    solution, *_ = np.linalg.lstsq(sets.astype(float), np.array(sums), rcond=None)
    return float(solution[colleagues.index(VICTIM)])


def before_and_after(door: Door, who: str) -> float:
    """The same sum before the victim comes and after; of the victim nothing is said."""
    door.share(2)
    door.office.admin.execute(f"CREATE TEMP TABLE away AS SELECT * FROM {door.table} p WHERE {BY_KEY}")
    door.office.admin.execute(f"DELETE FROM {door.table} p WHERE {BY_KEY}")
    try:
        before = door.total("p.dept = 'dept 2'")
    finally:
        door.office.admin.execute(f"INSERT INTO {door.table} SELECT * FROM away; DROP TABLE away")
    return door.total("p.dept = 'dept 2' AND true") - before


def attacks(office: Office) -> Family:
    one = office.attack
    return Family(
        "Trackers",
        "The salary of one person, from questions about many.",
        DOORS,
        (
            one("direct", direct),
            one("difference", difference),
            one("individual tracker", individual),
            one("general tracker", general),
            one("union tracker", union),
            one("counting a value out", counting_out),
            one("a tracker in other words", other_words),
            one("a tracker by a join", by_join),
            one("columns that are unique only together", composite_key),
            one("linkage with a public list", public_list),
            one("linear systems (Dinur–Nissim)", linear_system, most=2),
            one("three sets that determine the sum of two", three_sets),
            one("many values encoded in one sum", many_in_one_sum),
            one("questions before and after a change", before_and_after),
        ),
    )
