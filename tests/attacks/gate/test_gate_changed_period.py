"""Old months opened anew: by another period, another time, or a table that is protected again."""

import psycopg
import pytest
from tests.attacks.gate.periods import JANUARY, Shop

AGAIN = "SELECT discreet.unprotect('shop.visit'); SELECT discreet.protect('shop.visit', 'who', {})"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE discreet._dataset SET period = '1 day'",
        "UPDATE discreet._dataset SET period = '30 days'",
        "ALTER TABLE shop.visit ADD other timestamptz; " + AGAIN.format("'shop', max_rows => 10, \"time\" => 'other'"),
        AGAIN.format("'shop', max_rows => 10"),
        "SELECT discreet.create_dataset('shop', 20, period => '1 month')",
    ],
)
def test_it_is_refused(shop: Shop, change: str) -> None:
    shop.run_dry()
    with pytest.raises(psycopg.Error):
        shop.admin.execute(change)


def test_what_was_spent_stays_spent_when_the_table_is_protected_again(shop: Shop) -> None:
    shop.run_dry()
    shop.admin.execute(AGAIN.format("'shop', max_rows => 10, \"time\" => 'at'"))
    with pytest.raises(psycopg.Error, match="exhausted in 2026-01-01"):
        shop.ask(f"SELECT count(*) FROM shop.visit WHERE {JANUARY}", 1)
