"""Functions that views of sealed columns call, called by hand without a column: the server must stay up."""

import psycopg
import pytest
from tests.sealed import Shop, one


@pytest.mark.parametrize(
    "call",
    [
        "_unseal(decode('', 'hex'), NULL, NULL, NULL::text)",
        "_seal('x'::text, 1, NULL)",
        "_seal(NULL::text, NULL, NULL)",
        "_seal_search('x'::text, NULL)",
        "_seal_search_many(ARRAY['a'], NULL)",
    ],
)
def test_a_call_without_a_column_is_an_error(shop: Shop, call: str) -> None:
    app = shop.connect(shop.app)
    with pytest.raises(psycopg.errors.NullValueNotAllowed):
        app.execute(f"SELECT discreet.{call}".encode())
    assert one(app, "SELECT 1") == 1
