"""Materialised views: over protected tables, and over the gate, where somebody else would ask for whoever refreshes."""

import psycopg
import pytest
from tests.attacks.gate.asking import FRESH, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection


def test_one_over_people_cannot_be_asked_about(gated: Target, blind: Connection) -> None:
    gated.admin.execute("CREATE MATERIALIZED VIEW extra.other AS SELECT * FROM hr.person")
    gated.admin.execute("GRANT SELECT ON extra.other TO PUBLIC")
    with gated.free():
        assert how_it_ends(blind, "SELECT count(*) FROM extra.other") == "42704"


def test_one_over_the_gate_is_not_made(gated: Target, blind: Connection) -> None:
    with gated.free(), pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute(f"CREATE MATERIALIZED VIEW extra.seen AS {FRESH}")


def test_a_curator_who_refreshes_one_does_not_ask_for_its_owner(gated: Target, blind: Connection) -> None:
    blind.execute(f"CREATE MATERIALIZED VIEW extra.seen AS {FRESH} WITH NO DATA")
    with gated.free(), pytest.raises(psycopg.errors.InsufficientPrivilege):
        gated.admin.execute("REFRESH MATERIALIZED VIEW extra.seen")
