"""Measuring: hand-checked tables, NULLs, odd names, views, empty tables, rights."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

AGES = """
    CREATE TABLE person (age int, province text);
    INSERT INTO person SELECT unnest('{21,23,26,32,33,35,36,43,45}'::int[]), 'ON';
    INSERT INTO person SELECT unnest('{22,24,26,27,32,33,43,45,49}'::int[]), 'BC';
    CREATE VIEW decades AS SELECT age / 10 * 10 AS age, province FROM person;
    CREATE VIEW thirds AS
    SELECT CASE WHEN age <= 26 THEN '20-26' WHEN age <= 35 THEN '27-35' ELSE '36-49' END AS age, province FROM person;
"""
VIRUS = """
    CREATE TABLE virus (strain text, result text);
    INSERT INTO virus SELECT 'N3P', CASE WHEN n <= 15 THEN 'pos' ELSE 'neg' END FROM generate_series(1, 40) n;
    INSERT INTO virus SELECT 'H1A', CASE WHEN n <= 15 THEN 'pos' ELSE 'neg' END FROM generate_series(1, 60) n;
"""
# Machanavajjhala et al. 2007, figure 2: the zip code and the age are generalised
PATIENTS = """
    CREATE TABLE patient (zip text, age text, disease text);
    INSERT INTO patient VALUES
        ('130**', '<30', 'heart'), ('130**', '<30', 'heart'), ('130**', '<30', 'virus'), ('130**', '<30', 'virus'),
        ('1485*', '>=40', 'cancer'), ('1485*', '>=40', 'heart'), ('1485*', '>=40', 'virus'), ('1485*', '>=40', 'virus'),
        ('130**', '3*', 'cancer'), ('130**', '3*', 'cancer'), ('130**', '3*', 'cancer'), ('130**', '3*', 'cancer');
"""
KEYS = ["zip", "age"]


def one(connection: Connection, query: str, *parameters: object) -> object:
    row = connection.execute(query, parameters).fetchone()
    assert row is not None
    return row[0]


def test_ranges_of_ages_decide_on_k(admin: Connection) -> None:
    admin.execute(AGES)
    for relation, k in [("person", 1), ("decades", 2), ("thirds", 3)]:
        assert one(admin, "SELECT discreet.k_anonymity(%s, '{age,province}')", relation) == k


def test_the_virus_table_has_t_of_0_075(admin: Connection) -> None:
    admin.execute(VIRUS)
    assert one(admin, "SELECT discreet.t_closeness('virus', '{strain}', 'result')") == 0.075


def test_l_of_the_patients(admin: Connection) -> None:
    admin.execute(PATIENTS)
    query = "SELECT discreet.l_diversity('patient', %s, 'disease', %s)"
    assert one(admin, query, KEYS, "distinct") == 1
    admin.execute("DELETE FROM patient WHERE age = '3*'")
    assert one(admin, query, KEYS, "distinct") == 2
    assert one(admin, query, KEYS, "entropy") == pytest.approx(2)
    # in both classes the most frequent value has 2 rows: 2 < c * 2 for the second value on, but only for c above 1
    assert one(admin, query, KEYS, "recursive") == 1
    assert one(admin, "SELECT discreet.l_diversity('patient', %s, 'disease', 'recursive', c => 1.5)", KEYS) == 2


def test_all_measures_come_from_one_call(admin: Connection) -> None:
    admin.execute(PATIENTS)
    measured = admin.execute("SELECT * FROM discreet.measure('patient', %s, '{disease}')", [KEYS]).fetchall()
    single = [
        ("k", None, "k_anonymity('patient', %s)"),
        ("distinct l", "disease", "l_diversity('patient', %s, 'disease')"),
        ("entropy l", "disease", "l_diversity('patient', %s, 'disease', 'entropy')"),
        ("recursive l, c = 1", "disease", "l_diversity('patient', %s, 'disease', 'recursive')"),
        ("equal t", "disease", "t_closeness('patient', %s, 'disease')"),
        ("ordered t", "disease", "t_closeness('patient', %s, 'disease', 'ordered')"),
    ]
    assert measured == [(name, column, one(admin, f"SELECT discreet.{call}", KEYS)) for name, column, call in single]


def test_several_sensitive_columns_count_by_the_worst(admin: Connection) -> None:
    admin.execute("CREATE TABLE t AS SELECT n % 2 AS q, n AS different, n % 2 AS same FROM generate_series(1, 8) n")
    assert one(admin, "SELECT discreet.l_diversity('t', '{q}', ARRAY['different'])") == 4
    assert one(admin, "SELECT discreet.l_diversity('t', '{q}', ARRAY['different', 'same'])") == 1
    assert one(admin, "SELECT discreet.t_closeness('t', '{q}', ARRAY['different', 'same'])") == 0.5
    measured = admin.execute("SELECT sensitive_column, value FROM discreet.measure('t', '{q}', '{different,same}')")
    assert measured.fetchall()[:2] == [(None, 4), ("different", 4)]


def test_the_hierarchical_distance_takes_a_tree(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (q int, s text); INSERT INTO t VALUES (1,'a'), (1,'b'), (2,'c'), (2,'d')")
    tree = '{"any": {"x": ["a", "b"], "y": ["c", "d"]}}'
    query = "SELECT discreet.t_closeness('t', '{q}', 's', 'hierarchical', %s)"
    assert one(admin, query, tree) == 0.5
    assert one(admin, query, f'{{"tree": {tree}}}') == 0.5
    assert one(admin, query, tree.replace('"b"', '"x1"').replace('"c"', '"b"').replace('"x1"', '"c"')) == 0.25
    with refused("22023", "the tree of s lacks 'c', 'd'", "Every value of the column is a leaf"):
        admin.execute(query, ['{"any": ["a", "b"]}'])


@pytest.mark.parametrize(("nulls", "k", "l_reached"), [("own", 1, 1), ("wildcard", 2, 2), ("conservative", 1, 1)])
def test_null_means_what_was_asked_for(admin: Connection, nulls: str, k: int, l_reached: int) -> None:
    admin.execute("CREATE TABLE t (a int, b int, s int)")
    admin.execute("INSERT INTO t VALUES (1, 1, 1), (1, NULL, 2), (2, 2, 3), (NULL, 2, 4)")
    assert one(admin, "SELECT discreet.k_anonymity('t', '{a,b}', nulls => %s)", nulls) == k
    assert one(admin, "SELECT discreet.l_diversity('t', '{a,b}', 's', nulls => %s)", nulls) == l_reached


def test_rows_with_a_conservative_null_stand_alone(admin: Connection) -> None:
    admin.execute("CREATE TABLE t AS SELECT NULL::int AS a, n % 2 AS s FROM generate_series(1, 6) n")
    assert one(admin, "SELECT discreet.k_anonymity('t', '{a}')") == 6
    assert one(admin, "SELECT discreet.k_anonymity('t', '{a}', 'conservative')") == 1
    assert one(admin, "SELECT discreet.t_closeness('t', '{a}', 's', nulls => 'conservative')") == 0.5
    assert one(admin, "SELECT discreet.t_closeness('t', '{a}', 's')") == 0


def test_a_sensitive_null_is_a_value(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (q int, s int); INSERT INTO t VALUES (1, NULL), (1, 5), (2, NULL), (2, NULL)")
    assert one(admin, "SELECT discreet.l_diversity('t', '{q}', 's')") == 1
    assert one(admin, "SELECT discreet.t_closeness('t', '{q}', 's')") == 0.25
    assert one(admin, "SELECT discreet.t_closeness('t', '{q}', 's', nulls => 'wildcard')") == 0.25


def test_an_empty_table_has_no_measure(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (a int, s int)")
    for nulls in ("own", "wildcard", "conservative"):
        assert one(admin, "SELECT discreet.k_anonymity('t', '{a}', %s)", nulls) is None
        assert one(admin, "SELECT discreet.l_diversity('t', '{a}', 's', nulls => %s)", nulls) is None
        assert one(admin, "SELECT discreet.t_closeness('t', '{a}', 's', nulls => %s)", nulls) is None
    assert admin.execute("SELECT * FROM discreet.measure('t', '{a}', '{s}')").fetchall() == []
    assert admin.execute("SELECT * FROM discreet.disclosure_risk('t', '{a}')").fetchall() == []


def test_names_may_be_odd_and_relations_may_be_views_or_partitioned(admin: Connection) -> None:
    admin.execute(
        """
        CREATE SCHEMA "a ""b";
        CREATE TABLE "a ""b"."Ж table" ("n" int, "alone" text, "select ""x" text) PARTITION BY LIST ("n");
        CREATE TABLE part PARTITION OF "a ""b"."Ж table" DEFAULT;
        INSERT INTO "a ""b"."Ж table" SELECT n % 2, 'ü', n::text FROM generate_series(1, 10) n;
        CREATE MATERIALIZED VIEW kept AS TABLE "a ""b"."Ж table";
        """
    )
    for relation in ('"a ""b"."Ж table"', "kept"):
        for nulls in ("own", "conservative", "wildcard"):
            query = "SELECT discreet.l_diversity(%s, ARRAY['n', 'alone'], 'select \"x', nulls => %s)"
            assert one(admin, query, relation, nulls) == 5
    assert one(admin, "SELECT discreet.k_anonymity('part', '{n}')") == 5


def test_equal_values_are_one_sensitive_value_but_a_reader_tells_their_classes_apart(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (q int, s numeric); INSERT INTO t VALUES (1, 1.0), (1, 1.00), (1, 2)")
    assert one(admin, "SELECT discreet.l_diversity('t', '{q}', 's')") == 2
    for nulls in ("own", "conservative", "wildcard"):
        assert one(admin, "SELECT discreet.k_anonymity('t', '{s}', %s)", nulls) == 1
    admin.execute("DELETE FROM t WHERE s = 2; ALTER TABLE t ALTER s TYPE numeric(5,2)")
    assert one(admin, "SELECT discreet.k_anonymity('t', '{s}')") == 2


def test_the_risk_of_a_table_is_listed(admin: Connection) -> None:
    admin.execute(AGES)
    risk: dict[str, float] = dict(
        admin.execute("SELECT * FROM discreet.disclosure_risk('person', '{age,province}', 1000)").fetchall()
    )
    assert (risk["rows"], risk["sample uniques"], risk["prosecutor risk, highest"]) == (18, 18, 1)
    assert risk["special uniques by age"] == 8
    assert risk["special uniques by age, province"] == 10
    assert 0 < risk["journalist risk, highest"] < 0.1


@pytest.mark.parametrize(
    ("nulls", "risks"),
    # the two rows with NULL: a class of their own; each alone; each may be one of the four or the other
    [("own", (2, 0, 1 / 2, 2 / 6)), ("conservative", (3, 2, 1, 3 / 6)), ("wildcard", (2, 0, 1 / 6, 1 / 6))],
)
def test_the_risk_of_rows_with_null_is_as_asked_for(
    admin: Connection, nulls: str, risks: tuple[float, float, float, float]
) -> None:
    admin.execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (1), (1), (1), (NULL), (NULL)")
    query = "SELECT * FROM discreet.disclosure_risk('t', '{a}', nulls => %s)"
    risk: dict[str, float] = dict(admin.execute(query, [nulls]).fetchall())
    names = ("classes", "sample uniques", "prosecutor risk, highest", "prosecutor risk, average")
    assert tuple(risk[name] for name in names) == pytest.approx(risks)
    assert (risk["rows"], risk.get("special uniques by a")) == (6, 2 if nulls == "conservative" else None)


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("disclosure_risk('patient', '{age}', nulls => 'none')", "22023", "nulls is 'none', which is not known"),
        (
            "disclosure_risk('patient', '{age}', 99, nulls => 'wildcard')",
            "22023",
            "makes no classes that could be counted",
        ),
        ("k_anonymity('patient', NULL)", "22023", "quasi_identifiers must not be NULL"),
        ("k_anonymity(NULL, '{age}')", "22023", "relation must not be NULL"),
        ("k_anonymity('patient', '{}')", "22023", "quasi_identifiers is empty"),
        ("k_anonymity('patient', '{age,NULL}')", "22023", "quasi_identifiers must not be NULL"),
        ("k_anonymity('patient', '{{age,zip}}')", "22023", "quasi_identifiers is a list of lists"),
        ("measure('patient', '{age}', '{{zip,disease}}')", "22023", "sensitive is a list of lists"),
        ("disclosure_risk('patient', '{{age},{zip}}')", "22023", "quasi_identifiers is a list of lists"),
        ("best_ranges('patient', 'age', 2, '{{zip,disease}}')", "22023", "within is a list of lists"),
        ("k_anonymity('patient', '{age,size}')", "42703", 'public.patient has no column "size"'),
        ("k_anonymity('patient', '{age,age}')", "22023", 'column "age" is named twice'),
        ("k_anonymity('patient', '{age}', 'none')", "22023", "nulls is 'none', which is not known"),
        ("k_anonymity('pg_class_oid_index', '{oid}')", "42809", "pg_catalog.pg_class_oid_index has no rows"),
        ("l_diversity('patient', '{age}', 'age')", "22023", 'column "age" is named twice'),
        ("l_diversity('patient', '{age}', 'disease', 'l')", "22023", "kind is 'l', which is not known"),
        ("l_diversity('patient', '{age}', 'disease', 'recursive', 0)", "22023", "c is 0, but must be above zero"),
        ("t_closeness('patient', '{age}', 'disease', 'far')", "22023", "distance is 'far', which is not known"),
        ("t_closeness('patient', '{age}', 'disease', 'hierarchical')", "22023", "a hierarchy is for distance"),
        ("disclosure_risk('patient', '{age}', 3)", "22023", "population is 3, but the table has 12 rows"),
        ("disclosure_risk('patient', '{age}', 0)", "22023", "population is 0, but must be at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(admin: Connection, call: str, code: str, message: str) -> None:
    admin.execute(PATIENTS)
    with refused(code, message, ""):
        admin.execute(f"SELECT discreet.{call}")


def test_who_may_not_read_a_table_may_not_measure_it(
    database: Database, admin: Connection, make_role: MakeRole
) -> None:
    admin.execute(PATIENTS)
    role = make_role("anna", "discreet_analyst")
    anna = database.connect(role)
    with refused("42501", "permission denied for public.patient", "you need SELECT on it"):
        anna.execute("SELECT discreet.k_anonymity('patient', '{age}')")
    admin.execute(f"GRANT SELECT (age) ON patient TO {role}")
    assert one(anna, "SELECT discreet.k_anonymity('patient', '{age}')") == 4
    with refused("42501", "permission denied for public.patient", "you need SELECT on it"):
        anna.execute("SELECT discreet.k_anonymity('patient', '{age,zip}')")


def test_the_memory_setting_of_the_session_stays(admin: Connection) -> None:
    admin.execute(PATIENTS)
    admin.execute("SET work_mem = '1MB'")
    admin.execute("SELECT discreet.k_anonymity('patient', '{age}')")
    assert one(admin, "SHOW work_mem") == "1MB"
