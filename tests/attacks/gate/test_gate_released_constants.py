"""Numbers of a subquery about all people as constants: a free look at everybody, or a key that no rule sees."""

from decimal import Decimal

import pytest
from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.gate.conftest import VOTERS
from tests.attacks.target import Target
from tests.databases import Connection

MEAN = "(SELECT avg(least(greatest(salary, 0), 2000)) FROM hr.person)"
# of any number of people, this is 7
SEVEN = "(SELECT 7 + 0 * count(*) FROM extra.voter)"
TRACKERS = [
    f"region = 'region 2' AND roll_no = {SEVEN}",
    f"region = 'region 2' AND roll_no >= {SEVEN} AND roll_no <= {SEVEN}",
    f"region = 'region 2' AND roll_no > {SEVEN.replace('7', '6')} AND roll_no < {SEVEN.replace('7', '8')}",
    f"region = 'region 2' AND roll_no BETWEEN {SEVEN} AND 7",
    f"region = 'region 2' AND abs(roll_no - least(greatest({SEVEN}, 0), 9)) < 1",
    f"region = 'region 2' AND greatest(roll_no, {SEVEN}) = least(roll_no, {SEVEN})",
    f"region = (SELECT mode() WITHIN GROUP (ORDER BY region) FROM extra.voter) AND roll_no = {SEVEN}",
    f"id = {SEVEN}",
]


def test_one_person_moves_everybody_where_the_number_is_exact(target: Target) -> None:
    question = f"{COUNT} WHERE salary > (SELECT avg(salary) FROM hr.person)"
    before = target.value(question)
    target.admin.execute("BEGIN; UPDATE hr.person SET salary = 1000000 WHERE id = 7")
    after = target.value(question)
    target.admin.execute("ROLLBACK")
    assert int(str(before)) - int(str(after)) > 300


def test_the_number_is_paid_for_along_with_the_question(gated: Target, blind: Connection) -> None:
    assert how_it_ends(blind, f"{COUNT} WHERE salary > {MEAN}", "0.02") == "answer"
    assert gated.admin.execute("SELECT epsilon FROM discreet._charge").fetchall() == [(Decimal("0.02"),)]


def test_nothing_is_learned_where_only_the_number_can_be_paid(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        "UPDATE discreet._budget SET amount_limit = 0.0006, epsilon_limit = 0.0006 WHERE dataset = 'people'"
    )
    assert how_it_ends(blind, f"{COUNT} WHERE salary > {MEAN}", "0.001") == "DP003"
    assert gated.admin.execute("SELECT count(*) FROM discreet._charge").fetchone() == (0,)


@pytest.mark.parametrize("where", TRACKERS)
def test_a_released_number_is_no_way_round_the_rule_about_keys(gated: Target, blind: Connection, where: str) -> None:
    gated.admin.execute(VOTERS)
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM extra.voter WHERE {where}") in ("DP001", "DP002")
