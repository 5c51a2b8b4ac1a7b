"""track_functions counts the calls of a function in the run step: one per row."""

from tests.attacks.gate.asking import ask
from tests.attacks.target import Target
from tests.databases import Connection

CALLS = "SELECT funcname, calls FROM pg_stat_xact_user_functions WHERE schemaname = 'discreet' AND funcname LIKE '\\_%'"
SUM = "SELECT sum(salary) FROM hr.person WHERE salary > 1090"


def test_calls_of_functions_are_not_counted_within_a_question(gated: Target) -> None:
    gated.admin.execute("ALTER ROLE blind SET track_functions = 'all'")
    try:
        blind: Connection = gated.connect("blind", new=True)
        with gated.admin.transaction():
            gated.admin.execute("SET LOCAL track_functions = 'all'")
            gated.admin.execute("SELECT discreet._on_grid(salary, 0, 0, 2000) FROM hr.person WHERE salary > 1090")
            ((name, calls),) = gated.admin.execute(CALLS).fetchall()
            assert (name, calls) == ("_on_grid", 90)
        with blind.transaction():
            ask(blind, SUM)
            assert blind.execute(CALLS).fetchall() == []
    finally:
        gated.admin.execute("ALTER ROLE blind RESET track_functions")
