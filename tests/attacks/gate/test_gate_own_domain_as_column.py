"""The checks of a domain run where its values are made: in the columns of an answer that would be as the owner."""

from __future__ import annotations

import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices, refused

TYPES = """
    CREATE FUNCTION extra.whoami(bigint) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN RAISE NOTICE ''I am %'', current_user; RETURN true; END';
    CREATE DOMAIN extra.own AS bigint CHECK (extra.whoami(VALUE));
    CREATE TYPE extra.pair AS (a extra.own);
    CREATE TABLE extra.row_type (a extra.own);
"""


@pytest.mark.parametrize("kind", ["extra.own", "extra.own[]", "extra.pair", "extra.row_type", "extra.pair[]"])
@pytest.mark.parametrize("call", ["discreet.query('SELECT count(*) FROM hr.person')"])
def test_a_type_with_code_of_its_own_is_refused(gated: Target, blind: Connection, kind: str, call: str) -> None:
    blind.execute(TYPES)
    heard = notices(blind)
    blind.execute("SELECT 1::extra.own")
    assert [text for _, text, _ in heard] == ["I am blind"]
    with gated.free(), refused("DP001", "an answer has no columns of type", "cast around the call"):
        blind.execute(f"SELECT * FROM {call} AS t(c {kind})")
    assert len(heard) == 1


def test_a_cast_of_the_asker_s_own_is_not_used(gated: Target, blind: Connection) -> None:
    blind.execute(
        TYPES + "CREATE TYPE extra.word AS ENUM ('a'); CREATE FUNCTION extra.made(bigint) RETURNS extra.word"
        " LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''I am %'', current_user; RETURN ''a''; END';"
        "CREATE CAST (bigint AS extra.word) WITH FUNCTION extra.made(bigint) AS IMPLICIT"
    )
    heard = notices(blind)
    with refused("22P02", "invalid input value for enum", None):
        blind.execute("SELECT * FROM discreet.query('SELECT count(*) FROM hr.person') AS t(c extra.word)")
    assert [text for _, text, _ in heard if "I am" in (text or "")] == []


def test_a_key_of_a_domain_is_checked_by_who_asks(gated: Target, blind: Connection) -> None:
    gated.admin.execute(
        "CREATE FUNCTION extra.seen(text) RETURNS boolean LANGUAGE plpgsql AS"
        " 'BEGIN RAISE NOTICE ''I am %'', current_user; RETURN true; END';"
        "CREATE DOMAIN extra.dept AS text CHECK (extra.seen(VALUE));"
        "CREATE TABLE extra.worker (id int PRIMARY KEY, dept extra.dept NOT NULL);"
        "SELECT discreet.protect('extra.worker', 'id', dataset => 'people');"
        "SELECT discreet.describe_column('extra.worker', 'dept', categories => '{a,b}')"
    )
    try:
        heard = notices(blind)
        assert len(blind.execute("SELECT dept, count(*) FROM extra.worker GROUP BY dept").fetchall()) == 2
        assert {text for _, text, _ in heard if "I am" in (text or "")} == {"I am blind"}
    finally:
        gated.admin.execute("SELECT discreet.unprotect('extra.worker')")
