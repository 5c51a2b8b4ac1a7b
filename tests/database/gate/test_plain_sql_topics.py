"""What PostgreSQL's own regression tests are about, asked of protected tables: answered privately or cleanly refused.

tests/corpus/plain has a file per topic. "-- refused" stands before what is refused, "-- unread" where no row is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.messages import MACHINERY, notices
from tests.office import CANARY, Office

FOLDER = Path(__file__).parents[2] / "corpus" / "plain"
PROTECTED = re.compile(r"hr\.(person|visit)")
# of the gate, which knows no such table; permission denied; a constant of the asker's that has no value
CLEAN = re.compile(r"DP00[1-6]|42704|42501|22012")

OWN = """
    CREATE TABLE nora.label (dept text, label text);
    INSERT INTO nora.label VALUES ('dept 1', 'one'), ('dept 2', 'two'), ('dept 9', 'nine');
    CREATE SEQUENCE nora.numbers;
    CREATE AGGREGATE nora.total(numeric) (sfunc = numeric_add, stype = numeric, initcond = 0);
"""


@dataclass(frozen=True)
class Asked:
    topic: str
    sql: str
    mark: str


def statements(file: Path) -> Iterator[Asked]:
    mark, lines = "answered", []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line in ("-- refused", "-- unread"):
            mark = line.removeprefix("-- ")
        elif not line.startswith("--"):
            lines.append(line)
            if line.endswith(";"):
                yield Asked(file.stem, "\n".join(lines), mark)
                mark, lines = "answered", []


CORPUS = [asked for file in sorted(FOLDER.glob("*.sql")) for asked in statements(file)]


def test_the_corpus_is_as_large_as_promised() -> None:
    assert {asked.topic for asked in CORPUS} == {"select", "join", "aggregates", "subselect", "with"}
    assert len({asked.sql for asked in CORPUS}) == len(CORPUS) >= 120


def ask(nora: psycopg.Connection[Any], sql: str) -> tuple[str, str]:
    """The SQLSTATE, or nothing; and all that was told."""
    try:
        cursor = nora.execute(sql)
        return "", repr(cursor.fetchall() if cursor.description else [])
    except psycopg.Error as error:
        diag = error.diag
        return str(error.sqlstate), " ".join(
            filter(None, (diag.message_primary, diag.message_detail, diag.message_hint, diag.context))
        )


@pytest.mark.parametrize("asked", CORPUS, ids=lambda asked: f"{asked.topic}: {asked.sql}")
def test_it_is_answered_or_cleanly_refused_and_never_raw(
    office: Office, nora: psycopg.Connection[Any], asked: Asked
) -> None:
    nora.execute(OWN)
    heard = notices(nora)
    state, told = ask(nora, asked.sql)
    assert not CANARY.search(told + repr(heard))
    assert not MACHINERY.search(told + repr(heard))
    if state:
        assert CLEAN.fullmatch(state), told
    answered = "answered" if office.questions() or not PROTECTED.search(asked.sql) else "unread"
    assert ("refused" if state else answered) == asked.mark, told
    assert nora.execute("SELECT 1").fetchall() == [(1,)]
