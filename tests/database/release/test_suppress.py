"""discreet.suppress, controlled_round and audit_cells on tables."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import Connection, Database, MakeRole, created
from tests.messages import notices, refused

COUNTS = """
    CREATE SCHEMA hr;
    CREATE TABLE hr.cells (region text, job text, n int);
    INSERT INTO hr.cells VALUES
        ('North', 'clerk', 20), ('North', 'cook', 50), ('North', 'judge', 10),
        ('South', 'clerk', 8), ('South', 'cook', 19), ('South', 'judge', 22),
        ('West', 'clerk', 17), ('West', 'cook', 3), ('West', 'judge', 12);
    CREATE TABLE hr.none (LIKE hr.cells);
    CREATE TABLE hr.less AS SELECT 'a' AS region, -1 AS n;
"""


@pytest.fixture(scope="module")
def shared(cluster: Cluster, template: str) -> Iterator[Database]:
    with created(cluster, "suppressed", template) as database:
        connection = database.connect()
        connection.execute(COUNTS)
        connection.execute("SELECT discreet.create_secret('round')")
        yield database


@pytest.fixture
def cells(shared: Database) -> Connection:
    """A session in one database for all tests here, in which hr.cells is."""
    return shared.connect()


def report(connection: Connection, call: str) -> Any:
    return connection.execute(f"SELECT discreet.{call}").fetchall()[0][0]


def table(connection: Connection, name: str, value: str = "n") -> dict[tuple[str, ...], Any]:
    rows = connection.execute(f"SELECT * FROM {name}").fetchall()
    columns = [each.name for each in connection.execute(f"SELECT * FROM {name} LIMIT 0").description or ()]
    at = columns.index(value)
    return {tuple(map(str, row[:at])): row[at] for row in rows}


def test_a_small_cell_is_hidden_with_three_others_and_the_margins_stay(cells: Connection) -> None:
    found = report(cells, "suppress('hr.cells', '{region,job}', 'n', 5, 'published', counts => true)")
    assert found["cells"] == 16
    assert (found["primary"], found["complementary"], found["published"]) == (1, 3, 12)
    assert found["audit"] | {"narrowest": None} == {
        "method": "linear programs", "proven": 4, "disclosed": 0, "narrowest": None,
    }  # fmt: skip
    published = table(cells, "hr.published")
    assert published["West", "cook"] is None
    assert published["Total", "Total"] == 161
    assert published["West", "Total"] == 32
    assert sum(value is None for value in published.values()) == 4
    flags = cells.execute("SELECT bool_and(suppressed = (n IS NULL)) FROM hr.published").fetchall()
    assert flags == [(True,)]


def test_the_audit_finds_what_a_naive_release_tells_and_nothing_in_ours(cells: Connection) -> None:
    report(cells, "suppress('hr.cells', '{region,job}', 'n', 5, 'hr.ours', counts => true)")
    cells.execute(
        "CREATE TABLE hr.naive AS SELECT coalesce(region, 'Total') region, coalesce(job, 'Total') job,"
        " CASE WHEN sum(n) >= 5 THEN sum(n) END AS n FROM hr.cells GROUP BY CUBE (region, job)"
    )
    audit = "SELECT cell ->> 'job', lower, upper, disclosed FROM discreet.audit_cells('{}', '{{region,job}}', 'n')"
    assert cells.execute(audit.format("hr.naive")).fetchall() == [("cook", 3, 3, True)]
    found = cells.execute(audit.format("hr.ours")).fetchall()
    assert len(found) == 4
    assert not any(row[3] for row in found)
    assert all(float(str(row[2])) - float(str(row[1])) >= 5 for row in found)


def test_records_are_counted_and_null_is_a_value(cells: Connection) -> None:
    cells.execute(
        """
        CREATE TABLE hr."Odd ""one" ("Größe" text, "b c" boolean);
        INSERT INTO hr."Odd ""one" SELECT CASE n % 3 WHEN 0 THEN 'klein' WHEN 1 THEN 'groß' END, n % 2 = 0
        FROM generate_series(1, 60) n;
        """
    )
    report(cells, """suppress('hr."Odd ""one"', ARRAY['Größe', 'b c'], NULL, 3, '"Out ""put"', total => 'Σ')""")
    published = table(cells, 'hr."Out ""put"', "count")
    assert published["(none)", "true"] == 10
    assert published["Σ", "Σ"] == 60


def test_a_word_for_null_that_is_a_value_too_is_refused(cells: Connection) -> None:
    cells.execute("CREATE TABLE hr.missing AS SELECT a, b FROM unnest('{x,(none)}'::text[]) a, generate_series(1, 9) b")
    report(cells, "suppress('hr.missing', '{a}', NULL, 3, 'hr.some')")
    cells.execute("INSERT INTO hr.missing VALUES (NULL, 1)")
    for call in ("suppress('hr.missing', '{a}', NULL, 3, 'hr.other')",
                 "controlled_round('hr.missing', '{a}', NULL, 3, 'hr.other', 'round')"):  # fmt: skip
        with refused("22023", "column a has rows with '(none)', which stands for NULL, and rows with NULL", "view"):
            report(cells, call)


def test_groups_of_a_hierarchy_are_published_and_safe(cells: Connection) -> None:
    cells.execute(
        """
        CREATE TABLE hr.city AS SELECT 'c' || c AS city, 's' || c % 3 AS state, 'j' || j AS job,
            (7 * c + 5 * j * j + c * j) % 23 AS n FROM generate_series(0, 8) c, generate_series(0, 4) j
        """
    )
    by_column = report(
        cells, """suppress('hr.city', '{city,job}', 'n', 4, 'a', '{"city": {"columns": ["state"]}}', counts => true)"""
    )
    tree = '{"city": {"tree": {"s0": ["c0", "c3", "c6"], "s1": ["c1", "c4", "c7"], "s2": ["c2", "c5", "c8"]}}}'
    by_tree = report(cells, f"suppress('hr.city', '{{city,job}}', 'n', 4, 'b', '{tree}', counts => true)")
    assert by_column == by_tree
    assert by_column["primary"] > 0
    assert table(cells, "hr.a") == table(cells, "hr.b")
    told = cells.execute(
        f"SELECT count(*), bool_or(disclosed) FROM discreet.audit_cells('hr.a', '{{city,job}}', 'n', '{tree}')"
    ).fetchall()
    assert told == [(by_column["primary"] + by_column["complementary"], False)]
    exact = cells.execute("SELECT sum(n) FROM hr.city WHERE state = 's1'").fetchall()[0][0]
    assert table(cells, "hr.a")["s1", "Total"] in (exact, None)


def test_sums_are_judged_by_who_contributes(cells: Connection) -> None:
    cells.execute(
        """
        CREATE TABLE hr.sales (region text, sector text, firm int, turnover numeric);
        INSERT INTO hr.sales SELECT 'r' || r, 's' || s, 100 * r + 10 * s + f, 100.5 + f FROM generate_series(1, 3) r,
            generate_series(1, 4) s, generate_series(1, 8) f;
        INSERT INTO hr.sales VALUES
            ('r1', 's1', 1, 90000), ('r2', 's9', 2, 50), ('r2', 's9', 3, 60), ('r3', 's9', 4, 70);
        """
    )
    found = report(
        cells,
        "suppress('hr.sales', '{region,sector}', 'turnover', 3, 'out', contributor => 'firm', dominance_n => 1,"
        " dominance_percent => 80, p_percent => 10, audit => 'linear programs')",
    )
    # r1 s1 and all margins of it but the grand one are ruled by a giant; s9 has few firms
    assert found["rules"]["dominance"] >= 4
    assert found["rules"]["threshold"] == 2
    assert found["audit"]["disclosed"] == 0
    published = table(cells, "hr.out", "turnover")
    assert published["r1", "s1"] is None
    assert published["r2", "s9"] is None
    assert published["r3", "s9"] is None
    (row,) = cells.execute(
        """SELECT upper FROM discreet.audit_cells('hr.out', '{region,sector}', 'turnover')
           WHERE cell = '{"region": "r2", "sector": "s9"}'"""
    ).fetchall()
    assert row[0] is None or float(str(row[0])) >= 110 * 1.1


SUMS = """
    CREATE TABLE hr.pay (region text, job text, income {type}{beside});
    INSERT INTO hr.pay (region, job, income)
    SELECT r, j, 40000 + n FROM unnest('{{N,S,W}}'::text[]) r, unnest('{{cook,clerk,smith}}'::text[]) j,
        generate_series(1, 6) n WHERE (r, j) <> ('W', 'smith');
    INSERT INTO hr.pay VALUES ('W', 'smith', 91234), ('W', 'smith', NULL), ('W', 'smith', 0);
"""


@pytest.mark.parametrize("type_name", ["int", "numeric", "float8", "numeric(10,2)"])
@pytest.mark.parametrize("beside", ["", ", id int GENERATED ALWAYS AS IDENTITY"])
def test_a_sum_that_is_one_persons_is_hidden_without_a_contributor(
    cells: Connection, type_name: str, beside: str
) -> None:
    with cells.transaction(force_rollback=True):
        cells.execute(SUMS.format(type=type_name, beside=beside))
        found = report(cells, "suppress('hr.pay', '{region,job}', 'income', 3, 'paid')")
        assert (found["contributors"], found["primary"], found["rules"]) == ("rows", 1, {"threshold": 1})
        published = table(cells, "hr.paid", "income")
        assert published["W", "smith"] is None
        assert published["N", "cook"] == 240021
        ((lower, upper),) = cells.execute(
            "SELECT lower, upper FROM discreet.audit_cells('hr.paid', '{region,job}', 'income')"
            """ WHERE cell = '{"region": "W", "job": "smith"}'"""
        ).fetchall()
        assert float(str(lower)) <= 0.9 * 91234
        assert upper is None or float(str(upper)) >= 1.1 * 91234


@pytest.mark.parametrize("change", ["ADD id int GENERATED ALWAYS AS IDENTITY", "ALTER n TYPE numeric"])
def test_what_may_not_be_a_table_of_counts_is_judged_by_its_rows(cells: Connection, change: str) -> None:
    with cells.transaction(force_rollback=True):
        counts = "suppress('hr.cells', '{region,job}', 'n', 2, 'sure', counts => true)"
        assert report(cells, counts)["contributors"] == "values"
        cells.execute(f"CREATE TABLE hr.doubtful AS TABLE hr.cells; ALTER TABLE hr.doubtful {change}")
        found = report(cells, "suppress('hr.doubtful', '{region,job}', 'n', 2, 'unsure')")
        assert (found["contributors"], found["primary"]) == ("rows", 9)


def test_a_table_of_sums_is_not_taken_for_one_of_counts(cells: Connection) -> None:
    """One whole number for each cell: nobody but the caller knows how many people are behind it."""
    with cells.transaction(force_rollback=True):
        cells.execute("CREATE TABLE hr.sums AS SELECT region, job, 1000 * n AS paid FROM hr.cells")
        call = "suppress('hr.sums', '{{region,job}}', 'paid', 5, '{release}'{counts})"
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="may hold counts or sums"), cells.transaction():
            report(cells, call.format(release="guessed", counts=""))
        found = report(cells, call.format(release="rows", counts=", counts => false"))
        assert found["contributors"] == "rows"
        assert found["primary"] >= 9
        cells.execute("ALTER TABLE hr.sums ALTER paid TYPE float8")
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="does not count people"), cells.transaction():
            report(cells, call.format(release="fractions", counts=", counts => true"))


def test_counts_of_finer_cells_are_added_up(cells: Connection) -> None:
    with cells.transaction(force_rollback=True):
        coarse = report(cells, "suppress('hr.cells', '{region}', 'n', 5, 'coarse', counts => true)")
        assert (coarse["contributors"], coarse["primary"]) == ("values", 0)


def test_the_report_says_who_contributes(cells: Connection) -> None:
    with cells.transaction(force_rollback=True):
        cells.execute(SUMS.format(type="int", beside=", person int"))
        for value, who, told in (("NULL", "NULL", "rows"), ("'income'", "NULL", "rows"), ("'income'", "'job'", "job")):
            call = f"suppress('hr.pay', '{{region}}', {value}, 2, '{told}_{len(value)}', contributor => {who})"
            assert report(cells, call)["contributors"] == told


@pytest.mark.parametrize(
    ("arguments", "sqlstate", "message"),
    [
        ("'hr.cells', '{region,nothing}', 'n', 5, 'o'", "42703", "no column nothing"),
        ("'hr.cells', '{}', 'n', 5, 'o'", "22023", "dimensions must name columns"),
        ("'hr.cells', NULL, 'n', 5, 'o'", "22023", "dimensions must not be NULL"),
        ("'hr.cells', '{region,region}', 'n', 5, 'o'", "22023", "each once"),
        ("'hr.cells', '{region}', 'job', 5, 'o'", "22023", "holds no numbers"),
        ("'hr.cells', '{region}', 'n', NULL, 'o'", "22023", "threshold must not be NULL"),
        ("'hr.cells', '{region}', 'n', 0, 'o'", "22023", "threshold is 0"),
        ("'hr.cells', '{region}', 'n', 'NaN', 'o'", "22023", "threshold is NaN"),
        ("'hr.cells', '{region}', 'n', 5, 'hr.cells'", "42710", "there is a relation"),
        ("'hr.cells', '{region}', 'n', 5, 'a.b.c'", "22023", "names no table"),
        ("'hr.cells', '{region}', 'n', 5, NULL", "22023", "release must not be NULL"),
        ("NULL, '{region}', 'n', 5, 'o'", "22023", "relation must not be NULL"),
        ("'hr.cells', '{region}', 'n', 5, 'o', '[1]'", "22023", "hierarchies must be an object"),
        ("'hr.cells', '{region}', 'n', 5, 'o', '{\"job\": {}}'", "22023", "hierarchies must be an object"),
        ("'hr.cells', '{region}', 'n', 5, 'o', '{\"region\": 7}'", "22023", "hierarchy of region is none"),
        ("'hr.cells', '{region}', 'n', 5, 'o', p_percent => 10", "22023", "about contributors"),
        ("'hr.cells', '{region}', 'n', 5, 'o', contributor => 'job', dominance_n => 2", "22023", "both numbers"),
        ("'hr.cells', '{region}', 'n', 5, 'o', audit => 'none'", "22023", "not known"),
        ("'hr.cells', '{region}', 'n', 5, 'o', total => 'North'", "22023", "North"),
        ("'hr.none', '{region}', 'n', 5, 'o'", "22023", "there is nothing in dimension"),
        ("'hr.less', '{region}', 'n', 5, 'o'", "22023", "negative"),
        ("'hr.cells', '{region,job}', 'n', 5, 'o'", "22023", "may hold counts or sums"),
        ("'hr.cells', '{region,job}', NULL, 5, 'o', counts => true", "22023", "where no contributor is named"),
        ("'hr.cells', '{region}', 'n', 5, 'o', contributor => 'job', counts => false", "22023", "where no contributor"),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_nothing(
    cells: Connection, arguments: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        cells.execute(f"SELECT discreet.suppress({arguments})")
    assert caught.value.sqlstate == sqlstate
    assert message in str(caught.value.diag.message_primary)
    assert caught.value.diag.message_hint
    assert cells.execute("SELECT to_regclass('hr.o')").fetchall() == [(None,)]


def test_it_reads_and_writes_with_the_rights_of_the_caller(
    shared: Database, cells: Connection, make_role: MakeRole
) -> None:
    role = make_role("dora", "discreet_curator")
    call = "SELECT discreet.suppress('hr.cells', '{region}', 'n', 5, 'mine')"
    with psycopg.connect(shared.dsn(role), autocommit=True) as dora:
        cells.execute(f"GRANT USAGE ON SCHEMA hr TO {role}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for table cells"):
            dora.execute(call)
        cells.execute(f"GRANT SELECT ON hr.cells TO {role}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for schema hr"):
            dora.execute(call)
    cells.execute(f"DROP OWNED BY {role}")


def test_it_tells_how_far_it_is_and_can_be_cancelled(shared: Database, cells: Connection) -> None:
    cells.execute(
        "CREATE TABLE hr.large AS SELECT a, b, c, (a * a + 7 * b + 3 * c * a + b * c) % 9 AS n"
        " FROM generate_series(1, 40) a, generate_series(1, 20) b, generate_series(1, 15) c"
    )
    pid = cells.execute("SELECT pg_backend_pid()").fetchall()[0][0]
    watcher = shared.connect()
    heard = notices(cells)

    def hides(message: tuple[object, ...]) -> bool:
        return message[0] == "NOTICE" and "hiding cells" in str(message[1])

    def cancel() -> None:
        deadline = time.monotonic() + 60
        while not any(map(hides, heard)) and time.monotonic() < deadline:
            time.sleep(0.05)
        watcher.execute("SELECT pg_cancel_backend(%s)", [pid])

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(psycopg.errors.QueryCanceled):
        cells.execute("SELECT discreet.suppress('hr.large', '{a,b,c}', 'n', 5, 'o', counts => true)")
    thread.join()
    assert any(map(hides, heard))
    assert cells.execute("SELECT to_regclass('hr.o')").fetchall() == [(None,)]


def test_a_trigger_that_changes_what_is_written_leaves_nothing(cells: Connection) -> None:
    cells.execute(
        """
        CREATE FUNCTION public.spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF to_regclass('hr.spoilt') IS NOT NULL THEN
                CREATE RULE spoil AS ON INSERT TO hr.spoilt DO INSTEAD NOTHING;
            END IF;
        END $$;
        CREATE EVENT TRIGGER spoil ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.spoil();
        """
    )
    with refused("DP008", "what was written is not what was checked", "trigger"):
        cells.execute("SELECT discreet.suppress('hr.cells', '{region}', 'n', 5, 'spoilt')")
    cells.execute("DROP EVENT TRIGGER spoil")
    assert cells.execute("SELECT to_regclass('hr.spoilt')").fetchall() == [(None,)]


def test_controlled_rounding_adds_up_and_is_the_same_again(cells: Connection) -> None:
    for name in ("one", "two"):
        found = report(cells, f"controlled_round('hr.cells', '{{region,job}}', 'n', 5, '{name}', 'round')")
        assert found["to_neighbours"]
        assert found["largest_change"] < 5
    rounded = table(cells, "hr.one")
    assert rounded == table(cells, "hr.two")
    assert all(value % 5 == 0 for value in rounded.values())
    for region in ("North", "South", "West", "Total"):
        parts = [rounded[region, job] for job in ("clerk", "cook", "judge")]
        assert sum(parts) == rounded[region, "Total"]
    assert rounded["North", "cook"] == 50


@pytest.mark.parametrize(
    ("arguments", "sqlstate", "message"),
    [
        ("0, 'o', 'round'", "22023", "base is 0"),
        ("5, 'o', 'nothing'", "42704", "no secret"),
        ("5, 'o', NULL", "22023", "secret must not be NULL"),
        ("5, 'o', 'round', seconds => 0", "22023", "seconds is 0"),
    ],
)
def test_controlled_rounding_that_makes_no_sense_is_refused(
    cells: Connection, arguments: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        cells.execute(f"SELECT discreet.controlled_round('hr.cells', '{{region,job}}', 'n', {arguments})")
    assert caught.value.sqlstate == sqlstate
    assert message in str(caught.value.diag.message_primary)


def test_controlled_rounding_of_fractions_is_refused(cells: Connection) -> None:
    cells.execute("CREATE TABLE hr.f AS SELECT 'a' AS a, 1.5 AS n")
    with refused("22023", "not whole numbers", "counts"):
        cells.execute("SELECT discreet.controlled_round('hr.f', '{a}', 'n', 5, 'o', 'round')")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("('x', 1), ('y', NULL), ('z', 9), ('Total', 3)", "do not add up"),
        ("('x', 1), ('x', 2), ('Total', 3)", "there twice"),
        ("('x', -1), ('y', 4), ('Total', 3)", "negative"),
    ],
)
def test_an_audit_of_a_table_that_is_none_is_refused(cells: Connection, rows: str, message: str) -> None:
    cells.execute(f"CREATE TEMP TABLE p AS SELECT * FROM (VALUES {rows}) t(a, n)")
    with pytest.raises(psycopg.Error, match=message):
        cells.execute("SELECT * FROM discreet.audit_cells('p', '{a}', 'n')")
