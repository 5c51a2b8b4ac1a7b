"""pg_restore_relation_stats and its kin (PostgreSQL 18): who may maintain a table writes what the planner believes."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection
from tests.versions import since

pytestmark = since(18)

TABLE = "'schemaname', 'hr', 'relname', 'person'"
RELATION = f"pg_restore_relation_stats({TABLE}, 'relpages', {{0}}::int, 'reltuples', {{0}}::real)"
ATTRIBUTE = (
    f"pg_restore_attribute_stats({TABLE}, 'attname', 'salary', 'inherited', false, 'null_frac', 0.0::real,"
    " 'avg_width', 4, 'n_distinct', {0}::real, 'most_common_vals', '{{1,2}}'::text,"
    " 'most_common_freqs', '{{0.5,0.4}}'::real[])"
)
CLEAR = ["pg_clear_relation_stats('hr', 'person')", "pg_clear_attribute_stats('hr', 'person', 'salary', false)"]
QUESTIONS = [COUNT, f"{COUNT} WHERE salary = 1", "SELECT smoker, sum(salary) FROM hr.person GROUP BY smoker"]


@pytest.fixture
def maintainer(gated: Target, blind: Connection) -> Iterator[Connection]:
    gated.admin.execute("GRANT MAINTAIN ON hr.person TO blind")
    yield blind
    gated.admin.execute("REVOKE MAINTAIN ON hr.person FROM blind; ANALYZE hr.person")


@pytest.mark.parametrize("call", [RELATION.format(7), ATTRIBUTE.format(7), *CLEAR])
def test_without_the_right_to_maintain_they_are_refused(blind: Connection, call: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute(f"SELECT {call}")


@pytest.mark.parametrize("people", [0, 7, 1_000_000_000])
def test_they_tell_nothing_and_change_no_answer(gated: Target, maintainer: Connection, people: int) -> None:
    told: list[str | None] = []
    maintainer.add_notice_handler(lambda notice: told.append(notice.message_primary))
    assert maintainer.execute(f"SELECT {RELATION.format(people)}, {ATTRIBUTE.format(7)}").fetchall() == [(True, True)]
    assert told == []
    gated.admin.execute("UPDATE discreet._budget SET epsilon_limit = 100, amount_limit = 100 WHERE dataset = 'people'")
    gated.admin.execute("SELECT discreet.grant_budget('people', 'blind', 100)")
    assert [how_it_ends(maintainer, question) for question in QUESTIONS] == ["answer"] * len(QUESTIONS)
    ask = "SELECT (discreet.query_json($$SELECT count(*) FROM hr.person$$, 10, fresh => true)->>'count')::bigint"
    answer = maintainer.execute(ask).fetchone()
    # noise of scale 1/10: further away than 10 with probability exp(-100)
    assert answer is not None
    assert abs(answer[0] - PEOPLE) <= 10


@pytest.mark.parametrize("people", [7, 1_000_000_000])
def test_the_price_is_the_same(gated: Target, maintainer: Connection, people: int) -> None:
    maintainer.execute(f"SELECT {RELATION.format(people)}, {ATTRIBUTE.format(7)}")
    with gated.costs("0.1"):
        maintainer.execute("SELECT discreet.query_json($$SELECT count(*) FROM hr.person$$, 0.1, fresh => true)")
