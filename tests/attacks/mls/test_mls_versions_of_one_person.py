"""A person with a version at every label would count as often as there are versions.

At epsilon 100 noise moves a count with probability below 1e-40, a sum of values up to 100000 by 40000 with one below
1e-17.
"""

from typing import Any

from tests.attacks.mls.levels import Levels

VERSIONS = ("low", "middle", "high", "nato")
ASKED = "SELECT * FROM discreet.query_json('SELECT {} AS number FROM employee', 100)"


def test_versions_of_one_person_are_one_person(statistics: Levels) -> None:
    for place, name in enumerate(VERSIONS):
        with statistics.at(name) as session:
            session.execute("UPDATE employee SET salary = %s WHERE name = 'Smith'", [100000 - place])
    asker, reader = statistics.at("asks_nato"), statistics.at("nato")

    def number(what: str) -> int:
        (row,) = asker.execute(ASKED.format(what)).fetchall()
        told: Any = row[0]
        return int(told["number"])

    # the attack, on rows: Smith counts four times
    rows = reader.execute("SELECT count(*), sum(salary) FROM employee WHERE name = 'Smith'").fetchall()
    assert rows == [(4, 399994)]
    assert number("count(*)") == 2  # Smith and Brown
    assert abs(number("sum(salary)") - 100000 - 80000) < 40000
    reader.execute("UPDATE employee SET salary = 1 WHERE name = 'Smith'")
    assert number("count(*)") == 2
