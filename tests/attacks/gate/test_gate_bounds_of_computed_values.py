"""What is computed within a person has the bounds of a policy, which nothing enforces.

A person with more rows than it says must neither move a number further, nor make an expression fail.
"""

import pytest
from tests.attacks.gate.asking import how_it_ends, number
from tests.attacks.target import Target
from tests.databases import Connection

BUSY = """
    CREATE TABLE extra.call (person int, minutes int, cost float8);
    INSERT INTO extra.call SELECT p, 1, 0.1 FROM generate_series(1, 300) p;
    INSERT INTO extra.call SELECT 7, 1000000, 1e300 FROM generate_series(1, 20);
    SELECT discreet.protect('extra.call', 'person', dataset => 'people', max_rows => 20);
    SELECT discreet.describe_column('extra.call', 'minutes', 0, 10),
           discreet.describe_column('extra.call', 'cost', 0, 1);
"""
EACH = "(SELECT person, count(*) AS n, sum(minutes) AS m, sum(cost) AS c FROM extra.call GROUP BY person) x"
# 21 rows of person 7, where 20 are expected
SUSPECTS = ["1 / (21 - n)", "1.0 / (21 - n)", "sqrt(20 - n)", "m / (21 - n)", "10 % (21 - n)", "c / (21 - n)"]


def test_a_plain_division_fails_for_one_person(gated: Target) -> None:
    gated.admin.execute(BUSY)
    assert gated.value("SELECT max(n) FROM " + EACH) == 21


@pytest.mark.parametrize("expression", SUSPECTS)
def test_it_ends_alike_with_and_without_that_person(gated: Target, blind: Connection, expression: str) -> None:
    gated.admin.execute(BUSY)
    ends = [how_it_ends(blind, f"SELECT sum({expression}) FROM {EACH}")]
    gated.admin.execute("DELETE FROM extra.call WHERE person = 7; TRUNCATE discreet._answer")
    ends.append(how_it_ends(blind, f"SELECT sum({expression}) FROM {EACH}"))
    assert len(set(ends)) == 1
    assert ends[0] in ("answer", "DP001", "DP005")


def test_one_person_moves_a_sum_by_the_bound_at_most(gated: Target, blind: Connection) -> None:
    gated.admin.execute(BUSY)
    assert int(str(gated.value(f"SELECT sum(m) FROM {EACH}"))) > 20_000_000
    # 299 people with one minute, one with 200 at most; noise of scale 200 / 0.9 is beyond 25 scales with e**-25
    assert number(blind, f"SELECT sum(m) FROM {EACH}", "0.9") < 299 + 200 + 25 * 223
