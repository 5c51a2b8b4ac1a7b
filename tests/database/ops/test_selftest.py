"""discreet.selftest tries the promises on the live database, and finds each that is broken."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused
from tests.office import Office

SELFTEST = "SELECT item, status, finding FROM discreet.selftest()"


def failed(connection: Connection, item: str) -> list[str]:
    """The findings of this item that failed; it was tried."""
    rows = [(status, str(finding)) for name, status, finding in connection.execute(SELFTEST).fetchall() if name == item]
    assert {status for status, _ in rows} in ({"passed"}, {"failed"})
    return [finding for status, finding in rows if status == "failed"]


def test_a_sound_database_passes(office: Office) -> None:
    found = office.truth(SELFTEST)
    assert {status for _, status, _ in found} == {"passed"}, found
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
    assert "failed" in {status for _, status, _ in rows}, rows


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


def not_tried(connection: Connection) -> dict[str, str]:
    rows = connection.execute("SELECT item, finding FROM discreet.selftest() WHERE status = 'not tried'").fetchall()
    return {str(item): str(finding) for item, finding in rows}


def test_what_is_not_tried_has_not_passed_and_says_why(admin: Connection) -> None:
    assert not_tried(admin) == {
        "chain": "there is no dataset, so no log",
        "neighbours": "you own no table about people",
    }
    admin.execute("CREATE TABLE empty (id int PRIMARY KEY); SELECT discreet.protect('empty', 'id', epsilon => 1)")
    admin.execute(
        "CREATE TABLE exact (id int PRIMARY KEY); SELECT discreet.protect('exact', 'id', policy => 'audited')"
    )
    assert not_tried(admin) == {
        "neighbours in public.empty": "it has no rows",
        "neighbours in public.exact": "it is under policy 'audited'; only tables of policy 'noisy' are tried",
    }
    states = admin.execute("SELECT DISTINCT status, passed FROM discreet.selftest() ORDER BY 1").fetchall()
    assert states == [("not tried", None), ("passed", True)]


def test_questions_that_are_refused_are_told_of(admin: Connection) -> None:
    """A table whose unit turned out to be wrong cannot be asked about; nor by its unit."""
    admin.execute(
        """
        CREATE TABLE parent (id int PRIMARY KEY, who int);
        CREATE TABLE child (parent int);
        INSERT INTO child VALUES (1);
        SELECT discreet.create_dataset('d', 1);
        SELECT discreet.protect('parent', 'who', 'd', max_rows => 1),
               discreet.protect('child', 'parent', 'd', max_rows => 1);
        SELECT discreet.describe_column('child', 'parent', categories => '{1,2}');
        """
    )
    rows = admin.execute("SELECT status, finding FROM discreet.selftest() WHERE item = 'neighbours in public.child'")
    (refusal, tried) = rows.fetchall()
    assert refusal[0] == "not tried"
    assert str(refusal[1]).startswith('SELECT "parent", count(*) FROM "public"."child" GROUP BY "parent": ')
    assert tried == ("passed", "the person with most rows moves no total of 1 questions further than planned")
    admin.execute("ALTER TABLE child ADD FOREIGN KEY (parent) REFERENCES parent NOT VALID")
    assert not_tried(admin)["neighbours in public.child"].startswith(
        "column parent of public.child does not name people"
    )


def test_a_catalog_that_does_not_fit_leaves_neighbours_untried(
    carol: Connection, person: str, admin: Connection
) -> None:
    admin.execute("UPDATE discreet._protected_table SET unit = 'nobody'")
    assert "neighbours" in not_tried(admin)


@pytest.mark.parametrize("group", ["discreet_analyst", "discreet_trusted"])
def test_others_may_not_run_it(database: Database, make_role: MakeRole, group: str) -> None:
    with refused("42501", "permission denied for function selftest", None):
        database.connect(make_role("alice", group)).execute(SELFTEST)
