"""The part of the people that a question is answered from: who belongs to it, and what is estimated from it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.dp.sampling import PoissonSample
from discreet.gate.measurements import Quantity
from discreet.gate.names import TEXT_TYPES, WHOLE_TYPES

KEY_BYTES = 32
# a sample that is no larger is looked up by an index on the unit, where there is one: a larger one has a person on most
# pages of a table, which is read faster from one end to the other
MOST_LOOKED_UP = Fraction(1, 20)
# numbers of people or rows, and sums of their values, which are scaled to all people
SCALED = frozenset([Quantity.PEOPLE, Quantity.ROWS, Quantity.VALUES, Quantity.TOTAL, Quantity.CENTRED])
# by what the bytes of a unit are told: equal units have the same, others have others
BYTES = {
    **dict.fromkeys(WHOLE_TYPES, "pg_catalog.int8send(({unit})::pg_catalog.int8)"),
    **dict.fromkeys(TEXT_TYPES, "pg_catalog.textsend(({unit})::pg_catalog.text)"),
    "uuid": "pg_catalog.uuid_send({unit})",
    "date": "pg_catalog.date_send({unit})",
}


@dataclass(frozen=True)
class Sampled:
    """The people whom the key chooses: those whose units it hashes to the lowest part of all numbers of 64 bits.

    SHA-256 of a secret key and the unit stands for a random function, so that each person belongs to the sample
    independently of the others and of the data. The worker draws the key for one charge, and forgets it.
    """

    people: PoissonSample
    unit_type: str
    key: bytes | None = field(default=None, repr=False)

    @property
    def rate(self) -> Fraction:
        return self.people.rate

    def drawn(self) -> Sampled:
        """With a new key."""
        return replace(self, key=secrets.token_bytes(KEY_BYTES))

    def sql(self, unit: str) -> str:
        """Whether a row's person belongs to the sample. Without a key no person does: then it is there to be analysed.

        Rounding down the bound makes the sample smaller, by less than 2**-64 of the people.
        """
        if self.key is None:
            return "false"
        below = int(self.rate * 2**64)
        hashed = BYTES[self.unit_type].format(unit=unit)
        digest = f"pg_catalog.sha256(pg_catalog.byteacat('\\x{self.key.hex()}'::pg_catalog.bytea, {hashed}))"
        return f"pg_catalog.bytealt({digest}, '\\x{below:016x}'::pg_catalog.bytea)"

    def looked_up(self, table: str, unit: str) -> str | None:
        """What `sql` says of a row, in other words: that its person is one of a list, which an index can look up.

        The list is made of the index on the unit alone, where PostgreSQL can read that without the table.
        """
        if self.rate > MOST_LOOKED_UP:
            return None
        return f"ARRAY(SELECT DISTINCT {unit} FROM {table} WHERE {self.sql(unit)})"
