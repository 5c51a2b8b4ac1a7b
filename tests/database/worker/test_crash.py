"""Sessions ask while they, their server and those who charge are killed: every answer has its charge.

`python -m bench.crash` does the same for longer, with more sessions.
"""

from __future__ import annotations

from collections.abc import Iterable

from bench.crash import WAYS, Tormentor, torment
from tests.databases import throw_away_cluster

SESSIONS = 2 * len(WAYS)
SEED = 19


def each_once(tormentor: Tormentor) -> Iterable[str]:
    return tormentor.random.sample(list(tormentor.torments), k=len(tormentor.torments))


def test_no_torment_leaves_an_answer_without_its_charge() -> None:
    with throw_away_cluster(fsync="on", full_page_writes="on") as cluster:
        outcome = torment(cluster, SESSIONS, each_once, SEED)
    print(outcome)
    assert outcome.faults == []
    assert all(outcome.torments.values())
    # each way of asking was answered, and the small budgets were exhausted meanwhile
    assert all(journal.answers for journal in outcome.journals)
    assert any("DP003" in journal.ended for journal in outcome.journals)
