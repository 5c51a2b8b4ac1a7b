"""Census-style reconstruction of a small block (attacks/census.py): of plain tables, and of what is published here."""

from __future__ import annotations

import pytest
from attacks.census import LEAVES, Known, blocks, empty_cells, known_from, members
from tests.databases import Connection

BLOCK = {
    ("f", "child", "here"): 1,
    ("m", "child", "here"): 6,
    ("f", "adult", "here"): 9,
    ("m", "adult", "here"): 2,
    ("f", "old", "here"): 5,
    ("f", "old", "abroad"): 4,
    ("m", "old", "here"): 7,
    ("m", "old", "abroad"): 8,
}


@pytest.fixture
def block(admin: Connection) -> Connection:
    admin.execute("CREATE TABLE block (id serial, sex text, age text, origin text)")
    for leaf, people in BLOCK.items():
        for _ in range(people):
            admin.execute("INSERT INTO block (sex, age, origin) VALUES (%s, %s, %s)", leaf)
    return admin


TRUTH = tuple(BLOCK.get(leaf, 0) for leaf in LEAVES)


def published(connection: Connection, table: str, slack: int = 0) -> Known:
    rows = connection.execute(f"SELECT sex, age, origin, count FROM {table} WHERE count IS NOT NULL").fetchall()
    return known_from([(str(sex), str(age), str(origin), int(str(n))) for sex, age, origin, n in rows], slack)


def test_three_plain_tables_give_every_inhabitant_away(block: Connection) -> None:
    block.execute(
        """
        CREATE TABLE plain AS
        SELECT coalesce(sex, 'Total') sex, coalesce(age, 'Total') age, coalesce(origin, 'Total') origin, count(*)
        FROM block GROUP BY GROUPING SETS ((sex, age), (sex, origin), (age, origin))
        """
    )
    known = published(block, "plain")
    assert list(blocks(known + empty_cells(known))) == [TRUTH]


def possible(known: Known, cell: tuple[str, ...]) -> list[int]:
    """The numbers of people that a cell may have."""
    return [people for people in range(45) if list(blocks([*known, (members(cell), people, people)], most=1))]


def test_a_table_with_hidden_cells_leaves_many_blocks(block: Connection) -> None:
    block.execute("SELECT discreet.suppress('block', '{sex,age,origin}', NULL, 3, 'hidden')")
    known = published(block, "hidden")
    assert TRUTH in list(blocks(known))
    hidden = [tuple(map(str, cell)) for cell in block.execute("SELECT sex, age, origin FROM hidden WHERE suppressed")]
    unsafe = [leaf for leaf, people in BLOCK.items() if people < 3]
    assert set(unsafe) <= set(hidden)
    for cell in hidden:
        values = possible(known, cell)
        assert values[-1] - values[0] >= (3 if cell in unsafe else 1)


def test_a_rounded_table_leaves_many_blocks(block: Connection) -> None:
    block.execute("SELECT discreet.create_secret('block')")
    block.execute("UPDATE discreet._secret_key SET key = sha256('the same every time')")
    block.execute("SELECT discreet.controlled_round('block', '{sex,age,origin}', NULL, 3, 'rounded', 'block')")
    # each cell is within 2 of what is shown: that much the attacker knows of base 3
    known = published(block, "rounded", slack=2)
    assert len(list(blocks(known, most=101))) == 101
    for leaf in (leaf for leaf, people in BLOCK.items() if people < 3):
        assert len(possible(known, leaf)) > 1
    assert TRUTH not in list(blocks(published(block, "rounded")))


def test_perturbed_tables_fit_no_block_or_another_one(block: Connection) -> None:
    # counts of 1 and 2 are shown as 0, or as 3 and more: whatever the secret is, the truth does not fit
    block.execute("SELECT discreet.create_secret('block')")
    block.execute(
        """
        CREATE TABLE perturbed AS
        SELECT coalesce(sex, 'Total') sex, coalesce(age, 'Total') age, coalesce(origin, 'Total') origin,
               discreet.perturb(count(*), discreet.cell_key(discreet.record_key(id, 'block')), discreet.ptable(2, 5, 3))
                   AS count
        FROM block GROUP BY GROUPING SETS ((sex, age), (sex, origin), (age, origin))
        """
    )
    assert TRUTH not in list(blocks(published(block, "perturbed")))
