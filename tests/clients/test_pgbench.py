"""pgbench with a script of questions: simple, extended and prepared, several sessions at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.office import Office

SCRIPT = """
\\set age random(20, 24)
SELECT dept, count(*) FROM hr.person WHERE age > :age GROUP BY dept;
SELECT count(*) AS n FROM hr.person WHERE dept = 'dept 1' \\gset
SELECT :n + 1;
"""


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_a_script_of_questions_runs(office: Office, tmp_path: Path, mode: str) -> None:
    script = tmp_path / "questions.sql"
    script.write_text(SCRIPT)
    options = ("--no-vacuum", "--client=2", "--transactions=10", f"--protocol={mode}", f"--file={script}")
    done = office.run("pgbench", *options, office.dsn)
    assert done.returncode == 0, done.stderr
    assert "number of transactions actually processed: 20/20" in done.stdout
    assert re.search(r"number of failed transactions: 0\b", done.stdout)
    # five ages and one department, however often they are asked; two sessions may meet at a question
    assert 2 <= office.questions() <= 12


def test_a_script_that_reads_rows_fails(office: Office, tmp_path: Path) -> None:
    script = tmp_path / "rows.sql"
    script.write_text("SELECT name FROM hr.person WHERE id = 1000;")
    options = ("--no-vacuum", "--transactions=1", "--protocol=prepared", f"--file={script}")
    done = office.run("pgbench", *options, office.dsn)
    assert done.returncode != 0
    assert "ERROR" in done.stderr
    assert office.spent() == 0
