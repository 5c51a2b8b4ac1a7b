"""Names and types of every kind: parameters, search_path, odd spellings, parts of tables, domains, enums."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import sql
from tests.database.gate.conftest import Asker
from tests.databases import Database, MakeRole
from tests.messages import refused

TABLE = """
    CREATE TABLE people (id int PRIMARY KEY, x int, t text);
    INSERT INTO people SELECT n, n % 4, 'a' FROM generate_series(1, 40) n
"""


@pytest.fixture
def own(database: Database, make_role: MakeRole) -> Asker:
    """An analyst in a database without tables, and dataset everybody that she may ask about."""
    asker = Asker(database, make_role("asker", "discreet_analyst"))
    asker.admin.execute("SELECT discreet.create_dataset('everybody', 1000, 1e-3)")
    asker.admin.execute("SELECT discreet.grant_budget('everybody', %s, 1000, 1e-3)", [asker.role])
    return asker


def protect(asker: Asker, table: str, unit: str = "id", limits: str = "max_rows => 1") -> None:
    asker.admin.execute(f"SELECT discreet.protect(%s, %s, dataset => 'everybody', {limits})", [table, unit])


def test_parameters_are_values_never_text(asker: Asker) -> None:
    question = "SELECT count(*) FROM hr.employee WHERE dept = $1 AND salary > $2 AND hired > $3"
    hostile = "Sales' OR true --"
    assert asker.json(question, 100, params=[hostile, "0", "1900-01-01"]) == [{"count": 0}]
    assert asker.json(question, 100, params=["Sales", None, "1900-01-01"]) == [{"count": 0}]
    ((sales,),) = asker.truth("SELECT count(*) FROM hr.employee WHERE dept = 'Sales' AND salary > 50000")
    assert asker.json(question, 100, params=["Sales", "50000", "1900-01-01"]) == [{"count": sales}]


@pytest.mark.parametrize("params", [None, ["Sales"], ["Sales", "much", "1900-01-01"], ["Sales", "1", "now"]])
def test_missing_and_meaningless_parameters_are_refused(asker: Asker, params: list[str] | None) -> None:
    question = "SELECT count(*) FROM hr.employee WHERE dept = $1 AND salary > $2 AND hired > $3"
    with refused("DP001", "", ""):
        asker.json(question, 1, params=params)


def test_a_name_without_schema_is_looked_up_in_the_asker_s_path(asker: Asker) -> None:
    with refused("42704", "there is no table employee", "Write the schema too"):
        asker.json("SELECT count(*) FROM employee", 1)
    asker.connection.execute("SET search_path = nowhere, clinic, hr")
    try:
        assert asker.json("SELECT count(*) FROM employee", 100) == [{"count": 200}]
        assert asker.connection.execute("SHOW search_path").fetchone() == ("nowhere, clinic, hr",)
        with refused("DP002", "column id", "groups"):
            asker.json("SELECT count(*) FROM employee WHERE id = 7", 1)
        assert asker.connection.execute("SHOW search_path").fetchone() == ("nowhere, clinic, hr",)
    finally:
        asker.connection.execute("RESET search_path")


def test_a_column_may_be_written_with_the_schema_of_its_table(own: Asker) -> None:
    own.admin.execute(TABLE)
    own.admin.execute(
        """CREATE SCHEMA other; CREATE TABLE other.people (x int PRIMARY KEY, t text, minutes int);
           INSERT INTO other.people SELECT n, 'b', 9 FROM generate_series(0, 2) n;
           CREATE VIEW other.counted AS SELECT t, count(*) AS n FROM public.people GROUP BY t;
           CREATE VIEW other.shown AS SELECT id, x FROM public.people"""
    )
    own.admin.execute(sql.SQL("GRANT USAGE ON SCHEMA other TO {0}").format(sql.Identifier(own.role)))
    own.admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA other TO PUBLIC")
    protect(own, "people")
    own.admin.execute("SELECT discreet.protect('other.people', NULL, policy => 'public')")
    own.admin.execute("SELECT discreet.describe_column('people', 't', categories => ARRAY['a'])")
    questions = {
        "SELECT count(*) AS n FROM people JOIN other.people USING (x) WHERE other.people.t = 'b'": 30,
        "SELECT count(*) AS n FROM other.people, public.people "
        "WHERE public.people.x = other.people.x AND minutes > 5": 30,
        "SELECT count(*) AS n FROM people WHERE EXISTS (SELECT 1 FROM other.people "
        "WHERE other.people.x = public.people.x AND other.people.x > 0)": 20,
        "SELECT other.counted.n FROM other.counted WHERE other.counted.t = 'a'": 40,
        "SELECT count(*) AS n FROM other.shown JOIN people ON people.id = other.shown.id WHERE other.shown.x > 0": 30,
    }
    for question, wanted in questions.items():
        ((found,),) = own.rows(question, 100)
        assert found == wanted, question
        ((plain,),) = own.plain(question)
        assert abs(plain - wanted) < 400, question
    for question in (
        "SELECT count(*) FROM people, other.people WHERE people.x = 1",
        "SELECT count(*) FROM people p WHERE public.people.x = 1",
        "SELECT public.counted.n FROM other.counted",
    ):
        with refused("DP001", "", ""):
            own.json(question, 1)


def test_dollar_user_in_search_path_means_who_asks(asker: Asker) -> None:
    asker.admin.execute(f"ALTER SCHEMA clinic RENAME TO {asker.role}")
    try:
        asker.connection.execute('SET search_path = "$user"')
        assert len(asker.json("SELECT count(*) FROM patient")) == 1
    finally:
        asker.connection.execute("RESET search_path")
        asker.admin.execute(f"ALTER SCHEMA {asker.role} RENAME TO clinic")


@pytest.mark.parametrize(
    ("schema", "table", "unit", "column"),
    [
        ("My Schema", 'the "best" table', 'per"son', "Val ue"),
        ("sélect", "Tëst 人", "имя", "größe"),
        ("select", "from", "where", "group"),
        ("s'; --", "%I %s $1 :oid::oid", "{0}\\", "x'y"),
        ("plain", "measured", "u", "k0"),
        ("plain", "person", "p0", "x"),
        ("plain", "chosen", "place", "discreet unit"),
    ],
)
def test_any_identifier_can_be_asked_about(own: Asker, schema: str, table: str, unit: str, column: str) -> None:
    names = {key: sql.Identifier(name) for key, name in {"s": schema, "t": table, "u": unit, "c": column}.items()}

    def written(text: str) -> str:
        return sql.SQL(text).format(**names).as_string(own.admin)

    own.admin.execute(written("CREATE SCHEMA {s}; CREATE TABLE {s}.{t} ({u} int, {c} int, m0 text, k1 text, e0 int)"))
    own.admin.execute(written("INSERT INTO {s}.{t} SELECT n % 30, n % 2, 'a', 'b', 1 FROM generate_series(1, 300) n"))
    protect(own, written("{s}.{t}"), unit, "max_groups => 2, max_rows => 5")
    own.admin.execute("SELECT discreet.describe_column(%s, %s, 0, 1)", [written("{s}.{t}"), column])
    for source, alias in (
        ("{s}.{t}", "{t}"),
        ("{s}.{t} AS {c}", "{c}"),
        ("{s}.{t} AS a JOIN {s}.{t} AS b USING ({u})", "b"),
    ):
        inner = f"SELECT {alias}.{{c}}, count(*) AS n, avg({alias}.{{c}}) FROM {source} GROUP BY 1, {alias}.m0"
        assert len(own.json(written(f"SELECT {{c}} AS {{u}}, n, n AS {{s}} FROM ({inner}) {{t}}"), 50)) == 2
    if column != "discreet unit":
        assert len(own.json(written("SELECT {c}, count(*) FROM (SELECT * FROM {s}.{t}) {u} GROUP BY {c}"), 50)) == 2


def test_a_partitioned_table_is_asked_as_a_whole(own: Asker) -> None:
    own.admin.execute(
        "CREATE TABLE visit (who int, day date, cost int) PARTITION BY RANGE (day);"
        "CREATE TABLE visit_23 PARTITION OF visit FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');"
        "CREATE TABLE visit_24 PARTITION OF visit DEFAULT;"
        "INSERT INTO visit SELECT n % 20, date '2023-01-01' + n, 1 FROM generate_series(0, 599) n"
    )
    protect(own, "visit", "who", "max_rows => 10")
    assert own.json("SELECT count(DISTINCT who) FROM visit WHERE day >= '2024-01-01'", 100) == [{"count": 20}]
    for part in ("visit_23", "visit_24"):
        with refused("42704", f"no table {part}", ""):
            own.json(f"SELECT count(*) FROM {part}", 1)


def test_tables_that_inherit_count_for_the_person(own: Asker) -> None:
    own.admin.execute(f"{TABLE}; CREATE TABLE guests () INHERITS (people); INSERT INTO guests SELECT * FROM people")
    protect(own, "people")
    assert own.json("SELECT count(*) FROM people", 100) == [{"count": 40}]
    assert own.json("SELECT count(*) FROM ONLY people", 100) == [{"count": 40}]


def test_domains_enums_and_fixed_lengths_are_keys(own: Asker) -> None:
    own.admin.execute(
        "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN shoe AS numeric(4, 1) CHECK (VALUE > 0);"
        "CREATE TABLE person (id int PRIMARY KEY, mood mood, shoe shoe, code char(4), flags bit(3));"
        "INSERT INTO person SELECT n, CASE WHEN n % 3 = 0 THEN 'sad' ELSE 'glad' END::mood, 40 + n % 2, 'ab', B'101'"
        " FROM generate_series(1, 60) n"
    )
    protect(own, "person")
    own.admin.execute(
        "SELECT discreet.describe_column('person', 'mood', categories => '{sad,glad}'),"
        "discreet.describe_column('person', 'shoe', categories => '{40,41,42.00}'),"
        "discreet.describe_column('person', 'code', categories => '{ab,abcd}'),"
        "discreet.describe_column('person', 'flags', categories => '{101,111}')"
    )
    wanted: dict[str, dict[Any, int]] = {
        "mood": {"sad": 20, "glad": 40}, "shoe": {40: 30, 41: 30, 42: 0}, "code": {"ab": 60, "abcd": 0},
        "flags": {"101": 60, "111": 0},
    }  # fmt: skip
    for column, counts in wanted.items():
        rows = own.rows(f"SELECT {column}, count(*) FROM person GROUP BY {column}", 100)
        shown = {key.strip() if isinstance(key, str) else key: number for key, number in rows}
        assert shown == counts | {None: 0}
    assert own.json("SELECT count(*) FROM person WHERE mood = 'sad' AND code = 'ab'", 100) == [{"count": 20}]


def test_a_copy_and_a_temporary_table_cannot_be_asked_about(own: Asker) -> None:
    own.admin.execute(TABLE + "; CREATE MATERIALIZED VIEW kept AS TABLE people")
    own.admin.execute("GRANT SELECT ON people, kept TO PUBLIC")
    protect(own, "people")
    own.connection.execute("CREATE TEMP TABLE people AS SELECT 1 AS id, 7 AS x; CREATE TEMP TABLE mine (x int)")
    own.connection.execute("CREATE TEMP VIEW seen AS SELECT * FROM mine")
    for name in ("kept", "mine", "seen", "pg_temp.people"):
        with refused("42704", f"no table {name}", "Temporary tables, copies"):
            own.json(f"SELECT count(*) FROM {name}", 1)
    assert own.json("SELECT count(*) FROM people", 100) == [{"count": 40}]


def test_a_column_that_was_dropped_or_renamed_is_unknown(own: Asker) -> None:
    own.admin.execute(TABLE)
    protect(own, "people")
    own.admin.execute("SELECT discreet.describe_column('people', 'x', 0, 3)")
    own.json("SELECT avg(x) FROM people", 1)
    own.admin.execute("ALTER TABLE people RENAME x TO y; ALTER TABLE people DROP t")
    for column in ("x", "t"):
        with refused("DP001", f"there is no column {column}", "Hidden and system columns"):
            own.json(f"SELECT count({column}) FROM people", 1)
    own.json("SELECT avg(y) FROM people", 1)


def test_a_table_is_public_when_a_curator_owns_it_or_says_so(own: Asker, make_role: MakeRole) -> None:
    owner = make_role("owner")
    own.admin.execute(
        f"{TABLE}; CREATE SCHEMA theirs AUTHORIZATION {owner}; CREATE TABLE theirs.code (x int PRIMARY KEY)"
    )
    own.admin.execute(f"ALTER TABLE theirs.code OWNER TO {owner}; GRANT SELECT ON theirs.code TO PUBLIC")
    own.admin.execute("INSERT INTO theirs.code VALUES (1), (2)")
    protect(own, "people")
    question = "SELECT count(*) FROM people p JOIN theirs.code c ON p.x = c.x"
    with refused("42704", "there is no table theirs.code", "tables of who is no curator"):
        own.json(question, 100)
    own.admin.execute("SELECT discreet.protect('theirs.code', NULL, policy => 'public')")
    assert own.json(question, 100) == [{"count": 20}]
    own.admin.execute(f"SELECT discreet.unprotect('theirs.code'); GRANT discreet_curator TO {owner}")
    assert own.json(question, 100) == [{"count": 20}]


COLLIDING = "SELECT count(*) AS a, count(x) AS a_3, sum(x) AS a, count(*) AS a_2 FROM public.people"


def test_columns_of_one_name_are_all_shown(own: Asker) -> None:
    own.admin.execute(TABLE)
    protect(own, "people")
    own.admin.execute("SELECT discreet.describe_column('people', 'x', 0, 4)")
    (row,) = own.json(COLLIDING, 100)
    assert len(row) == 4
    ((values),) = own.rows(COLLIDING, 100)
    assert [row[name] for name in ("a", "a_3", "a_4", "a_2")] == list(values)


def test_a_view_over_columns_of_one_name_has_a_name_for_each(own: Asker) -> None:
    own.admin.execute(TABLE)
    protect(own, "people")
    own.admin.execute("SELECT discreet.describe_column('people', 'x', 0, 4)")
    long = "x" * 63
    question = COLLIDING.replace("SELECT", f"SELECT count(*) AS {long}, count(x) AS {long},")
    with own.connection.transaction(force_rollback=True):
        own.connection.execute("SELECT discreet.create_view('pg_temp.colliding', %s, 10)", [question])
        described = own.connection.execute("SELECT * FROM pg_temp.colliding").description
    assert described is not None
    assert [column.name for column in described] == [long, "x" * 61 + "_2", "a", "a_3", "a_4", "a_2"]
