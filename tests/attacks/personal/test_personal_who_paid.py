"""Who has paid, or how many: by the functions of the run step, by settings, by the tables of the ledger."""

import psycopg
import pytest
from tests.messages import notices
from tests.versions import FORCE_WORKERS
from tests.village import Village

DENIED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidParameterValue)
STATEMENTS = [
    "SELECT discreet._personal_paid('ann'::text)",
    "SELECT discreet._personal_paid(1::int8)",
    "SELECT discreet._personal_count('ann'::text, true)",
    "SELECT discreet._personal_left('person')",
    "SELECT discreet._personal_spent(1, 1, 3)",
    "SELECT discreet._personal_run(0, 'people', false, 'SELECT 1', '', 1, '{}', '{}')",
    "SELECT discreet.personal_status('person')",
    "SELECT discreet._ledger_personal_people('{\"dataset\": \"people\"}', '')",
    "SELECT * FROM discreet._personal_page",
    "SELECT * FROM discreet._personal_people",
    "SELECT * FROM discreet._personal_budget",
    "SELECT * FROM discreet._personal_ledger",
    "SET discreet.payers = 1",
    "SHOW discreet.payers",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_after_a_question_nothing_is_left_to_look_at(village: Village, statement: str) -> None:
    village.ask("SELECT count(*) FROM person WHERE age > 18")
    village.nora.execute("SET min_parallel_table_scan_size = 0")
    with pytest.raises(DENIED):
        village.nora.execute(statement.encode())


def test_a_worker_forced_on_a_statement_knows_nothing_either(village: Village) -> None:
    village.ask("SELECT count(*) FROM person WHERE age > 18")
    village.nora.execute(FORCE_WORKERS)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        village.nora.execute("SELECT discreet._personal_paid('ann'::text)")


def test_an_unfinished_question_leaves_nothing_open(village: Village) -> None:
    """The run step fails: the phase of payment is over for this session."""
    village.ask("SELECT count(*) FROM person")
    village.admin.execute("ALTER TABLE person RENAME age TO years; ALTER TABLE person ADD age int")
    village.nora.execute("SET statement_timeout = '1ms'")
    with pytest.raises(psycopg.Error):
        village.ask("SELECT count(*) FROM person")
    village.nora.execute("SET statement_timeout = 0")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        village.nora.execute("SELECT discreet._personal_paid('ann'::text)")


def test_notices_are_the_same_whoever_pays(village: Village) -> None:
    """bob alone is of blood group 0, nobody of group B; then nobody can pay any more."""
    heard = notices(village.nora)
    for blood in ("0", "B"):
        village.ask(f"SELECT count(*) FROM person WHERE blood = '{blood}'", 1)
    village.ask("SELECT count(*) FROM person WHERE blood = '0'", 1)
    said = [message for _, message, _ in heard]
    assert [(message or "").replace("998", "999").replace("997", "999") for message in said] == [said[0]] * 3
    assert "epsilon 1 spent by each selected person who can pay" in str(said[0])
