"""The tour: short stories in psql, on a cluster of its own: `make demo`, or one of them by `make demo CHAPTER=levels`.

A chapter is a script for psql in demo/chapters: comments tell the story, `\\connect - ROLE` begins another session.
Each is played in a fresh copy of one database, with the sample data and the roles and tables of stage.sql, so that it
stands alone. What is shown is what psql prints, without results that hold nothing: those of functions that return none.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from dev.cluster import Cluster, throw_away  # noqa: E402
from dev.postgresql import pg_config  # noqa: E402

CHAPTERS = {file.stem.split("_", 1)[1]: file for file in sorted((HERE / "chapters").glob("*.sql"))}
STAGE, DATABASE = "discreet_stage", "discreet_demo"

BOLD, RED, YELLOW, BLUE, CYAN = "1", "31", "33", "1;34", "36"
COLOURS = {"ERROR:": RED, "HINT:": YELLOW, "NOTICE:": YELLOW, "WARNING:": YELLOW, "-- ": CYAN}


def title(chapter: str) -> str:
    """The first line of the script."""
    return CHAPTERS[chapter].read_text().splitlines()[0].removeprefix("-- ")


def set_stage(cluster: Cluster) -> None:
    """The database of which every chapter gets a copy."""
    cluster.sql(f"CREATE DATABASE {STAGE}")
    cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE", STAGE)
    rows = subprocess.run([sys.executable, str(HERE / "sample_data.py")], check=True, capture_output=True, text=True)
    cluster.sql(rows.stdout, STAGE)
    cluster.sql((HERE / "stage.sql").read_text(), STAGE)


def strike(cluster: Cluster) -> None:
    """Takes away what `set_stage` and the chapters have left in a cluster that goes on."""
    for database in (DATABASE, STAGE):
        cluster.sql(f"DROP DATABASE IF EXISTS {database}")
    made = re.findall(
        r"CREATE ROLE (\w+)", "".join(file.read_text() for file in (HERE / "stage.sql", *CHAPTERS.values()))
    )
    cluster.sql("".join(f"DROP ROLE IF EXISTS {role};" for role in made))


def played(cluster: Cluster, chapter: str) -> Iterator[str]:
    """The lines that psql prints, its input among them, while it plays a chapter."""
    cluster.sql(f"DROP DATABASE IF EXISTS {DATABASE}")
    cluster.sql(f"CREATE DATABASE {DATABASE} TEMPLATE {STAGE}")
    psql = [os.path.join(pg_config("--bindir"), "psql"), "-Xq", "--echo-all", "-P", "footer=off", cluster.dsn(DATABASE)]
    with (
        CHAPTERS[chapter].open() as script,
        subprocess.Popen(psql, stdin=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running,
    ):
        assert running.stdout is not None
        for line in running.stdout:
            yield line.rstrip("\n")


def telling(lines: Iterable[str]) -> Iterator[str]:
    """The lines without tables of which every row is blank."""
    held: list[str] = []  # a line that may be the head of a table, and the rule below it
    blank_rows = 0
    for line in lines:
        if len(held) == 2 and not line.strip(" |"):
            if line:
                blank_rows += 1
                continue
            if blank_rows:
                held = []
        elif len(held) == 1 and re.fullmatch(r"-[-+]*", line):
            held.append(line)
            blank_rows = 0
            continue
        yield from held
        held = [line]
    yield from held


def painted(lines: Iterable[str], chapter: str, coloured: bool) -> Iterator[str]:
    """The lines with room between them: what psql was told can be told from what it says."""

    def paint(text: str, colour: str | None) -> str:
        return f"\033[{colour}m{text}\033[0m" if coloured and colour else text

    told = [line for line in CHAPTERS[chapter].read_text().splitlines() if line]
    before = ""
    for line in lines:
        typed = bool(told) and line == told[0]
        if typed:
            told.pop(0)
        if line.startswith("\\connect") and typed:
            role = line.split()[-1]
            yield from ("", paint(f"──── psql, as {role} ".ljust(78, "─"), BLUE))
        elif typed:
            if line.startswith("--") and not before.startswith("--"):
                yield ""
            yield paint(line, COLOURS.get(line[:3], BOLD))
        elif line.strip():
            yield paint(line, COLOURS.get(line.split()[0]))
        before = line


def play(cluster: Cluster, chapter: str, out: TextIO) -> None:
    coloured = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    heading = f"════ {chapter} ".ljust(78, "═")
    print(f"\n\033[{BOLD}m{heading}\033[0m" if coloured else f"\n{heading}", file=out)
    for line in painted(telling(played(cluster, chapter)), chapter, coloured):
        print(line, file=out, flush=True)


def main(names: list[str]) -> None:
    listed = "".join(f"  {name:10} {title(name)}\n" for name in CHAPTERS)
    if names == ["?"]:
        print(listed, end="")
        return
    unknown = [name for name in names if name not in CHAPTERS]
    if unknown:
        sys.exit(f"There is no chapter {unknown[0]}. These are there: make demo CHAPTER=...\n{listed}")
    with throw_away(in_memory=True, fsync="off") as cluster:
        set_stage(cluster)
        pauses = not names and sys.stdin.isatty() and sys.stdout.isatty()
        for chapter in names or CHAPTERS:
            play(cluster, chapter, sys.stdout)
            if pauses and chapter != [*CHAPTERS][-1]:
                input("\nEnter: the next chapter ")
    print("\nTry it yourself: make psql")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (KeyboardInterrupt, EOFError):
        sys.exit(130)
