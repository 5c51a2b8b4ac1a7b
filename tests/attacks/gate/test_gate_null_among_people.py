"""person NOT IN (… everybody's rows …): one NULL among them, and it is not known of anybody."""

from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.exactly import described

from discreet.gate.parse import parse
from discreet.gate.plan import Plan, plan
from discreet.gate.run import statements
from discreet.gate.stored import store_keys

# whoever has no visit, and whoever has a card without a number, makes a NULL
ABSENT = "id NOT IN (SELECT v.person FROM hr.person p LEFT JOIN hr.visit v ON v.person = p.id WHERE p.salary = 1007)"
CARDS = """
    CREATE TABLE extra.card (id int PRIMARY KEY, number text UNIQUE, kind text NOT NULL);
    INSERT INTO extra.card SELECT n, 'card ' || n, 'held' FROM generate_series(2, 200) n;
    SELECT discreet.protect('extra.card', 'id', dataset => 'people');
"""
UNNUMBERED = """
    SELECT count(*) FROM extra.card c WHERE c.number NOT IN (SELECT d.number FROM extra.card d WHERE d.kind = 'lost')
"""
LOSS = "INSERT INTO extra.card VALUES (1, NULL, 'lost')"


def planned(target: Target, question: str) -> Plan:
    schema, harmless = described(target.admin, question, "blind")
    return plan(parse(question), schema, harmless)


def test_one_person_changes_one(gated: Target) -> None:
    gated.admin.execute(CARDS)
    (native,) = statements(planned(gated, UNNUMBERED), (), 0)
    with gated.admin.transaction(force_rollback=True):
        before = [gated.value(sql) for sql in (UNNUMBERED, native.sql)]
        gated.admin.execute(LOSS)
        after = [gated.value(sql) for sql in (UNNUMBERED, native.sql)]
    assert before[0] == before[1] > 100
    assert after[0] == 0
    assert abs(after[1] - before[1]) <= 1


def test_the_side_that_an_outer_join_may_lack_names_nobody(gated: Target, blind: Connection) -> None:
    with gated.free():
        assert how_it_ends(blind, f"{COUNT} WHERE {ABSENT}") == "DP001"
    missing = "hr.person p LEFT JOIN hr.visit v ON v.person = p.id WHERE v.person IS NULL"
    assert how_it_ends(blind, f"SELECT count(*) FROM {missing}") == "answer"


def test_by_which_column_is_part_of_what_is_stored(gated: Target) -> None:
    """Else a question would be answered with the number of another."""
    gated.admin.execute("""
        CREATE TABLE extra.ticket (id int, number int UNIQUE, kind text NOT NULL);
        SELECT discreet.protect('extra.ticket', 'id', dataset => 'people', max_rows => 2)""")
    pairs = "extra.ticket a JOIN extra.ticket b ON a.id = b.id WHERE a.kind = 'lost'"
    asked = f"SELECT count(*) FROM extra.ticket t WHERE number IN (SELECT {{}}.number FROM {pairs})"
    keys = [set(store_keys(planned(gated, asked.format(side)), "dp").values()) for side in "ab"]
    assert not keys[0] & keys[1]
