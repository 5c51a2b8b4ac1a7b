"""psql: what analysts type first. Questions, the commands that run them in other ways, and looking around."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

import pytest
from dev.postgresql import pg_config
from tests.office import CANARY, NOISE, Office

BY_DEPT = "SELECT dept, count(*), avg(salary) FROM hr.person GROUP BY dept ORDER BY dept"
DESCRIBING = (
    r"\d *.*", r"\d hr.person", r"\d+ hr.person", r"\d+ hr.*", r"\dt hr.*", r"\dt+ hr.*", r"\di hr.*", r"\di+ hr.*",
    r"\dn+", r"\dp hr.*", r"\dT+ hr.*", r"\du", r"\l+", r"\df+ discreet.*", r"\dv discreet.*", r"\dx", r"\dx+ discreet",
    r"\dd hr.*", r"\dD", r"\dS", r"\da", r"\do", r"\dC", r"\des", r"\dy", r"\db", r"\sf discreet.create_view",
    r"\sv discreet.charges",
)  # fmt: skip


class Terminal:
    """psql in a terminal, as a person uses it."""

    def __init__(self, dsn: str) -> None:
        ours, theirs = pty.openpty()
        command = [os.path.join(pg_config("--bindir"), "psql"), "-X", dsn]
        environment = {"PATH": os.environ["PATH"], "TERM": "dumb", "PAGER": "cat", "HOME": "/nonexistent"}
        self._process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        self._file = ours
        self.seen = ""
        self.wait(r"=> ")

    def type(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def wait(self, pattern: str) -> str:
        """What was shown until this appears."""
        deadline = time.monotonic() + 60
        while not (found := re.search(pattern, self.seen)):
            assert time.monotonic() < deadline, f"{pattern!r} never appeared in {self.seen!r}"
            if select.select([self._file], [], [], 1)[0]:
                self.seen += os.read(self._file, 4096).decode()
        shown, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        assert not CANARY.search(shown)
        return shown

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(60)
        os.close(self._file)


def rows(output: str) -> list[list[str]]:
    return [line.split("|") for line in output.strip().splitlines()]


def test_a_select_is_answered_under_the_names_that_it_gives(office: Office) -> None:
    done = office.psql(BY_DEPT + ";", "-A")
    heading, *answer, end = rows(done.stdout)
    assert (heading, end) == (["dept", "count", "avg"], ["(4 rows)"])
    truth = office.truth(BY_DEPT.replace("avg(salary)", "avg(least(salary, 5000))"))
    for (dept, count, average), true in zip(answer, truth, strict=True):
        assert dept == true[0]
        assert abs(int(count) - true[1]) <= 4 * NOISE  # count and average share the epsilon
        assert abs(float(average) - float(true[2])) < 500
    assert "epsilon 10 spent" in done.stderr
    assert (office.spent(), office.questions()) == (10, 1)


def test_gdesc_tells_names_and_types_and_asks_nothing(office: Office) -> None:
    done = office.psql(
        "SELECT dept, count(*), avg(salary), avg(height), min(age), count(*) / 2.0 FROM hr.person GROUP BY 1 \\gdesc",
        "-At",
    )
    assert done.stdout.split() == [
        "dept|text", "count|bigint", "avg|numeric", "avg|double", "precision", "min|smallint", "?column?|numeric",
    ]  # fmt: skip
    assert office.questions() == 0


def test_crosstabview_turns_an_answer(office: Office) -> None:
    done = office.psql(
        "SELECT dept, smoker, count(*) FROM hr.person GROUP BY 1, 2 ORDER BY 1, 2 \\crosstabview\n", "-A"
    )
    heading, *answer, _ = rows(done.stdout)
    assert heading == ["dept", "f", "t"]
    assert [row[0] for row in answer] == ["dept 0", "dept 1", "dept 2", "dept 3"]
    assert abs(int(answer[0][2]) - 500) <= NOISE


def test_watch_repeats_a_question_for_one_price(office: Office) -> None:
    terminal = Terminal(office.dsn)
    terminal.type("SELECT count(*) FROM hr.person \\watch 0.1\n")
    shown = "".join(terminal.wait(r"\(1 row\)") for _ in range(4))
    terminal.close()
    answers = re.findall(r"^ +(\d+)\r?$", shown, re.MULTILINE)
    assert len(answers) == 4
    assert len(set(answers)) == 1
    assert office.spent() == 10


def test_copy_writes_an_answer_to_a_file(office: Office, tmp_path: Path) -> None:
    target = tmp_path / "answer.csv"
    done = office.psql(f"\\copy (SELECT dept, count(*) FROM hr.person GROUP BY dept) to '{target}' csv header\n")
    assert "COPY 4" in done.stdout
    lines = target.read_text().splitlines()
    assert lines[0] == "dept,count"
    assert abs(int(lines[1].split(",")[1]) - 500) <= NOISE


@pytest.mark.parametrize(
    ("text", "sqlstate"),
    [
        ("SELECT * FROM hr.person;", "DP002"),
        ("TABLE hr.person;", "DP002"),
        ("SELECT name FROM hr.person LIMIT 1;", "DP001"),
        ("\\copy hr.person to '/dev/null'\n", "42501"),
        ("\\copy (SELECT * FROM hr.person) to '/dev/null'\n", "DP002"),
        ("EXPLAIN ANALYZE SELECT count(*) FROM hr.person;", "DP001"),
        ("DELETE FROM hr.person;", "42501"),
        ("SELECT id FROM hr.person \\watch 0.1\n", "DP002"),
        ("SELECT id, name FROM hr.person \\gexec\n", "DP002"),
        ("SELECT max(name) AS x FROM hr.person \\gset\n", "DP001"),
    ],
)
def test_what_would_show_people_is_refused(office: Office, text: str, sqlstate: str) -> None:
    done = office.psql(text)
    assert re.search(rf"ERROR:\s+{sqlstate}:", done.stderr), done.stderr
    assert (done.stdout.strip(), office.spent()) == ("", 0)


def test_variables_of_psql_hold_answers(office: Office) -> None:
    done = office.psql(
        "SELECT count(*) AS n FROM hr.person WHERE dept = 'dept 1' \\gset\n"
        "\\echo found :n\n\\bind\n"
        "SELECT :n - 500 BETWEEN -4 AND 4;\n",
        "-At",
    )
    assert re.search(r"found (\d+)\nt\n", done.stdout)


@pytest.mark.parametrize("command", DESCRIBING)
def test_looking_around_works_and_asks_nothing(office: Office, command: str) -> None:
    done = office.psql(command + "\n")
    assert done.stderr == ""
    assert done.stdout
    assert (office.spent(), office.truth("SELECT count(*) FROM discreet._refusal")) == (0, [(0,)])


def test_columns_keys_and_comments_of_a_protected_table_are_shown(office: Office) -> None:
    shown = office.psql("\\d hr.person\n\\dt+ hr.person\n").stdout
    for word in ("salary", "numeric(12,2)", '"person_pkey" PRIMARY KEY', "hr.visit", "Everybody who works here."):
        assert word in shown


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("SELECT count(*) FROM hr.per\t", "hr.person "),
        ("SELECT dept, count(*) FROM hr.dep\t", "hr.department "),
        ("\\dt hr.vis\t", "hr.visit "),
        ("SELECT * FROM discreet.bud\t", "discreet.budget_status "),
    ],
)
def test_tab_completes_names(office: Office, typed: str, completed: str) -> None:
    terminal = Terminal(office.dsn)
    terminal.type(typed)
    terminal.wait(re.escape(completed))
    terminal.close()
