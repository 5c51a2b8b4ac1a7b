"""Inheritance: a child asked about by itself, or rows of a child that break the parent's promises."""

from tests.attacks.gate.asking import ending, how_it_ends, number, protect
from tests.attacks.target import Target
from tests.databases import Connection


def test_a_child_of_a_protected_table_is_asked_about_through_its_parent(gated: Target, blind: Connection) -> None:
    gated.admin.execute("CREATE TABLE extra.child () INHERITS (hr.person); GRANT SELECT ON extra.child TO PUBLIC")
    with gated.free():
        assert how_it_ends(blind, "SELECT count(*) FROM extra.child") == "42704"
        assert how_it_ends(blind, "SELECT count(*) FROM hr.visit v, extra.child c") == "42704"


def test_a_person_repeated_in_a_child_counts_once(gated: Target, blind: Connection) -> None:
    """The parent's primary key does not hold for children. Noise at 0.9 is beyond 20 with probability below 1e-7."""
    protect(gated, "parent", "id int PRIMARY KEY", "SELECT 1")
    gated.admin.execute("CREATE TABLE extra.child () INHERITS (extra.parent)")
    gated.admin.execute("INSERT INTO extra.child SELECT 1 FROM generate_series(1, 5000)")
    assert gated.value("SELECT count(*) FROM extra.parent") == 5001
    assert number(blind, "SELECT count(*) FROM extra.parent", "0.9") <= 21


def test_a_view_over_an_unprotected_parent_lends_no_rows_of_a_protected_child(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        "CREATE TABLE extra.family (id int, name text); CREATE TABLE extra.kin () INHERITS (extra.family)"
    )
    gated.admin.execute("INSERT INTO extra.kin SELECT n, 'name ' || n FROM generate_series(1, 50) n")
    gated.admin.execute("CREATE VIEW extra.album AS SELECT * FROM extra.family; GRANT SELECT ON extra.album TO PUBLIC")
    assert len(blind.execute("SELECT name FROM extra.album").fetchall()) == 50
    gated.admin.execute("SELECT discreet.protect('extra.kin', 'id', dataset => 'people', max_rows => 1)")
    with gated.free():
        assert ending(lambda: blind.execute("SELECT name FROM extra.album")) in ("42501", "42704", "DP001")
    assert len(gated.admin.execute("SELECT name FROM extra.album").fetchall()) == 50


def test_people_made_children_of_a_public_table_are_not_read_through_it(gated: Target, blind: Connection) -> None:
    gated.admin.execute("CREATE TABLE extra.public (salary int); GRANT SELECT ON extra.public TO PUBLIC")
    gated.admin.execute("BEGIN; ALTER TABLE hr.person INHERIT extra.public; COMMIT")
    try:
        joined = "SELECT count(*) FROM hr.visit v, extra.public x WHERE x.salary = 1007"
        assert how_it_ends(blind, joined) in ("42704", "DP001")
        assert how_it_ends(blind, "SELECT count(*) FROM extra.public") in ("42704", "DP001")
    finally:
        gated.admin.execute("ALTER TABLE hr.person NO INHERIT extra.public")
