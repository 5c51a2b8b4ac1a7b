"""A person with thousands of rows in each of many groups, who would count for as many rows in every one of them."""

from tests.attacks.gate.asking import ask
from tests.attacks.target import Target
from tests.databases import Connection

GROUPS, MOST = 400, 6


def test_all_groups_of_a_person_together_are_bounded(gated: Target, blind: Connection) -> None:
    """Six rows in each of 400 groups would be 2400 rows; what counts are six, and noise for six.

    Of 400 draws of Laplace noise of scale 6 / 0.9, the sum is beyond 1200 with probability below 1e-8: by Chernoff's
    bound (1 - x²)^-400 e^(-180 x), at x = 0.22.
    """
    gated.admin.execute(
        "CREATE TABLE extra.trip (id int, place int NOT NULL, cost int);"
        f"INSERT INTO extra.trip SELECT 7, n % {GROUPS}, 100 FROM generate_series(1, 400000) n;"
        f"SELECT discreet.protect('extra.trip', 'id', dataset => 'people', max_groups => {GROUPS},"
        f" max_rows => {MOST}, max_total_rows => {MOST})"
    )
    gated.admin.execute(
        "SELECT discreet.describe_column('extra.trip', 'place', categories => array_agg(n::text)),"
        " discreet.describe_column('extra.trip', 'cost', 0, 100) FROM generate_series(0, %s) n",
        [GROUPS - 1],
    )
    summed = ask(blind, "SELECT place, sum(cost) AS paid FROM extra.trip GROUP BY place", "0.9")
    assert len(summed) == GROUPS
    assert sum(float(str(row["paid"])) for row in summed) < 100 * (MOST + 1200)
