"""Own code around an answer, and in its constants: it runs as the attacker, and sees released rows only."""

import psycopg
import pytest
from tests.attacks.gate.asking import SECRET, SPY
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices


def told(connection: Connection, statement: str) -> set[str]:
    """What the spy said."""
    heard = notices(connection)
    connection.execute(statement.encode())
    return {str(words) for _, words, _ in heard if "runs as" in str(words)}


def test_code_around_the_answer_runs_as_the_attacker(gated: Target, blind: Connection) -> None:
    blind.execute(SPY.encode())
    statement = (
        "SELECT extra.tell(smoker || ' ' || (count(*) * 0)) FROM hr.person WHERE smoker IS NOT NULL GROUP BY smoker"
    )
    assert {"true 0 runs as blind", "false 0 runs as blind"} <= told(blind, statement)


def test_code_in_a_constant_runs_as_the_attacker_and_sees_no_row(gated: Target, blind: Connection) -> None:
    blind.execute(SPY.replace("plpgsql AS", "plpgsql STABLE AS").encode())
    heard = told(blind, "SELECT count(*) FROM hr.person WHERE extra.tell('constant') AND smoker")
    assert heard == {"constant runs as blind"}


@pytest.mark.parametrize("argument", ["name", "dept", "salary::text", f"({SECRET})::text"])
def test_code_is_given_no_value_of_a_row(gated: Target, blind: Connection, argument: str) -> None:
    blind.execute(SPY.replace("plpgsql AS", "plpgsql STABLE AS").encode())
    heard = notices(blind)
    with pytest.raises(psycopg.Error):
        blind.execute(f"SELECT count(*) FROM hr.person WHERE extra.tell({argument})".encode())
    with pytest.raises(psycopg.Error):
        blind.execute(f"SELECT extra.tell({argument}), count(*) FROM hr.person".encode())
    assert not [words for _, words, _ in heard if "runs as" in str(words)]


@pytest.mark.parametrize(
    "around",
    [
        "(SELECT string_agg(name, ',') FROM hr.person)",
        "(SELECT max(o.name) FROM hr.person o WHERE o.smoker = p.smoker)",
        "query_to_xml('SELECT name FROM hr.person', true, true, '')::text",
        "table_to_xml('hr.person', true, true, '')::text",
        "array(SELECT name FROM hr.person)::text",
        "(p.*)::text",
    ],
)
def test_nothing_of_the_table_is_reached_around_the_answer(gated: Target, blind: Connection, around: str) -> None:
    with pytest.raises(psycopg.Error) as error:
        blind.execute(f"SELECT smoker, to_char(count(*), '9'), {around} FROM hr.person p GROUP BY smoker".encode())
    assert error.value.sqlstate in ("DP001", "DP002", "DP005", "42501", "42803")


def test_a_text_of_somebody_else_runs_no_code_of_theirs(gated: Target, blind: Connection) -> None:
    """query() may be called by a function of another role with its text."""
    blind.execute(SPY.replace("plpgsql AS", "plpgsql IMMUTABLE AS").encode())
    heard = notices(blind)
    with pytest.raises(psycopg.Error):
        blind.execute("SELECT discreet.query_json('SELECT count(*) FROM hr.person WHERE extra.tell(''x'')')")
    assert not [words for _, words, _ in heard if "runs as" in str(words)]
