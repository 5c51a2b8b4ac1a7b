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


def test_one_over_the_gate_is_paid_for_like_a_question(gated: Target, blind: Connection) -> None:
    before = gated.spent()
    blind.execute(f"CREATE MATERIALIZED VIEW extra.seen AS {FRESH}")
    once = gated.spent()
    assert once > before
    blind.execute("REFRESH MATERIALIZED VIEW extra.seen")
    assert gated.spent() - once == once - before


def test_a_curator_who_refreshes_one_does_not_ask_for_its_owner(gated: Target, blind: Connection) -> None:
    blind.execute(f"CREATE MATERIALIZED VIEW extra.seen AS {FRESH} WITH NO DATA")
    with gated.free(), pytest.raises(psycopg.errors.InsufficientPrivilege):
        gated.admin.execute("REFRESH MATERIALIZED VIEW extra.seen")


def test_a_function_of_another_role_does_not_refresh_in_the_name_of_the_session(
    gated: Target, blind: Connection
) -> None:
    """The session user pays, and the owner of the function decides: neither may use the other."""
    blind.execute(f"CREATE MATERIALIZED VIEW extra.seen AS {FRESH} WITH NO DATA")
    blind.execute(
        "CREATE FUNCTION extra.again() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS"
        " 'BEGIN REFRESH MATERIALIZED VIEW extra.seen; END'"
    )
    blind.execute("GRANT EXECUTE ON FUNCTION extra.again() TO PUBLIC")
    with gated.free(), pytest.raises(psycopg.errors.InsufficientPrivilege):
        gated.admin.execute("SELECT extra.again()")


def test_code_of_others_that_runs_meanwhile_does_not_ask(gated: Target, blind: Connection) -> None:
    """ANALYZE within somebody's materialized view calls the functions of an index, in the name of its owner."""
    blind.execute(f"""
        CREATE TABLE extra.bait (n int);
        INSERT INTO extra.bait SELECT generate_series(1, 100);
        CREATE FUNCTION extra.sly(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN n; END';
        CREATE INDEX ON extra.bait (extra.sly(n));
        CREATE OR REPLACE FUNCTION extra.sly(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
        $$BEGIN PERFORM * FROM ({FRESH}) q; RETURN n; END$$;
    """)
    gated.admin.execute(
        "CREATE FUNCTION extra.tidied() RETURNS int LANGUAGE plpgsql AS 'BEGIN ANALYZE extra.bait; RETURN 1; END'"
    )
    with gated.free(), pytest.raises(psycopg.errors.InsufficientPrivilege):
        gated.admin.execute("CREATE MATERIALIZED VIEW extra.mine AS SELECT extra.tidied()")
