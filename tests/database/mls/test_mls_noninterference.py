"""Noninterference: nothing that a subject does is noticed by anybody who does not dominate it.

A random history is played as a whole, and for each observer label once more without the acts of subjects that the
observer does not dominate. What the observer sees, and every result, row count, RETURNING and error text of the acts
that are left must be the same (Goguen and Meseguer, 1982). The order of rows does not count, nor do their random ids.
mls_declassify is the one flow downwards that is allowed, by its meaning seen below. Histories with it are judged by
those who dominate the trusted subject, to whom it is an act like any other.

Each history is compared with the model of the rules, too: what was told for each statement, and what every label sees.
"""

from __future__ import annotations

import pytest
from tests.database.mls.mls_histories import OBSERVERS, TOP, Histories
from tests.database.mls.mls_model import Label, Multilevel, label
from tests.database.mls.mls_playing import Run, Stage, as_expected
from tests.database.mls.subjects import Subjects

SHARES = 2
HISTORIES, MORE_HISTORIES = 104, 1000  # in each share
RULED_HISTORIES, MORE_RULED_HISTORIES = 15, 500
TRUSTED_HISTORIES, MORE_TRUSTED_HISTORIES = 12, 300
RELABELLED_HISTORIES, MORE_RELABELLED_HISTORIES = 24, 500
PURGED_HISTORIES, MORE_PURGED_HISTORIES = 30, 500
PURGES = 0.2  # of all acts
MUTANT_HISTORIES = 60

RULES = """
    SELECT discreet.add_rule('staff', 'rise', 'NEW.salary <= 2 * OLD.salary');
    SELECT discreet.add_limit('staff', 'good ones', $$perf = 'good'$$, 1);
"""

# the value 3 wants S:CRYPTO, and bad ones want C; 'bob' may not be fair
LABEL_RULES = """
    SELECT discreet.mls_rule('staff', 'salary', $$CASE WHEN salary = 3 THEN 'S:CRYPTO' END$$);
    SELECT discreet.mls_rule('staff', 'perf', $$CASE WHEN perf = 'bad' THEN 'C' END$$);
"""
CHECKED = "ALTER TABLE staff ADD CHECK (name <> 'bob' OR perf <> 'fair')"
# of subjects that are cleared higher, and go down to where they may not write
NO_WRITERS = {"C": "S", "S:CRYPTO": "S:NATO,CRYPTO"}

KEY_ALONE = "CREATE UNIQUE INDEX ON staff_mls (run, name) WHERE NOT _dead AND _entity IS NULL"
PROJECTED_DOWN = """
    DO $$ BEGIN EXECUTE 'CREATE OR REPLACE VIEW staff AS ' || rtrim(pg_get_viewdef('staff'::regclass), ';') || '
        UNION ALL SELECT run, discreet._label(NULL), name, discreet._label(NULL), NULL, discreet._label(NULL), NULL,
            discreet._label(NULL), discreet._label(NULL), _row_id
        FROM staff_mls WHERE _entity IS NULL AND NOT _dead AND (_label & ~discreet._session_label()) <> 0'; END $$
"""
DELETE_FAILS = """
    DO $$ BEGIN EXECUTE replace(pg_get_functiondef('staff_mls_delete'::regproc), E'\\nBEGIN\\n', E'\\nBEGIN\\n
        IF EXISTS (SELECT FROM public.staff_mls b WHERE (b.run, b.name) = (OLD.run, OLD.name) AND NOT b._dead
                   AND (b._label & ~discreet._session_label()) <> 0) THEN
            RAISE EXCEPTION ''rows depend on it'';
        END IF;\\n'); END $$
"""


def interference(whole: Run, left: dict[Label, Run], observers: list[Label] = OBSERVERS) -> str | None:
    """What an observer notices of those whom it does not dominate."""
    for observer in observers:
        alone = left[observer]
        for (act, told), (_, told_alone) in zip(
            [each for each in whole.answers if observer.dominates(each[0].subject)], alone.answers, strict=True
        ):
            if told != told_alone:
                sql = "; ".join(f"{each.sql} {each.values}" for each in act.statements)
                return f"{act.subject} is told {told}, but without higher acts {told_alone}: {sql}"
        if whole.seen[observer] != alone.seen[observer]:
            return f"{observer} sees {whole.seen[observer]}, but without higher acts {alone.seen[observer]}"
    return None


def deviation(whole: Run, observers: list[Label] = OBSERVERS) -> str | None:
    """Where the database does not do what the rules say."""
    model = Multilevel()
    for act, told in whole.answers:
        expected = act.expected(model)
        if [as_expected(answer) for answer in told] != expected:
            sql = "; ".join(f"{each.sql} {each.values}" for each in act.statements)
            return f"{act.subject}: {sql}: told {told}, expected {expected}"
    for observer in observers:
        expected_rows = sorted((seen.shown for seen in model.rows(observer)), key=repr)
        if whole.seen[observer] != expected_rows:
            return f"{observer} sees {whole.seen[observer]}, expected {expected_rows}"
    return None


@pytest.mark.parametrize("share", range(SHARES))
def test_no_subject_notices_what_it_does_not_dominate(subjects: Subjects, more: bool, share: int) -> None:
    stage = Stage(subjects)
    count = MORE_HISTORIES if more else HISTORIES
    for seed in range(share * count, (share + 1) * count):
        history = Histories(seed).draw()
        whole, left = stage.runs(history)
        assert deviation(whole) is None, f"seed {seed}"
        assert interference(whole, left) is None, f"seed {seed}"


def test_nor_does_it_where_rules_and_limits_hold(subjects: Subjects, more: bool) -> None:
    stage = Stage(subjects, RULES)
    refused = 0
    for seed in range(MORE_RULED_HISTORIES if more else RULED_HISTORIES):
        whole, left = stage.runs(Histories(seed).draw())
        refused += sum(answer[0] == "23514" for _, told in whole.answers for answer in told)
        assert interference(whole, left) is None, f"seed {seed}"
    assert refused > RULED_HISTORIES


def test_nor_where_labels_are_ruled_and_rows_are_checked(subjects: Subjects, more: bool) -> None:
    """A refusal depends on the row as its writer sees it, and on the label of the session."""
    stage = Stage(subjects, LABEL_RULES, before=CHECKED)
    refused = dict.fromkeys(("42501", "23514"), 0)
    for seed in range(MORE_RULED_HISTORIES if more else RULED_HISTORIES):
        whole, left = stage.runs(Histories(seed).draw())
        for state in refused:
            refused[state] += sum(answer[0] == state for _, told in whole.answers for answer in told)
        assert interference(whole, left) is None, f"seed {seed}"
    assert min(refused.values()) > RULED_HISTORIES


def test_nor_where_subjects_may_not_write_at_their_label(subjects: Subjects, more: bool) -> None:
    """Their writes are refused, whatever there is above; they are told so, and others are not."""
    stage = Stage(subjects)
    for at, clearance in NO_WRITERS.items():
        subjects.admin.execute("SELECT discreet.mls_clear(%s, %s, %s)", [subjects.role(at), clearance, clearance])
        subjects.at(at).execute("SELECT set_config('discreet.level', %s, false)", [at])
    refused = 0
    for seed in range(MORE_RULED_HISTORIES if more else RULED_HISTORIES):
        whole, left = stage.runs(Histories(seed).draw())
        refused += sum(answer[0] == "42501" for _, told in whole.answers for answer in told)
        assert interference(whole, left) is None, f"seed {seed}"
        labels = {row[place] for row in whole.seen[TOP] for place in (1, 3, 5)}
        assert labels.isdisjoint(NO_WRITERS)
    assert refused > RULED_HISTORIES


@pytest.mark.parametrize("downgrader", ["C", "S:CRYPTO"])
def test_a_trusted_subject_tells_those_above_nothing_more(subjects: Subjects, more: bool, downgrader: str) -> None:
    """It lowers what it may, as the model says; who dominates it notices nothing of what is above or beside."""
    at = label(downgrader)
    stage = Stage(subjects, downgraders=(at,))
    above = [observer for observer in OBSERVERS if observer.dominates(at)]
    lowered = 0
    for seed in range(MORE_TRUSTED_HISTORIES if more else TRUSTED_HISTORIES):
        whole, left = stage.runs(Histories(seed, at).draw())
        lowered += sum(act.trusted and as_expected(told[0]) is not None for act, told in whole.answers)
        assert deviation(whole) is None, f"seed {seed}"
        assert interference(whole, left, above) is None, f"seed {seed}"
    assert lowered > 2


@pytest.mark.parametrize("officer", ["S:CRYPTO", "S:NATO,CRYPTO"])
def test_relabelling_is_what_the_model_says(subjects: Subjects, more: bool, officer: str) -> None:
    """Up and down; who dominates the officer notices nothing of what is above or beside."""
    at = label(officer)
    stage = Stage(subjects, downgraders=(at,))
    above = [observer for observer in OBSERVERS if observer.dominates(at)]
    changed = 0
    for seed in range(MORE_RELABELLED_HISTORIES if more else RELABELLED_HISTORIES):
        whole, left = stage.runs(Histories(seed, at, relabels=True).draw())
        changed += sum(told[0][1] in ([("1",)], [("2",)]) for act, told in whole.answers if act.trusted)
        assert deviation(whole) is None, f"seed {seed}"
        assert interference(whole, left, above) is None, f"seed {seed}"
    assert changed > 20


def test_nobody_notices_a_purge(subjects: Subjects, more: bool) -> None:
    """Nor whether something was purged or is borrowed from above; the model knows no purge at all."""
    stage = Stage(subjects, downgraders=(TOP, label("C")))
    for seed in range(MORE_PURGED_HISTORIES if more else PURGED_HISTORIES):
        whole, left = stage.runs(Histories(seed, purges=PURGES).draw())
        assert deviation(whole) is None, f"seed {seed}"
        assert interference(whole, left) is None, f"seed {seed}"
        lowering, _ = stage.runs(Histories(seed, label("C"), PURGES).draw())
        assert deviation(lowering) is None, f"seed {seed}"


@pytest.mark.parametrize("mutant", [KEY_ALONE, PROJECTED_DOWN, DELETE_FAILS], ids=["key", "projection", "delete"])
def test_a_wrong_design_is_found(subjects: Subjects, mutant: str) -> None:
    """Keys unique without their labels; higher rows shown, without values; a low DELETE that fails for higher rows."""
    stage = Stage(subjects, mutant)
    for seed in range(MUTANT_HISTORIES):
        history = Histories(seed).draw()
        if interference(*stage.runs(history)) is not None:
            return
    raise AssertionError("the mutant was not found")
