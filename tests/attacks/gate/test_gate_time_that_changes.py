"""Rows of a month that is dry, moved to one that is not."""

import psycopg
import pytest
from tests.attacks.gate.periods import Shop

MOVES = [
    "UPDATE shop.visit SET at = at + interval '1 month' WHERE at < '2026-02-01'",
    "UPDATE shop.visit SET at = 'infinity'",
    "SET session_replication_role = replica; UPDATE shop.visit SET at = NULL",
    "INSERT INTO shop.visit VALUES (1) ON CONFLICT (id) DO UPDATE SET at = '2026-03-03'",
    "MERGE INTO shop.visit v USING (VALUES (1)) s(id) ON v.id = s.id WHEN MATCHED THEN UPDATE SET at = '2026-03-03'",
    "CREATE FUNCTION shop.touch() RETURNS trigger LANGUAGE plpgsql AS $$"
    " BEGIN NEW.at := '2026-03-03'; RETURN NEW; END $$;"
    "CREATE TRIGGER zz BEFORE UPDATE ON shop.visit FOR EACH ROW EXECUTE FUNCTION shop.touch();"
    "UPDATE shop.visit SET pages = 3",
]


@pytest.mark.parametrize("move", MOVES)
def test_a_row_stays_in_its_period(shop: Shop, move: str) -> None:
    shop.run_dry()
    with pytest.raises(psycopg.Error, match="would move to another period"):
        shop.admin.execute(move)


def test_without_the_trigger_nothing_is_answered(shop: Shop) -> None:
    shop.admin.execute('DROP TRIGGER "~discreet_period" ON shop.visit')
    with pytest.raises(psycopg.Error, match="not kept in their periods"):
        shop.ask("SELECT count(*) FROM shop.visit")
