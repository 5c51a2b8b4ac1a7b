"""Census-style reconstruction: from its published tables, the inhabitants of a small block are computed one by one.

The attacker lists every block of people that fits the tables (Garfinkel, Abowd and Martindale 2019). Where a single one
fits, sex, age and origin of each inhabitant are known, though no table shows all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from tests.databases import Connection

SEXES, AGES, ORIGINS = ("f", "m"), ("child", "adult", "old"), ("here", "abroad")
LEAVES = tuple(product(SEXES, AGES, ORIGINS))
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

Leaf = tuple[str, str, str]
Block = tuple[int, ...]
Known = list[tuple[frozenset[int], int, int]]


@pytest.fixture
def block(admin: Connection) -> Connection:
    admin.execute("CREATE TABLE block (id serial, sex text, age text, origin text)")
    for leaf, people in BLOCK.items():
        for _ in range(people):
            admin.execute("INSERT INTO block (sex, age, origin) VALUES (%s, %s, %s)", leaf)
    return admin


def members(cell: tuple[str, ...]) -> frozenset[int]:
    """The leaves that a cell counts; Total stands for all."""
    return frozenset(
        number
        for number, leaf in enumerate(LEAVES)
        if all(label in ("Total", value) for label, value in zip(cell, leaf, strict=True))
    )


def blocks(known: Known, most: int = 3000) -> Iterator[Block]:
    """The first blocks of people in which each known set of leaves has from its lower to its upper number of them."""
    sizes = [0] * len(LEAVES)
    highest = [min([upper for leaves, _, upper in known if number in leaves]) for number in range(len(LEAVES))]

    def fits(number: int) -> bool:
        for leaves, lower, upper in known:
            so_far = sum(sizes[leaf] for leaf in leaves if leaf <= number)
            still = sum(highest[leaf] for leaf in leaves if leaf > number)
            if so_far > upper or so_far + still < lower:
                return False
        return True

    def fill(number: int) -> Iterator[Block]:
        if number == len(LEAVES):
            yield tuple(sizes)
            return
        for people in range(highest[number] + 1):
            sizes[number] = people
            if fits(number):
                yield from fill(number + 1)
        sizes[number] = 0

    for count, found in enumerate(fill(0)):
        if count == most:
            return
        yield found


TRUTH = tuple(BLOCK.get(leaf, 0) for leaf in LEAVES)


def published(connection: Connection, table: str, slack: int = 0) -> Known:
    rows = connection.execute(f"SELECT sex, age, origin, count FROM {table} WHERE count IS NOT NULL").fetchall()
    return [
        (members((str(sex), str(age), str(origin))), max(int(str(n)) - slack, 0), int(str(n)) + slack)
        for sex, age, origin, n in rows
    ]


def test_three_plain_tables_give_every_inhabitant_away(block: Connection) -> None:
    block.execute(
        """
        CREATE TABLE plain AS
        SELECT coalesce(sex, 'Total') sex, coalesce(age, 'Total') age, coalesce(origin, 'Total') origin, count(*)
        FROM block GROUP BY GROUPING SETS ((sex, age), (sex, origin), (age, origin))
        """
    )
    known = published(block, "plain")
    shown = {leaves for leaves, _, _ in known}
    # cells that a plain table does not show are known to be empty
    pairs = [(*pair[:at], "Total", *pair[at:]) for at, pair in two_way()]
    known += [(members(cell), 0, 0) for cell in pairs if members(cell) not in shown]
    assert list(blocks(known)) == [TRUTH]


def two_way() -> Iterator[tuple[int, tuple[str, ...]]]:
    for at, kept in enumerate(((AGES, ORIGINS), (SEXES, ORIGINS), (SEXES, AGES))):
        for pair in product(*kept):
            yield at, pair


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
