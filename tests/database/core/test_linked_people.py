"""The people of tables that are linked are the same, so their budget must be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.database.waiting import wait_for_lock
from tests.databases import Connection, Database
from tests.messages import refused

SAME_PEOPLE = "A second budget would be spent on the same people: give dataset => '{}'."


@pytest.fixture
def clinic(sample_database: Database) -> Connection:
    """The sample data: clinic.visit points to clinic.patient."""
    return sample_database.connect()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("clinic.patient", "id"), ("clinic.visit", "patient_id")),
        (("clinic.visit", "patient_id"), ("clinic.patient", "id")),
    ],
)
def test_a_foreign_key_in_either_direction_forbids_a_second_dataset(
    clinic: Connection, first: tuple[str, str], second: tuple[str, str]
) -> None:
    clinic.execute("SELECT discreet.protect(%s, %s, epsilon => 1, max_rows => 1)", first)
    clinic.execute("SELECT discreet.create_dataset('others', 1)")
    message = f'the people of {second[0]} are those of {first[0]}, which is protected in dataset "{first[0]}"'
    with refused("22023", message, SAME_PEOPLE.format(first[0])):
        clinic.execute("SELECT discreet.protect(%s, %s, epsilon => 1, max_rows => 1)", second)
    with refused("22023", message, SAME_PEOPLE.format(first[0])):
        clinic.execute("SELECT discreet.protect(%s, %s, dataset => 'others', max_rows => 1)", second)
    clinic.execute("SELECT discreet.protect(%s, %s, dataset => %s, max_rows => 1)", [*second, first[0]])


def test_tables_without_a_link_have_datasets_of_their_own(clinic: Connection) -> None:
    for table in ("hr.employee", "clinic.patient", "census.person"):
        clinic.execute("SELECT discreet.protect(%s, 'id', epsilon => 1)", [table])
    assert len(clinic.execute("SELECT FROM discreet.datasets").fetchall()) == 3


def test_a_table_that_points_to_itself_is_protected(carol: Connection) -> None:
    carol.execute("ALTER TABLE hr.person ADD boss int REFERENCES hr.person")
    carol.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")


def test_partitions_of_one_table_share_their_people(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.visit (person int) PARTITION BY LIST (person)")
    for number in (1, 2):
        carol.execute(f"CREATE TABLE hr.visit_{number} PARTITION OF hr.visit FOR VALUES IN ({number})")
    carol.execute("SELECT discreet.protect('hr.visit_1', 'person', epsilon => 1, max_rows => 1)")
    for other in ("hr.visit_2", "hr.visit"):
        with refused("22023", f"the people of {other} are those of hr.visit_1", SAME_PEOPLE.format("hr.visit_1")):
            carol.execute("SELECT discreet.protect(%s, 'person', epsilon => 1, max_rows => 1)", [other])
        carol.execute("SELECT discreet.protect(%s, 'person', dataset => 'hr.visit_1', max_rows => 1)", [other])


def test_partitions_of_partitions_share_their_people(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.visit (person int, day int) PARTITION BY LIST (person)")
    carol.execute("CREATE TABLE hr.visit_1 PARTITION OF hr.visit FOR VALUES IN (1) PARTITION BY LIST (day)")
    carol.execute("CREATE TABLE hr.visit_1_1 PARTITION OF hr.visit_1 FOR VALUES IN (1)")
    carol.execute("SELECT discreet.protect('hr.visit', 'person', epsilon => 1, max_rows => 1)")
    with refused("22023", "the people of hr.visit_1_1 are those of hr.visit,", SAME_PEOPLE.format("hr.visit")):
        carol.execute("SELECT discreet.protect('hr.visit_1_1', 'person', epsilon => 1, max_rows => 1)")


def test_tables_that_inherit_share_their_people(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.guest () INHERITS (hr.person)")
    with refused("22023", "the people of hr.guest are those of hr.person", SAME_PEOPLE.format("people")):
        carol.execute("SELECT discreet.protect('hr.guest', 'id', epsilon => 1, max_rows => 1)")


JOINS = {
    "a child": "ALTER TABLE hr.guest INHERIT hr.person",
    "a common child": "CREATE TABLE hr.both () INHERITS (hr.person, hr.guest)",
    "a child of a child": "CREATE TABLE hr.half () INHERITS (hr.person); ALTER TABLE hr.guest INHERIT hr.half",
}


@pytest.mark.parametrize("how", JOINS)
def test_a_table_of_another_dataset_does_not_inherit_later(carol: Connection, person: str, how: str) -> None:
    carol.execute("CREATE TABLE hr.guest (LIKE hr.person INCLUDING ALL)")
    carol.execute("SELECT discreet.protect('hr.guest', 'id', epsilon => 1, max_rows => 1)")
    with refused("55000", "would have two budgets", "discreet.unprotect()"):
        carol.execute(JOINS[how])


def test_a_partition_of_another_dataset_is_not_attached_later(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.visit (person int, day int) PARTITION BY LIST (day)")
    carol.execute("CREATE TABLE hr.visit_1 (person int, day int)")
    carol.execute("SELECT discreet.protect('hr.visit', 'person', epsilon => 1, max_rows => 1)")
    carol.execute("SELECT discreet.protect('hr.visit_1', 'person', epsilon => 1, max_rows => 1)")
    attach = "ALTER TABLE hr.visit ATTACH PARTITION hr.visit_1 FOR VALUES IN (1)"
    with refused("55000", "the people of hr.visit_1 would have two budgets", "discreet.unprotect()"):
        carol.execute(attach)
    carol.execute("SELECT discreet.unprotect('hr.visit_1')")
    carol.execute(attach)


def test_a_table_of_the_same_dataset_inherits_later(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.guest (LIKE hr.person INCLUDING ALL)")
    carol.execute("SELECT discreet.protect('hr.guest', 'id', dataset => 'people', max_rows => 1)")
    carol.execute("ALTER TABLE hr.guest INHERIT hr.person")


def test_inheritance_across_datasets_is_named(admin: Connection, carol: Connection, person: str) -> None:
    """As it was made before it was refused."""
    carol.execute("CREATE TABLE hr.guest () INHERITS (hr.person); CREATE TABLE hr.other (LIKE hr.person)")
    carol.execute("SELECT discreet.protect('hr.guest', 'id', dataset => 'people', max_rows => 1)")
    carol.execute("SELECT discreet.protect('hr.other', 'id', epsilon => 1, max_rows => 1)")
    found = "SELECT finding FROM discreet.check_installation() WHERE item = 'divided people'"
    assert admin.execute(found).fetchall() == []
    admin.execute("UPDATE discreet._protected_table SET dataset = 'hr.other' WHERE relation = 'hr.guest'::regclass")
    ((finding,),) = admin.execute(found).fetchall()
    assert str(finding).startswith("inheritance links hr.guest (dataset hr.other) to hr.person (dataset people)")


def test_a_foreign_key_of_a_partition_links_its_table(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.visit (person int) PARTITION BY LIST (person)")
    carol.execute("CREATE TABLE hr.visit_1 PARTITION OF hr.visit FOR VALUES IN (1)")
    carol.execute("ALTER TABLE hr.visit_1 ADD FOREIGN KEY (person) REFERENCES hr.person")
    with refused("22023", "the people of hr.visit are those of hr.person", SAME_PEOPLE.format("people")):
        carol.execute("SELECT discreet.protect('hr.visit', 'person', epsilon => 1, max_rows => 1)")


def test_children_of_children_share_their_people(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.visit (id int PRIMARY KEY, person int REFERENCES hr.person)")
    carol.execute("CREATE TABLE hr.item (visit int REFERENCES hr.visit, person int)")
    with refused("22023", "the people of hr.item are those of hr.person", SAME_PEOPLE.format("people")):
        carol.execute("SELECT discreet.protect('hr.item', 'person', epsilon => 1, max_rows => 1)")


def test_two_tables_that_look_up_the_same_do_not_share_their_people(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.dept (dept text PRIMARY KEY)")
    carol.execute("ALTER TABLE hr.person ADD FOREIGN KEY (dept) REFERENCES hr.dept NOT VALID")
    carol.execute("CREATE TABLE hr.guest (id int, dept text REFERENCES hr.dept)")
    carol.execute("SELECT discreet.protect('hr.guest', 'id', epsilon => 1, max_rows => 1)")


def test_what_protected_people_point_to_can_be_public_if_it_is_no_person(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.dept (dept text PRIMARY KEY, floor int)")
    carol.execute("ALTER TABLE hr.person ADD FOREIGN KEY (dept) REFERENCES hr.dept NOT VALID")
    carol.execute("SELECT discreet.protect('hr.dept', NULL, policy => 'public')")


def test_what_points_to_protected_people_cannot_be_public(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.bonus (person int REFERENCES hr.person, amount int)")
    with refused("22023", "the people of hr.bonus are those of hr.person", "Made public, it would tell about them"):
        carol.execute("SELECT discreet.protect('hr.bonus', NULL, policy => 'public')")


def test_the_people_that_a_unit_points_to_cannot_be_public(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.bonus (person int REFERENCES hr.person, amount int)")
    carol.execute("SELECT discreet.protect('hr.bonus', 'person', epsilon => 1, max_rows => 1)")
    with refused("22023", "the people of hr.person are those of hr.bonus", "Made public, it would tell about them"):
        carol.execute("SELECT discreet.protect('hr.person', NULL, policy => 'public')")


def test_a_part_of_a_protected_table_cannot_be_public(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.guest () INHERITS (hr.person)")
    with refused("22023", "the people of hr.guest are those of hr.person", "Made public, it would tell about them"):
        carol.execute("SELECT discreet.protect('hr.guest', NULL, policy => 'public')")


def test_two_sessions_at_once_do_not_give_the_same_people_two_budgets(database: Database, curator: str) -> None:
    """Neither sees the other's uncommitted table: without a lock both would find no linked one."""
    first, second = database.connect(curator, autocommit=False), database.connect(curator)
    first.execute("CREATE TABLE hr.bonus (person int REFERENCES hr.person, amount int)")
    first.commit()
    first.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(
            second.execute, "SELECT discreet.protect('hr.bonus', 'person', epsilon => 1, max_rows => 1)"
        )
        wait_for_lock(database, second)
        first.commit()
        with refused("22023", "the people of hr.bonus are those of hr.person", SAME_PEOPLE.format("hr.person")):
            waiting.result(timeout=10)


def test_a_link_made_later_is_found_by_check_installation(carol: Connection, person: str) -> None:
    carol.execute("CREATE TABLE hr.bonus (person int, amount int)")
    carol.execute("SELECT discreet.protect('hr.bonus', 'person', epsilon => 1, max_rows => 1)")
    carol.execute("ALTER TABLE hr.bonus ADD FOREIGN KEY (person) REFERENCES hr.person")
    found = carol.execute("SELECT status, finding FROM discreet.check_installation() WHERE item = 'divided people'")
    assert found.fetchall() == [
        (
            "warning",
            "a foreign key links hr.bonus (dataset hr.bonus) to hr.person (dataset people): "
            "the same people have two budgets",
        )
    ]
