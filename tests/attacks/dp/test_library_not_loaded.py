"""A session in which the library, and with it the hook that charges, is loaded only by the first aggregate."""

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.target import ASK, Target, outcome


@pytest.fixture
def unloaded(lonely_target: Target) -> Iterator[Target]:
    cluster = lonely_target.database.cluster
    cluster.stop()
    cluster.settings["shared_preload_libraries"] = ""
    cluster.start()
    lonely_target.reconnect()
    yield lonely_target
    cluster.stop()
    del cluster.settings["shared_preload_libraries"]
    cluster.start()
    lonely_target.reconnect()


def test_no_aggregate_of_a_session_is_answered(unloaded: Target) -> None:
    session = unloaded.connect(new=True)
    with (
        unloaded.free(),
        pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="nothing was paid"),
    ):
        session.execute(ASK)
    with unloaded.free(), pytest.raises(psycopg.Error) as refusal:
        session.execute(ASK)
    assert refusal.value.sqlstate == "DP007"
    assert "shared_preload_libraries" in str(refusal.value.diag.message_hint)


@pytest.mark.parametrize(
    "aggregate", ["dp_sum(salary, 0, 2000)", "dp_median(salary, 0, 2000)", "dp_count_distinct(id)"]
)
def test_no_aggregate_of_a_new_session_is_answered(unloaded: Target, aggregate: str) -> None:
    for _ in range(2):
        session = unloaded.connect(new=True)
        before = unloaded.charges()
        answered = outcome(session, f"SELECT discreet.{aggregate} FROM hr.person")
        assert (answered, unloaded.charges()) == ("55000", before)
