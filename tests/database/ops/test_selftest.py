"""discreet.selftest tries the promises on the live database, and finds each that is broken."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused
from tests.office import Office

SELFTEST = "SELECT item, passed, finding FROM discreet.selftest()"


def failed(connection: Connection, item: str) -> list[str]:
    """The findings of this item that did not pass."""
    rows = connection.execute(SELFTEST).fetchall()
    assert item in {row[0] for row in rows}
    return [str(finding) for name, passed, finding in rows if name == item and not passed]


def test_a_sound_database_passes(office: Office) -> None:
    found = office.truth(SELFTEST)
    assert all(passed for _, passed, _ in found), found
    assert [item for item, _, _ in found] == [
        "samplers", "ledger", "chain of people", "privileges", "catalog",
        "neighbours in hr.person", "neighbours in hr.visit",
    ]  # fmt: skip
    assert "questions" in found[-1][2]


def test_nothing_is_changed_or_spent(office: Office) -> None:
    before = office.truth("SELECT * FROM discreet._budget ORDER BY 1, 2")
    office.truth(SELFTEST)
    assert office.truth("SELECT * FROM discreet._budget ORDER BY 1, 2") == before
    assert office.questions() == 0
    assert office.truth("SELECT count(*) FROM discreet._refusal") == [(0,)]


def test_a_curator_is_shown_own_tables_only(carol: Connection, person: str, admin: Connection) -> None:
    admin.execute("CREATE TABLE other (id int PRIMARY KEY)")
    admin.execute("SELECT discreet.protect('other', 'id', epsilon => 1)")
    items = [item for item, _, _ in carol.execute(SELFTEST).fetchall() if str(item).startswith("neighbours")]
    assert items == [f"neighbours in {person}"]


def test_it_finds_what_was_opened_to_everybody(admin: Connection) -> None:
    assert failed(admin, "privileges") == []
    admin.execute("GRANT SELECT ON discreet._charge TO PUBLIC")
    admin.execute("GRANT EXECUTE ON FUNCTION discreet._roles_of(name) TO PUBLIC")
    (finding,) = failed(admin, "privileges")
    assert "discreet._charge" in finding
    assert "discreet._roles_of(name)" in finding


def test_it_finds_a_log_that_was_changed(carol: Connection, person: str, admin: Connection) -> None:
    admin.execute("UPDATE discreet._budget SET amount_spent = 0.5 WHERE role = 0")
    rows = [row for row in admin.execute(SELFTEST).fetchall() if str(row[0]).startswith("chain of")]
    assert any(not passed for _, passed, _ in rows), rows


def test_it_finds_a_catalog_that_does_not_fit(carol: Connection, person: str, admin: Connection) -> None:
    admin.execute("UPDATE discreet._protected_table SET unit = 'nobody'")
    (finding,) = failed(admin, "catalog")
    assert finding == f"the unit of {person} is not its column nobody"


def test_it_finds_a_person_who_counts_for_more_than_planned(office: Office) -> None:
    # a catalog that says one row per person where there are several, as a broken index would
    office.admin.execute(
        """
        CREATE TABLE hr.twice (id int PRIMARY KEY, n int);
        INSERT INTO hr.twice VALUES (1, 1), (2, 1);
        SELECT discreet.protect('hr.twice', 'id', 'people');
        """
    )
    try:
        assert failed(office.admin, "neighbours in hr.twice") == []
        office.admin.execute(
            """
            UPDATE pg_index SET indisready = false, indislive = false
            WHERE indexrelid = 'hr.twice_pkey'::regclass
            """
        )
        office.admin.execute("SET enable_indexscan = off; INSERT INTO hr.twice VALUES (1, 2)")
        (finding,) = failed(office.admin, "neighbours in hr.twice")
        assert finding.startswith("one person moves more than planned: ")
    finally:
        office.admin.execute("DROP TABLE hr.twice")


def test_a_person_in_many_groups_counts_for_no_more_than_all_rows_that_may(office: Office) -> None:
    office.admin.execute(
        """
        CREATE TABLE hr.trip (id int, place text, cost int);
        INSERT INTO hr.trip SELECT 1, chr(97 + n % 5), n FROM generate_series(1, 500) n;
        SELECT discreet.protect('hr.trip', 'id', 'people', max_groups => 5, max_rows => 6, max_total_rows => 7),
               discreet.describe_column('hr.trip', 'place', categories => '{a,b,c,d,e}'),
               discreet.describe_column('hr.trip', 'cost', 0, 500);
        """
    )
    try:
        assert failed(office.admin, "neighbours in hr.trip") == []
    finally:
        office.admin.execute("DROP TABLE hr.trip")


def test_an_empty_table_has_nobody_to_leave_out(admin: Connection) -> None:
    admin.execute("CREATE TABLE empty (id int PRIMARY KEY); SELECT discreet.protect('empty', 'id', epsilon => 1)")
    rows = admin.execute(SELFTEST).fetchall()
    assert ("neighbours in public.empty", True, "nobody is in it") in rows


@pytest.mark.parametrize("group", ["discreet_analyst", "discreet_trusted"])
def test_others_may_not_run_it(database: Database, make_role: MakeRole, group: str) -> None:
    with refused("42501", "permission denied for function selftest", None):
        database.connect(make_role("alice", group)).execute(SELFTEST)
