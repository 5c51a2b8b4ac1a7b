"""The report of an installation, as the database writes it and as a browser understands it."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

import pytest
from dev.browser import chromium, photograph, shown
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

QUESTION = "SELECT dept, count(*), avg(salary) FROM hr.person GROUP BY dept"


def report(connection: Connection) -> str:
    ((text,),) = connection.execute("SELECT discreet.report()").fetchall()
    return str(text)


@pytest.fixture
def asked(database: Database, admin: Connection, carol: Connection, person: str, make_role: MakeRole) -> Connection:
    """The curator's connection, after a role with a strange name has asked, and was refused."""
    strange = make_role("<script>alert(1)</script>", "discreet_analyst")
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 5000)")
    carol.execute("SELECT discreet.describe_column('hr.person', 'dept', categories => '{dept 0,dept 1,dept 2}')")
    carol.execute("SELECT discreet.grant_budget('people', %s::regrole, 1)", [f'"{strange}"'])
    analyst = database.connect(strange)
    analyst.execute("SELECT * FROM discreet.query(%s, 0.5) AS t(dept text, n bigint, pay numeric)", [QUESTION])
    with refused("DP002", "singles out", ""):
        analyst.execute("SELECT * FROM discreet.query('SELECT count(*) FROM hr.person WHERE id = 7') AS t(n bigint)")
    return carol


def test_an_empty_installation_has_a_report(admin: Connection) -> None:
    page = report(admin)
    assert page.startswith("<!DOCTYPE html>")
    assert "There is no dataset yet" in page


def test_what_happened_is_in_it(asked: Connection) -> None:
    page = report(asked)
    assert "epsilon 0.5 of 2 spent, pure; 1 table (noisy)" in page
    assert "1 paid, 1 refused, epsilon 0.5" in page
    assert "DP002" in page
    assert "<td>people</td><td>count</td>" in page
    assert "too early to tell when it ends" in page
    assert "&lt;script&gt;alert" in page
    assert "<script" not in page


def test_accuracy_is_that_of_the_answer(asked: Connection, curator: str) -> None:
    asked.execute("SELECT discreet.grant_budget('people', %s::regrole, 1)", [curator])
    rows = asked.execute("SELECT dataset, column_name, kind, numbers, half_width FROM discreet.accuracy").fetchall()
    ((count,),) = asked.execute(
        "SELECT (o ->> 'error_95')::numeric FROM jsonb_array_elements(discreet.explain(%s, 0.5) -> 'outputs') o"
        " WHERE o ->> 'column' = 'count'",
        [QUESTION],
    ).fetchall()
    assert ("people", "count", "count", 4, count) in rows
    assert sorted(row[2] for row in rows) == ["avg", "count"]


def test_a_history_of_weeks_has_a_forecast(asked: Connection, admin: Connection) -> None:
    admin.execute("UPDATE discreet._charge SET at = at - interval '10 days'")
    # a quarter of the budget in 10 days
    assert re.search(r"At the rate of the last 10 days used up on about .*, in 30 days\.", report(asked))


def test_settings_of_the_session_do_not_matter(asked: Connection) -> None:
    asked.execute("SET DateStyle = 'German'; SET TimeZone = 'Asia/Tokyo'; SET IntervalStyle = 'sql_standard'")
    assert "1 paid, 1 refused" in report(asked)


def test_a_multilevel_table_is_shown_as_far_as_the_curator_sees_it(
    database: Database, admin: Connection, make_role: MakeRole
) -> None:
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'S'])")
    low, high, blind = make_role("uma"), make_role("sam", "discreet_curator"), make_role("bo", "discreet_curator")
    admin.execute("CREATE TABLE agent (name text PRIMARY KEY, cover text)")
    admin.execute(f"GRANT SELECT, INSERT, UPDATE ON agent TO {low}, {high}")
    admin.execute("SELECT discreet.mls_clear(%s::regrole, 'U'), discreet.mls_clear(%s::regrole, 'S')", [low, high])
    admin.execute("SELECT discreet.mls_table('agent', key => '{name}')")
    try:
        database.connect(low).execute("INSERT INTO agent (name, cover) VALUES ('Bond', 'trader'), ('Leiter', 'clerk')")
        top = database.connect(high)
        top.execute("UPDATE agent SET cover = 'spy' WHERE name = 'Bond'")
        row = '<td>public.agent</td><td class="number">{}</td><td>{}</td>'
        assert row.format(1, "cover (1)") in report(top)
        assert "permission denied" in report(database.connect(blind))
    finally:
        admin.execute(
            "SELECT discreet.mls_clear(%s::regrole, NULL), discreet.mls_clear(%s::regrole, NULL)", [low, high]
        )
        admin.execute("SELECT discreet.mls_drop('agent')")


@pytest.mark.parametrize("group", ["discreet_analyst", "discreet_auditor"])
def test_others_may_not_have_it(database: Database, make_role: MakeRole, group: str) -> None:
    with refused("42501", "permission denied", None):
        report(database.connect(make_role("nosy", group)))


def lines(picture: bytes) -> set[bytes]:
    """The different lines of a PNG, each as it is told from the one above; a page of one colour has two at most."""
    packed, place = b"", 8
    while place < len(picture):
        size, kind = struct.unpack(">I4s", picture[place : place + 8])
        packed += picture[place + 8 : place + 8 + size] if kind == b"IDAT" else b""
        place += size + 12
    raw, (height,) = zlib.decompress(packed), struct.unpack(">I", picture[20:24])
    length = len(raw) // height
    return {raw[at : at + length] for at in range(0, len(raw), length)}


@pytest.mark.skipif(chromium() is None, reason="chromium is not installed: a browser has to look at the page")
def test_a_browser_shows_it_by_day_and_by_night(asked: Connection, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report(asked))
    document = shown(page)
    assert document.count("<svg") == report(asked).count("<svg") > 0
    assert "<script" not in document
    blank = tmp_path / "blank.html"
    blank.write_text("<!DOCTYPE html><title>nothing</title>")
    looks = []
    for name, dark in ((page, False), (page, True), (blank, False)):
        photograph(name, tmp_path / "page.png", 800, 600, dark)
        looks.append(lines((tmp_path / "page.png").read_bytes()))
    day, night, nothing = looks
    assert len(nothing) <= 2
    assert min(len(day), len(night)) > 100
    assert day != night
