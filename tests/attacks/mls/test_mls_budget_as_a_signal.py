"""A budget that labels share tells below what is asked above: by what is left, by refusals, by numbers of charges."""

from tests.attacks.mls.levels import Levels, outcome
from tests.databases import Connection

SECRET = [
    *(f"SELECT * FROM discreet.query_json('SELECT count(*) FROM employee WHERE salary > {n}', 100)" for n in range(3)),
    "SELECT discreet.suggest_bounds('employee', 'salary', 100)",
]
PROBES = [
    "SELECT * FROM discreet.budget_status",
    "SELECT * FROM discreet.query_json('SELECT count(*) FROM employee WHERE salary > 1', 100)",
    "SELECT discreet.explain('SELECT count(*) FROM employee WHERE salary > 2', 100)",
    "SELECT id, role, epsilon, label FROM discreet.charges",
    "SELECT role, message FROM discreet.refusals",
    "SELECT * FROM discreet.query_json('SELECT count(*) FROM employee', 100)",
    "SELECT * FROM discreet.query_json('SELECT count(*) FROM employee', 100, fresh => true)",
    "SELECT * FROM discreet.query_json('SELECT count(*) FROM employee', 100, fresh => true)",
    "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, COSTS off) SELECT * FROM discreet.charges",
    "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, COSTS off) SELECT * FROM discreet.budget_status",
]


def test_one_budget_for_all_labels_tells(levels: Levels, low: Connection) -> None:
    """An ordinary table: what is left of it for everybody is told to everybody."""
    levels.admin.execute(
        """
        CREATE TABLE memo (id int PRIMARY KEY);
        SELECT discreet.protect('memo', 'id', epsilon => 10);
        SELECT discreet.grant_budget('public.memo', 'mls_low', 10);
        SELECT discreet.grant_budget('public.memo', 'mls_high', 10);
        """
    )
    try:
        left = "SELECT epsilon_left FROM discreet.budget_status WHERE role IS NULL"
        before = low.execute(left).fetchall()
        levels.at("high").execute("SELECT * FROM discreet.query_json('SELECT count(*) FROM memo', 1)")
        assert low.execute(left).fetchall() != before
    finally:
        levels.admin.execute(
            "DROP TABLE memo; DELETE FROM discreet._budget; DELETE FROM discreet._dataset;"
            " REVOKE discreet_analyst FROM mls_low, mls_high"
        )


def test_nothing_tells_of_what_is_asked_above(statistics: Levels) -> None:
    assert "DP003" in str(compared(statistics))


def test_nothing_tells_of_what_is_asked_in_a_compartment(statistics: Levels) -> None:
    compared(statistics, who="asks_high", by="asks_nato")


def compared(statistics: Levels, who: str = "asks_low", by: str = "asks_high") -> list[object]:
    """What the probes tell, whether or not the other session has used its budget up."""
    told = []
    for happens in (False, True):
        statistics.reset()
        if happens:
            answers = [outcome(statistics.at(by), statement) for statement in SECRET]
            assert "at label S" in str(answers[-1])
        session = statistics.at(who)
        told.append([outcome(session, probe) for probe in PROBES])
    assert told[0] == told[1]
    return list(told[0])
