"""A new view, for a fresh budget."""

from tests.attacks.gate.asking import FRESH, how_it_ends
from tests.attacks.target import PRICE, Target
from tests.databases import Connection


def test_a_view_over_the_gate_is_paid_by_who_reads(gated: Target, blind: Connection) -> None:
    gated.connect("eve").execute(f"CREATE VIEW extra.seen AS {FRESH}; GRANT SELECT ON extra.seen TO PUBLIC")
    with gated.costs(PRICE):
        blind.execute("SELECT * FROM extra.seen")
    assert gated.value("SELECT role FROM discreet._charge") == "blind"


def test_two_private_views_of_one_question_are_paid_once(gated: Target, blind: Connection) -> None:
    with gated.costs("0.01"):
        for name in ("one", "two"):
            blind.execute(f"SELECT discreet.create_view('extra.{name}', 'SELECT count(*) FROM hr.person', 0.01)")
            blind.execute(f"SELECT * FROM extra.{name}")
    assert blind.execute("SELECT * FROM extra.one, extra.two WHERE one.count <> two.count").fetchall() == []


def test_a_view_over_the_table_is_paid_from_the_same_budget(gated: Target, blind: Connection) -> None:
    gated.connect("eve").execute(
        "CREATE VIEW extra.again AS SELECT * FROM hr.person; GRANT SELECT ON extra.again TO PUBLIC"
    )
    with gated.costs("0.001"):
        assert how_it_ends(blind, "SELECT count(*) FROM extra.again", "0.001") == "answer"
