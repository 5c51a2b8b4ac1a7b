"""The extended protocol by hand, as other drivers speak it: describe, then bind and execute; binary results."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import pq
from psycopg.pq.abc import PGconn
from tests.office import NOISE, Office

BIGINT, NUMERIC, TEXT, BOOLEAN, SMALLINT, DOUBLE, DATE = 20, 1700, 25, 16, 21, 701, 1082

QUERY = (
    'SELECT dept, count(*), count(*) AS "Two words", avg(height), count(*) > $2 AS many, min(age)'
    " FROM hr.person WHERE age > $1 AND born > $3 GROUP BY dept ORDER BY dept"
)
COLUMNS = [
    ("dept", TEXT), ("count", BIGINT), ("Two words", BIGINT), ("avg", DOUBLE), ("many", BOOLEAN), ("min", SMALLINT),
]  # fmt: skip


@pytest.fixture
def wire(office: Office) -> Iterator[PGconn]:
    connection = pq.PGconn.connect(office.dsn.encode())
    yield connection
    connection.finish()


def columns(result: pq.abc.PGresult) -> list[tuple[str, int]]:
    return [((result.fname(n) or b"").decode(), result.ftype(n)) for n in range(result.nfields)]


def test_what_describe_tells_is_what_arrives(office: Office, wire: PGconn) -> None:
    assert wire.prepare(b"s", QUERY.encode()).status == pq.ExecStatus.COMMAND_OK
    described = wire.describe_prepared(b"s")
    assert columns(described) == COLUMNS
    assert [described.param_type(n) for n in range(described.nparams)] == [SMALLINT, BIGINT, DATE]
    assert office.questions() == 0

    parameters = [struct.pack("!h", 30), struct.pack("!q", 10), struct.pack("!i", -20_000)]  # days since 2000
    result = wire.exec_prepared(b"s", parameters, [1, 1, 1], result_format=1)
    assert (result.status, columns(result)) == (pq.ExecStatus.TUPLES_OK, COLUMNS)
    assert result.ntuples == 4
    ((truth,),) = office.truth("SELECT count(*) FROM hr.person WHERE age > 30 AND dept = 'dept 0'")
    dept, count, again, average, many, least = (result.get_value(0, n) or b"" for n in range(6))
    assert dept == b"dept 0"
    assert abs(struct.unpack("!q", count)[0] - truth) <= 4 * NOISE
    assert (again, many) == (count, b"\x01")
    assert 0 <= struct.unpack("!d", average)[0] <= 3
    assert 0 <= struct.unpack("!h", least)[0] <= 120
    assert office.questions() == 1


def test_text_and_binary_results_agree(wire: PGconn) -> None:
    query = b"SELECT dept, count(*) FROM hr.person GROUP BY dept ORDER BY dept"
    text, binary = (wire.exec_params(query, None, result_format=form) for form in (0, 1))
    assert columns(text) == columns(binary)
    for row in range(4):
        assert text.get_value(row, 0) == binary.get_value(row, 0)
        assert int(text.get_value(row, 1) or b"") == struct.unpack("!q", binary.get_value(row, 1) or b"")[0]


def test_a_portal_is_described_before_it_runs(office: Office, wire: PGconn) -> None:
    assert wire.exec_(b"BEGIN").status == pq.ExecStatus.COMMAND_OK
    wire.exec_(b"DECLARE c BINARY CURSOR FOR SELECT dept, count(*) FROM hr.person GROUP BY dept")
    assert columns(wire.describe_portal(b"c")) == [("dept", TEXT), ("count", BIGINT)]
    assert office.questions() == 0
    assert wire.exec_(b"FETCH ALL FROM c").ntuples == 4
    assert office.questions() == 1
    wire.exec_(b"COMMIT")


def test_types_may_be_left_to_the_server_or_given(wire: PGconn) -> None:
    query = b"SELECT count(*) FROM hr.person WHERE age > $1 AND dept = $2 AND salary < $3"
    wire.prepare(b"left", query)
    left = wire.describe_prepared(b"left")
    assert [left.param_type(n) for n in range(3)] == [SMALLINT, TEXT, NUMERIC]
    wire.prepare(b"given", query, [BIGINT, 0, DOUBLE])
    given = wire.describe_prepared(b"given")
    assert [given.param_type(n) for n in range(3)] == [BIGINT, TEXT, DOUBLE]
    for statement in (b"left", b"given"):
        assert wire.exec_prepared(statement, [b"30", b"dept 1", b"4000"]).status == pq.ExecStatus.TUPLES_OK


def test_a_type_that_cannot_be_known_is_asked_for(wire: PGconn) -> None:
    result = wire.prepare(b"s", b"SELECT count(*) FROM hr.person WHERE $1 IS NULL")
    assert result.error_field(pq.DiagnosticField.SQLSTATE) == b"42P18"


def test_a_refusal_comes_with_the_statement_or_with_its_run_but_never_with_rows(office: Office, wire: PGconn) -> None:
    wire.prepare(b"s", b"SELECT name, salary FROM hr.person")
    result = wire.exec_prepared(b"s", None, result_format=1)
    assert (result.status, result.ntuples) == (pq.ExecStatus.FATAL_ERROR, 0)
    assert (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").startswith(b"DP")
    assert office.spent() == 0


def test_a_statement_that_lived_through_a_grant_and_its_end(office: Office, wire: PGconn) -> None:
    """Rows become visible, and answers again, as the rights are when the statement is run."""
    query = b"SELECT count(*), max(name) FROM hr.person"
    wire.prepare(b"s", query)
    assert wire.exec_prepared(b"s", None).status == pq.ExecStatus.FATAL_ERROR
    connection = psycopg.connect(office.database.dsn(), autocommit=True)
    with connection:
        connection.execute("GRANT SELECT ON hr.person TO nora")
        wire.prepare(b"readable", query)
        assert wire.exec_prepared(b"readable", None).get_value(0, 0) == b"2000"
        connection.execute("REVOKE SELECT ON hr.person FROM nora")
    result = wire.exec_prepared(b"readable", None)
    assert (result.status, result.ntuples) == (pq.ExecStatus.FATAL_ERROR, 0)
