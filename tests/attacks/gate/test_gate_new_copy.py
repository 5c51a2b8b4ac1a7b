"""A copy of the table, for a fresh budget."""

from tests.attacks.gate.asking import how_it_ends, protect
from tests.attacks.target import PRICE, Target
from tests.databases import Connection
from tests.messages import refused


def test_a_copy_that_an_analyst_made_cannot_be_asked_about(gated: Target, blind: Connection) -> None:
    gated.connect("eve").execute(
        "CREATE TABLE extra.copy AS SELECT * FROM hr.person; GRANT SELECT ON extra.copy TO PUBLIC"
    )
    with gated.free():
        assert how_it_ends(blind, "SELECT count(*) FROM extra.copy") == "42704"


def test_a_copy_of_the_same_people_pays_from_the_same_budget(gated: Target, blind: Connection) -> None:
    protect(gated, "copy", "LIKE hr.person INCLUDING ALL", "SELECT * FROM hr.person")
    with gated.costs(PRICE):
        assert how_it_ends(blind, "SELECT count(*) FROM extra.copy", str(PRICE)) == "answer"


def test_a_copy_linked_to_the_people_gets_no_dataset_of_its_own(gated: Target) -> None:
    gated.admin.execute("CREATE TABLE extra.copy (id int PRIMARY KEY REFERENCES hr.person)")
    with refused("22023", "people", ""):
        gated.admin.execute("SELECT discreet.protect('extra.copy', 'id', epsilon => 1)")
