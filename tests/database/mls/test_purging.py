"""A purge takes no value that anybody sees, or that a transaction under way may come to show."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import psycopg
import pytest
from tests.database.mls.mls_playing import TABLE
from tests.database.mls.subjects import Subjects

TOP = "S:NATO,CRYPTO"
PURGE = "SELECT discreet.mls_purge('employee', 'tidy')"
SHOWN = "SELECT salary, salary_label, perf, perf_label FROM employee"


@pytest.fixture
def rossi(employee: Subjects) -> Subjects:
    """The row of U, and one of C that has another perf."""
    employee.at("U").execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    employee.at("C").execute("UPDATE employee SET perf = 'Good'")
    return employee


def purged(subjects: Subjects) -> int:
    ((count,),) = subjects.trusted(TOP).execute(PURGE).fetchall()
    return int(count)


@pytest.mark.parametrize(
    "begin",
    ["BEGIN", "BEGIN; SAVEPOINT a; SELECT 1; SAVEPOINT b", "BEGIN ISOLATION LEVEL REPEATABLE READ"],
    ids=["transaction", "savepoint", "snapshot"],
)
def test_what_an_open_transaction_has_borrowed_stays(rossi: Subjects, begin: str) -> None:
    high = rossi.at("S")
    high.execute(begin)
    high.execute("UPDATE employee SET salary = 9 WHERE tc = 'C'")
    rossi.at("C").execute("DELETE FROM employee WHERE tc = 'C'")
    assert purged(rossi) == 0
    high.execute("COMMIT")
    assert (9, "S", "Good", "C") in high.execute(SHOWN).fetchall()
    assert purged(rossi) == 0
    high.execute("DELETE FROM employee WHERE tc = 'S'")
    assert purged(rossi) == 2


def test_what_was_rolled_back_borrows_nothing(rossi: Subjects) -> None:
    high = rossi.at("S")
    high.execute("BEGIN; SAVEPOINT a; UPDATE employee SET salary = 9 WHERE tc = 'C'; ROLLBACK TO a")
    rossi.at("C").execute("DELETE FROM employee WHERE tc = 'C'")
    high.execute("COMMIT")
    assert purged(rossi) == 1


def test_what_an_old_snapshot_still_sees_can_be_borrowed_after_the_purge(rossi: Subjects) -> None:
    high = rossi.at("S")
    high.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert (1, "U", "Good", "C") in high.execute(SHOWN).fetchall()
    rossi.at("C").execute("DELETE FROM employee WHERE tc = 'C'")
    assert purged(rossi) == 0
    assert high.execute("UPDATE employee SET salary = 9 WHERE tc = 'C'").rowcount == 1
    high.execute("COMMIT")
    assert (9, "S", "Good", "C") in high.execute(SHOWN).fetchall()


def test_a_reference_that_an_old_snapshot_copies_stays_good(rossi: Subjects) -> None:
    """A row between borrows perf no longer, but a higher session copies what the row was."""
    between, high = rossi.at("S"), rossi.at("S:NATO")
    between.execute("UPDATE employee SET salary = 5 WHERE tc = 'C'")
    rossi.at("C").execute("DELETE FROM employee WHERE tc = 'C'")
    high.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert (5, "S", "Good", "C") in high.execute(SHOWN).fetchall()
    between.execute("UPDATE employee SET perf = 'Own' WHERE tc = 'S'")
    assert purged(rossi) == 0
    high.execute("UPDATE employee SET salary = 9 WHERE tc = 'S'")
    high.execute("COMMIT")
    assert (9, "S:NATO", "Good", "C") in high.execute(SHOWN).fetchall()


def test_what_a_prepared_transaction_borrows_stays(rossi: Subjects) -> None:
    trusted = rossi.trusted("S")
    trusted.execute("BEGIN; UPDATE employee SET salary = 9 WHERE tc = 'C'; PREPARE TRANSACTION 'mls_borrower'")
    rossi.at("C").execute("DELETE FROM employee WHERE tc = 'C'")
    assert purged(rossi) == 0
    trusted.execute("COMMIT PREPARED 'mls_borrower'")
    assert (9, "S", "Good", "C") in rossi.at("S").execute(SHOWN).fetchall()


def test_of_several_tombstones_of_a_label_the_last_counts(rossi: Subjects) -> None:
    """A purge that was rolled back leaves the one beside which a row was made anew."""
    middle, high, trusted = rossi.at("C"), rossi.at("S"), rossi.trusted(TOP)
    for value in ("Bad", "Worse", "Worst"):
        middle.execute("DELETE FROM employee WHERE tc = 'C'")
        trusted.execute("BEGIN")
        assert purged(rossi) > 0
        middle.execute("UPDATE employee SET perf = %s", [value])
        trusted.execute("ROLLBACK")
    high.execute("UPDATE employee SET salary = 9 WHERE tc = 'C'")
    middle.execute("DELETE FROM employee WHERE tc = 'C'")
    for removed in (3, 0):
        assert (9, "S", "Worst", "C") in high.execute(SHOWN).fetchall()
        assert purged(rossi) == removed


# ---- schedules of transactions that overlap, with purges and without

LABELS = ["U", "C", "C:CRYPTO", "S", "S:CRYPTO"]
SCHEDULES, MORE_SCHEDULES = 40, 1000
STEPS = 60


@dataclass(frozen=True)
class Step:
    """Of nobody: a purge."""

    label: str | None
    sql: str = ""


def drawn_schedule(seed: int) -> list[Step]:
    """Each label has one session, so nobody waits for one of its own label."""
    random = Random(seed)
    is_open: dict[str, bool] = dict.fromkeys(LABELS, False)
    steps = [Step("U", "INSERT INTO staff (run, name, salary, perf) VALUES (1, 'ann', 1, 'a'), (1, 'bob', 2, 'b')")]
    for number in range(STEPS):
        label = random.choice(LABELS)
        if random.random() < 0.25:
            steps.append(Step(None))
        elif random.random() < 0.35:
            begin = random.choice(["BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM staff"])
            steps.append(Step(label, random.choice(["COMMIT", "COMMIT", "ROLLBACK"]) if is_open[label] else begin))
            is_open[label] = not is_open[label]
        else:
            key, column = random.choice(["ann", "bob"]), random.choice(["salary", "perf"])
            source = random.choice(LABELS)
            steps.append(Step(label, random.choice([
                f"UPDATE staff SET {column} = '{number}' WHERE name = '{key}'",
                f"UPDATE staff SET {column} = '{number}' WHERE name = '{key}' AND tc = '{source}'",
                f"DELETE FROM staff WHERE name = '{key}' AND tc = '{label}'",
                f"INSERT INTO staff (run, name, salary) VALUES (1, '{key}', {number})",
                f"""SELECT discreet.mls_uplevel('staff', '{{"run": 1, "name": "{key}"}}', '{column}', '{source}')""",
                "SELECT name, salary, salary_label, perf, perf_label, tc FROM staff",
            ])))  # fmt: skip
    return steps + [Step(label, "COMMIT") for label in LABELS if is_open[label]]


def told(subjects: Subjects, steps: list[Step], purges: bool) -> list[object]:
    """All that the sessions are told, and what each label sees in the end."""
    subjects.admin.execute("TRUNCATE staff_mls")
    answers: list[object] = []
    for step in steps:
        if step.label is None:
            if purges:
                subjects.trusted(TOP).execute("SELECT discreet.mls_purge('staff', 'tests')")
            continue
        try:
            cursor = subjects.at(step.label).execute(step.sql.encode())
            rows = sorted(cursor.fetchall(), key=repr) if cursor.description else []
            answers.append((cursor.statusmessage, rows))
        except psycopg.Error as error:
            answers.append((error.sqlstate, error.diag.message_primary))
    return answers + [subjects.seen(label, "staff") for label in [*LABELS, TOP]]


def test_purges_among_open_transactions_change_nothing(subjects: Subjects, more: bool) -> None:
    subjects.make_table(TABLE, "staff", ["run", "name"])
    for label in LABELS:
        subjects.at(label).execute("SET lock_timeout = '10s'")
    removed = 0
    for seed in range(MORE_SCHEDULES if more else SCHEDULES):
        steps = drawn_schedule(seed)
        without = told(subjects, steps, purges=False)
        ((tombstones,),) = subjects.admin.execute("SELECT count(*) FROM staff_mls WHERE _dead").fetchall()
        assert told(subjects, steps, purges=True) == without, f"seed {seed}"
        ((left,),) = subjects.admin.execute("SELECT count(*) FROM staff_mls WHERE _dead").fetchall()
        removed += tombstones - left
    assert removed > SCHEDULES // 4
