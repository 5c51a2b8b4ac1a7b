"""Transactions of two labels, interleaved by a scheduler: each meets what is committed, and none waits."""

from __future__ import annotations

import pytest
from tests.database.mls.mls_interleaving import Scheduler, Theatre
from tests.database.mls.subjects import Subjects

HISTORIES, MORE_HISTORIES = 60, 10_000
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


def test_interleaved_transactions_do_what_the_rules_allow(subjects: Subjects, more: bool) -> None:
    theatre = Theatre(subjects)
    for seed in range(MORE_HISTORIES if more else HISTORIES):
        found = theatre.deviation(Scheduler(seed).draw())
        assert found is None, f"seed {seed}: {found}"


@pytest.mark.parametrize("mutant", [LOCKS_BELOW, DELETES_FOR_GOOD], ids=["lock", "deletion"])
def test_a_design_that_is_wrong_under_concurrency_is_found(subjects: Subjects, mutant: str) -> None:
    theatre = Theatre(subjects, mutant, longest_wait="300ms")
    assert any(theatre.deviation(Scheduler(seed).draw()) is not None for seed in range(MUTANT_HISTORIES))
