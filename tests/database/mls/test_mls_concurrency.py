"""Transactions of two sessions, interleaved by a scheduler: each meets what is committed.

At two labels none waits. At one label a session waits for rows that the other one is writing, and for nothing else.
"""

from __future__ import annotations

import pytest
from tests.database.mls.mls_interleaving import SHORTEST_WAIT, Scheduler, Theatre
from tests.database.mls.subjects import Subjects

HISTORIES, MORE_HISTORIES = 60, 10_000
SAME_LABEL_HISTORIES, MORE_SAME_LABEL_HISTORIES = 60, 2_000
MUTANT_HISTORIES = 400

# a version is made under a lock on the row that it borrows from
LOCKS_BELOW = """
    DO $$ BEGIN EXECUTE replace(pg_get_functiondef('staff_mls_update'::regproc), E'\\nBEGIN\\n', E'\\nBEGIN\\n
        PERFORM FROM public.staff_mls b WHERE (b.run, b.name) = (OLD.run, OLD.name) FOR UPDATE;\\n'); END $$
"""
# a row is deleted for good
DELETES_FOR_GOOD = """
    DO $$ BEGIN EXECUTE replace(pg_get_functiondef('staff_mls_delete'::regproc), 'RETURN OLD;', '
        DELETE FROM public.staff_mls d WHERE d._row_id = OLD.row_id;
        RETURN OLD;'); END $$
"""
# a purge looks at what is committed, and at no open transaction
PURGES_BESIDE_OPEN_TRANSACTIONS = """
    CREATE OR REPLACE FUNCTION discreet._is_needed(base regclass, tombstone anyelement)
    RETURNS boolean LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE AS $$ BEGIN
        RETURN EXISTS (SELECT FROM public.staff_mls r
                       WHERE coalesce(r._entity, r._row_id) = coalesce(tombstone._entity, tombstone._row_id)
                         AND r._row_id <> tombstone._row_id AND tombstone._label = ANY (r._source));
    END $$
"""


def test_interleaved_transactions_do_what_the_rules_allow(subjects: Subjects, more: bool) -> None:
    theatre = Theatre(subjects)
    for seed in range(MORE_HISTORIES if more else HISTORIES):
        found = theatre.deviation(Scheduler(seed).draw())
        assert found is None, f"seed {seed}: {found}"


def test_so_do_transactions_of_two_sessions_at_one_label(subjects: Subjects, more: bool) -> None:
    theatre = Theatre(subjects, longest_wait=SHORTEST_WAIT)
    for seed in range(MORE_SAME_LABEL_HISTORIES if more else SAME_LABEL_HISTORIES):
        found = theatre.deviation(Scheduler(seed, at_one_label=True).draw())
        assert found is None, f"seed {seed}: {found}"
    assert theatre.waits > 5


@pytest.mark.parametrize(
    "mutant",
    [LOCKS_BELOW, DELETES_FOR_GOOD, PURGES_BESIDE_OPEN_TRANSACTIONS],
    ids=["lock", "deletion", "purge"],
)
def test_a_design_that_is_wrong_under_concurrency_is_found(subjects: Subjects, mutant: str) -> None:
    theatre = Theatre(subjects, mutant, longest_wait="300ms")
    assert any(theatre.deviation(Scheduler(seed).draw()) is not None for seed in range(MUTANT_HISTORIES))
