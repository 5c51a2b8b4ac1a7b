"""Names with dots in them: column b.c of a and column c of a.b are not one, or a join would pass for one on a key."""

from __future__ import annotations

from tests.attacks.gate.asking import assert_not_multiplied
from tests.attacks.target import Target
from tests.databases import Connection

# city is no key of the list: each person meets all of it
JOIN = (
    'extra.place AS "p.q" JOIN (SELECT id, \'Boston\' || left(dept, 0) AS "q.zip" FROM hr.person) AS p'
    ' ON "p.q".city = p."q.zip"'
)


def test_a_join_on_no_key_multiplies_nobody(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        """
        CREATE TABLE extra.place (zip text PRIMARY KEY, city text NOT NULL);
        INSERT INTO extra.place SELECT n::text, 'Boston' FROM generate_series(1, 3) n;
        SELECT discreet.protect('extra.place', NULL, policy => 'public');
        """
    )
    assert_not_multiplied(gated, blind, JOIN)
