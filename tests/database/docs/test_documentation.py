"""Every SQL block of README and docs runs, and prints what it says: noise differs, words and shape do not."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from demo import tour
from dev.cluster import ROOT, Cluster, throw_away
from dev.postgresql import pg_config
from dev.reference import reference
from tests.databases import Database

from discreet.dp.additive import DiscreteLaplace
from discreet.dp.price import Price
from discreet.dp.quantile import QuantileChoice
from discreet.gate.measurements import BINS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, *(ROOT / name for name in ("docker/README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
# a block runs as postgres in the demo's database, unless it says otherwise: as a role, or in a new database
BLOCK = re.compile(r"(?:<!-- (role|database): (\w+) -->\n)?```sql\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)


@pytest.fixture(scope="module")
def demo_database(cluster: Cluster) -> Iterator[Database]:
    """What the first chapter of `make demo` leaves behind, its curator's acts and questions included."""
    tour.set_stage(cluster)
    assert "verify_log" in "".join(tour.played(cluster, "question"))
    database = Database(cluster, "discreet_demo")
    yield database
    database.close()
    tour.strike(cluster)
    cluster.sql("DROP ROLE IF EXISTS clinic_team, clinic_report")


def blocks(page: Path) -> list[tuple[str, str, str | None]]:
    """Role, SQL and output, if one is told, of the blocks that run in the demo's database."""
    found = BLOCK.findall(page.read_text())
    return [(name or "postgres", sql, output) for kind, name, sql, output in found if kind in ("", "role")]


def blocks_of_new_databases(page: Path) -> list[str]:
    return [sql for kind, _, sql, _ in BLOCK.findall(page.read_text()) if kind == "database"]


def fences(page: Path) -> Iterator[str]:
    """The line that opens each block, and its first line; but of those that say why they are not run."""
    lines = page.read_text().splitlines()
    marks = [number for number, line in enumerate(lines) if line.startswith("```")]
    for number in marks[::2]:
        if not lines[number - 1].startswith("<!-- not run: "):
            yield f"{lines[number]} {lines[number + 1]}"


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings: lower case, no punctuation, hyphens for blanks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def hidden(page: Path, when: str) -> list[str]:
    """SQL that the reader does not see: what must be there before, what is put away after."""
    return re.findall(rf"<!-- {when}\n(.*?)-->", page.read_text(), re.DOTALL)


def run(database: Database, role: str, sql: str) -> str:
    command = ["psql", database.dsn(role), "-Xq", "-P", "footer=off"]
    done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def shape(text: str) -> list[str]:
    """The lines of an output, without numbers and widths of columns."""
    lines = [re.sub(r"[-+ ]+", " ", re.sub(r"[0-9.]+", "0", line)).strip() for line in text.splitlines()]
    return [line for line in lines if line]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_sql_block_runs_and_prints_what_it_says(page: Path, demo_database: Database) -> None:
    if page.name == "README.md":  # tells the same story as the demo, from its beginning
        demo_database.cluster.sql("SELECT discreet.unprotect('hr.employee')", "discreet_demo")
        demo_database.cluster.sql(
            "TRUNCATE discreet._charge, discreet._refusal, discreet._budget, discreet._dataset,"
            " discreet._protected_table, discreet._protected_column, discreet._past_protection, discreet._answer",
            "discreet_demo",
        )
    for sql in hidden(page, "before"):
        demo_database.cluster.sql(sql, "discreet_demo")
    for role, sql, output in blocks(page):
        printed = run(demo_database, role, sql)
        if output:
            said = shape(output)
            assert [line for line in said if line not in shape(printed)] == [], printed
        else:
            assert "ERROR" not in printed, printed
    for sql in hidden(page, "after"):
        demo_database.cluster.sql(sql, "discreet_demo")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of_new_databases(page)], ids=lambda page: page.name)
def test_what_is_told_of_a_new_database_runs_in_one(page: Path, demo_database: Database) -> None:
    cluster = demo_database.cluster
    cluster.sql("CREATE DATABASE new_one")
    try:
        for sql in blocks_of_new_databases(page):
            printed = run(Database(cluster, "new_one"), "postgres", sql)
            assert "ERROR" not in printed, printed
    finally:
        cluster.sql("DROP DATABASE new_one")


def test_the_recipe_restores_the_database_with_its_settings(demo_database: Database, tmp_path: Path) -> None:
    """Its first two lines run on the old cluster, the others on a new one."""
    text = (ROOT / "docs" / "operations.md").read_text()
    (recipe,) = re.findall(r"^## Dump and restore\n.*?^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = recipe.splitlines()
    old = demo_database.cluster
    old.sql("CREATE DATABASE hr TEMPLATE discreet_demo")
    old.sql("ALTER DATABASE hr SET statement_timeout = '10min'")

    def play(cluster: Cluster, commands: list[str]) -> str:
        host = {"PGHOST": str(cluster.socket), "PGPORT": str(cluster.port), "PGUSER": "postgres"}
        path = {"PATH": f"{pg_config('--bindir')}:{os.environ['PATH']}"}
        script = ["sh", "-ec", "\n".join(commands)]
        done = subprocess.run(script, capture_output=True, text=True, check=True, cwd=tmp_path, env=host | path)
        return done.stdout

    try:
        play(old, lines[:2])
        with throw_away(fsync="off") as new:
            told = play(new, lines[2:])
            assert new.sql("SHOW statement_timeout", "hr") == "10min"
    finally:
        old.sql("DROP DATABASE hr")
    assert "loaded by shared_preload_libraries" in told
    assert "every charge fits the one before it" in told


def test_every_block_says_what_it_is() -> None:
    for page in LINKED:
        for fence in fences(page):
            assert re.match(r"```(sql|text|sh|ini)\b", fence), f"{page.name}: {fence}"
            # nothing that could run hides as text
            assert not re.match(r"```(text|sh|ini) (SELECT|CREATE|INSERT|GRANT|REVOKE|ALTER)\b", fence), fence


def test_the_first_session_of_the_readme_is_that_of_the_demo() -> None:
    statements = [sql for _, sql, _ in blocks(ROOT / "README.md")]
    demo = tour.CHAPTERS["question"].read_text()
    for line in "".join(statements).splitlines():
        if not line.startswith("SELECT dataset, role"):
            assert line in demo


def test_the_analysts_guide_says_how_exact_a_count_is() -> None:
    width = DiscreteLaplace.for_price(1, Price.of("0.1")).half_width()
    assert f"95 of 100 answers are within {width} people" in (ROOT / "docs" / "analyst.md").read_text()


def test_the_concepts_say_how_exact_a_count_is() -> None:
    concepts = (ROOT / "docs" / "concepts.md").read_text()
    for epsilon in ("0.01", "0.1", "1"):
        width = DiscreteLaplace.for_price(1, Price.of(epsilon)).half_width()
        shares = " | ".join(f"{100 * width / people:g} %" for people in (500, 5000))
        (line,) = [line for line in concepts.splitlines() if line.startswith(f"| {epsilon} | ±{width}")]
        assert line.endswith(f" | {shares} |")


def test_the_concepts_say_how_sure_anybody_can_be() -> None:
    concepts = (ROOT / "docs" / "concepts.md").read_text()
    totals, sure = re.findall(r"^\| (?:total epsilon|at most this sure) \| (.*) \|$", concepts, re.MULTILINE)
    for total, bound in zip(totals.split(" | "), sure.split(" | "), strict=True):
        probability = 100 / (1 + math.exp(-float(total)))
        assert probability <= float(bound.rstrip(" %")) <= probability + 0.1


def test_the_analysts_guide_says_how_exact_quantiles_are() -> None:
    guide = (ROOT / "docs" / "analyst.md").read_text()
    # an extreme and one end share the price, a median and two ends do
    half = [QuantileChoice.of(Fraction(1), Price.of(epsilon).split(2)[0]) for epsilon in ("1", "0.1")]
    ranks = [choice.least_rank(BINS) for choice in half]
    assert f"{ranks[0]} at epsilon 1, {ranks[1]} at 0.1" in guide
    median = QuantileChoice.of(Fraction(1, 2), Price.of(1).split(3)[0]).half_width(BINS)
    assert f"a median is with 95 % within {median} ranks" in guide
    assert f"among {BINS} bins" in guide


def test_the_reference_page_is_current(cluster: Cluster, template: str) -> None:
    assert (ROOT / "docs" / "reference.md").read_text() == reference(cluster, template)


def test_every_link_in_the_documentation_leads_to_a_file_and_a_heading() -> None:
    for page in LINKED:
        for target in re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)\"", page.read_text()):
            file, _, anchor = "".join(target).partition("#")
            if "://" in file:
                continue
            linked = page.parent / file if file else page
            assert linked.exists(), f"{page.name}: {file}"
            assert not anchor or anchor in anchors(linked), f"{page.name}: {file}#{anchor}"
