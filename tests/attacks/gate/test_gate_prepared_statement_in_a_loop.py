"""A prepared statement, or a statement in a loop, run again and again."""

import psycopg
import pytest
from tests.attacks.gate.asking import FRESH
from tests.attacks.target import Target, ask_until_refused
from tests.databases import Connection


def test_every_execution_of_a_prepared_statement_is_paid(gated: Target, blind: Connection) -> None:
    blind.execute(f"PREPARE often AS {FRESH}")
    assert ask_until_refused(blind, "EXECUTE often") == 10
    assert gated.spent() == 1


def test_every_turn_of_a_loop_is_paid(gated: Target, blind: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        blind.execute(f"DO $$BEGIN FOR n IN 1..100 LOOP PERFORM ({FRESH}); END LOOP; END$$")
    assert (caught.value.sqlstate, gated.charges()) == ("DP003", 10)
