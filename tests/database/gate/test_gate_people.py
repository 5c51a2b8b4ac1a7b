"""What each person adds to each group: discreet._people finds what nested SQL finds, or leaves it to that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from random import Random

import psycopg
import pytest
from psycopg import sql
from tests.corpus.sample import protection
from tests.database.gate.conftest import Asker
from tests.database.gate.exact import SEED, exact_totals, planned
from tests.databases import Connection, Database, MakeRole, Row

from discreet.gate.measurements import Quantity
from discreet.gate.neighbours import excess, numbers_moved
from discreet.gate.plan import Plan
from discreet.gate.run import statements
from discreet.gate.schema import Column, Dataset, Relation, Schema

TEXTS = [
    "a",
    "b",
    "a|b",
    "A",
    "",
    " ",
    "it's",
    'say "ä"',
    "back\\slash",
    "日本語",
    "\U0001f600",
    "line\nbreak\t",
    "x" * 3000,
]
VALUES: dict[str, Callable[[Random], str]] = {
    "text": lambda random: random.choice(TEXTS),
    "character(5)": lambda random: random.choice(["a", "a  ", "abcde", ""]),
    "integer": lambda random: str(random.randint(-2, 3)),
    "numeric": lambda random: random.choice(["1", "1.0", "1.00", "-0.5", "NaN", "Infinity"]),
    "double precision": lambda random: random.choice(["0", "-0", "0.1", "NaN", "-Infinity", "1e300"]),
    "boolean": lambda random: random.choice(["true", "false"]),
    "date": lambda random: random.choice(["2024-02-29", "infinity", "0044-03-15 BC"]),
    "timestamp with time zone": lambda random: random.choice(["2024-02-29 12:00+03", "2024-02-29 09:00+00"]),
    "uuid": lambda random: f"00000000-0000-0000-0000-00000000000{random.randint(1, 2)}",
    "interval": lambda random: random.choice(["1 day", "24 hours"]),
}
KEYS = {f"k{n}": type_name for n, type_name in enumerate(VALUES)}
NUMBERS = {"i": ("integer", -40, 1000), "f": ("double precision", -1, 1), "n": ("numeric", 0, 10**15)}
# what equal persons are written as in one way only, and what not
UNITS = {
    "smallint": lambda n: str(n - 3),
    "integer": lambda n: str(2**31 - 1 - n),
    "bigint": lambda n: str(-(2**63) + n),
    "text": lambda n: "person " * (n % 3 * 300) + str(n),
    "character varying": lambda n: f"'{n}'",
    "name": lambda n: f"person {n}",
    "uuid": lambda n: f"00000000-0000-0000-0000-0000000000{n:02}",
    "date": lambda n: f"2024-01-{n + 1:02}",
    "timestamp with time zone": lambda n: f"2024-01-{n + 1:02} 00:00+00",
    "oid": lambda n: str(2**32 - 1 - n),
    "bytea": lambda n: f"\\x00{n:02}",
}
WRITTEN_IN_SEVERAL_WAYS = {
    "numeric": lambda n: f"{n}.{'0' * n}",
    "double precision": lambda n: "-0" if n == 0 else str(n),
    "character(20)": lambda n: f"{n} ",
    "interval": lambda n: f"{24 * n} hours",
    'text COLLATE "whatever case"': lambda n: f"person {n}",
}
ANY_CASE = """
    CREATE COLLATION "whatever case" (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
"""
PEOPLE, MOST_ROWS = 20, 12
AGGREGATES = [
    "count(*)", "count(t.k0)", "count(t.pair)", "count(DISTINCT t.u)", "sum(t.i)", "avg(t.f)", "variance(t.i)",
    "stddev(t.n)", "sum(t.n - t.i)", "count(*) FILTER (WHERE t.i > 0)", "avg(t.i) FILTER (WHERE t.k5)",
    "count(DISTINCT t.u) FILTER (WHERE t.k0 = 'a')",
]  # fmt: skip


class Visits:
    """A table where people have several rows each, and the questions about it."""

    def __init__(self, connection: Connection, unit_type: str, unit: Callable[[int], str], random: Random) -> None:
        self.connection, self.random = connection, random
        connection.execute(ANY_CASE)
        numbers = {name: kind for name, (kind, _, _) in NUMBERS.items()}
        self.columns = {"u": unit_type, "pair": "pair", **numbers, **KEYS}
        declared = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        connection.execute(f"CREATE TYPE pair AS (a int, b int); CREATE TABLE visit ({declared})".encode())
        rows = [self.row(unit(n)) for n in range(PEOPLE) for _ in range(random.randint(0, MOST_ROWS))]
        rows += [self.row(unit(0)) for _ in range(100)] + [self.row(None) for _ in range(5)]
        random.shuffle(rows)
        with connection.cursor() as cursor:
            marks = ", ".join(f"%s::{kind.split(' COLLATE')[0]}" for kind in self.columns.values())
            cursor.executemany(f"INSERT INTO visit VALUES ({marks})".encode(), rows)

    def row(self, unit: str | None) -> list[str | None]:
        random = self.random
        numbers = [random.choice([str(random.randint(low, high)), "-7", "1000000", "0.3"][: 3 if name == "i" else 4])
                   for name, (_, low, high) in NUMBERS.items()]  # fmt: skip
        rest = ["(,)", *numbers, *(VALUES[kind](random) for kind in KEYS.values())]
        return [unit, *(None if random.random() < 0.15 else value for value in rest)]

    def schema(self, max_groups: int, max_rows: int, max_total_rows: int | None = None) -> Schema:
        columns = {"u": Column("u", self.columns["u"].split(" COLLATE")[0], identifies=True)}
        columns |= {
            name: Column(name, kind, (Fraction(low), Fraction(high))) for name, (kind, low, high) in NUMBERS.items()
        }
        columns |= {name: Column(name, kind.removesuffix("(5)")) for name, kind in KEYS.items()}
        columns["pair"] = Column("pair", "pair")
        limits = {"max_groups": max_groups, "max_rows": max_rows, "max_total_rows": max_total_rows}
        kept = protection("people", "u", False, **limits)
        visit = Relation("public", "visit", columns, kept)
        return Schema({(None, "visit"): visit}, {"people": Dataset("people", "pure", "unbounded", Fraction(1, 10**6))})

    def question(self) -> Plan:
        keys = self.random.sample(list(KEYS), self.random.choice([0, 1, 1, 2, 3]))
        listed = ", ".join([f"t.{key}" for key in keys] + self.random.sample(AGGREGATES, self.random.randint(1, 4)))
        grouping = f" GROUP BY {', '.join(f't.{key}' for key in keys)}" if keys else ""
        limits = (self.random.choice([1, 2, 3, 1000]), self.random.choice([1, 2, 5, 1000]))
        limits += (self.random.choice([None, None, 1, 2, 3, 7, 40]),)  # type: ignore[assignment]
        plan = planned(f"SELECT {listed} FROM visit t WHERE t.i IS DISTINCT FROM 3{grouping}", self.schema(*limits))
        assert plan is not None
        return plan

    def totals(self, way: str) -> dict[Row, list[int]]:
        """Numbers by texts of keys; without a group there are none, which nested SQL says with zeros."""
        rows = self.connection.execute(way.encode()).fetchall()
        found = {tuple(v for v in row if isinstance(v, str | None)): numbers_of(row) for row in rows}
        assert len(found) == len(rows)
        return {} if found == {(): [0] * len(found.get((), []))} else found


def numbers_of(row: Row) -> list[int]:
    return [int(value) for value in row if value is not None and not isinstance(value, str)]


def both_ways(plan: Plan) -> tuple[str, str]:
    """Of the statement that has several: what the people are counted with."""
    ((one_pass, _, nested),) = (s.ways for s in statements(plan, plan.grouping.sets[0], SEED) if len(s.ways) == 3)
    return one_pass, nested


@pytest.mark.parametrize("unit_type", UNITS)
def test_one_pass_finds_what_nested_sql_finds(database: Database, more: bool, unit_type: str) -> None:
    visits = Visits(database.connect(), unit_type, UNITS[unit_type], Random(unit_type))
    cut = cut_in_all = 0
    for _ in range(1000 if more else 50):
        plan = visits.question()
        one_pass, nested = both_ways(plan)
        assert visits.totals(one_pass) == visits.totals(nested), nested
        cut += plan.source.limits.max_groups < 3 and bool(plan.grouping.keys)
        cut_in_all += "rows_of_p" in nested
    assert min(cut, cut_in_all) > 10


# persons with names of hundreds of bytes, and numbers with many aggregates: they fill memory with few rows
HEAVY = {
    "text": ("repeat('person ', 90) || mod(n * 7919, 6007)", ["count(*)", "sum(t.i)"]),
    "integer": ("mod(n * 7919, 6007)", [f"variance(t.i) FILTER (WHERE t.f > {n})" for n in range(15)] + ["avg(t.n)"]),
}


@pytest.mark.parametrize("limits", [(1000, 1000), (2, 1), (3, 2, 4)], ids=str)
@pytest.mark.parametrize("unit_type", HEAVY)
def test_what_is_merged_split_and_written_to_a_file_is_the_same(
    database: Database, unit_type: str, limits: tuple[int, ...]
) -> None:
    visits = Visits(database.connect(), unit_type, UNITS[unit_type], Random(unit_type))
    unit, aggregates = HEAVY[unit_type]
    # rows of a person come together, as in a table that is sorted by them, or apart; some are repeated
    visits.connection.execute(
        f"INSERT INTO visit (u, i, f, n, k0, k2) SELECT {unit}, mod(n, 997), mod(n, 13), mod(n, 11) / 10.0,"
        " 'place ' || mod(n * n, 23), mod(n, 7) FROM generate_series(1, 30000) n, generate_series(1, 2)".encode()
    )
    visits.connection.execute("SET max_parallel_workers_per_gather = 0; SET work_mem = '1GB'")
    question = f"SELECT t.k0, t.k2, {', '.join(aggregates)} FROM visit t GROUP BY t.k0, t.k2"
    plan = planned(question, visits.schema(*limits))
    assert plan is not None
    one_pass, nested = both_ways(plan)
    expected = visits.totals(nested)
    assert len(expected) > 100
    assert visits.totals(one_pass) == expected
    visits.connection.execute("SET discreet.people_memory = '64kB'")
    assert visits.totals(one_pass) == expected
    # a worker has no file that its leader could read: the rows are read again by one process
    visits.connection.execute(
        "ANALYZE visit; SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;"
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
    )
    alone = one_pass.replace("discreet._people(", "discreet._people_alone(")
    assert "Partial Aggregate" not in str(visits.connection.execute(f"EXPLAIN {alone}".encode()).fetchall())
    assert visits.totals(alone) == expected
    # it was written to a file
    visits.connection.execute("SET max_parallel_workers_per_gather = 0; SET temp_file_limit = 0")
    for way in (one_pass, alone):
        with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="more memory than"):
            visits.totals(way)


@pytest.mark.parametrize("leader", ["on", "off"])
@pytest.mark.parametrize("unit_type", ["integer", "text", "uuid"])
def test_workers_find_together_what_nested_sql_finds(database: Database, unit_type: str, leader: str) -> None:
    visits = Visits(database.connect(), unit_type, UNITS[unit_type], Random(unit_type))
    visits.connection.execute("INSERT INTO visit SELECT visit.* FROM visit, generate_series(1, 30); ANALYZE visit")
    parallel = (
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
        f"SET max_parallel_workers_per_gather = 3; SET parallel_leader_participation = {leader}"
    )
    for _ in range(15):
        one_pass, nested = both_ways(visits.question())
        visits.connection.execute("RESET ALL")
        found = visits.totals(nested)
        visits.connection.execute(parallel)
        lines = visits.connection.execute(f"EXPLAIN (ANALYZE, TIMING OFF) {one_pass}".encode()).fetchall()
        assert "Partial Aggregate" in str(lines)
        assert "Workers Launched: 3" in str(lines)
        assert visits.totals(one_pass) == found, nested


@pytest.mark.parametrize("unit_type", WRITTEN_IN_SEVERAL_WAYS)
def test_persons_that_are_written_in_several_ways_are_left_to_nested_sql(database: Database, unit_type: str) -> None:
    visits = Visits(database.connect(), unit_type, WRITTEN_IN_SEVERAL_WAYS[unit_type], Random(unit_type))
    one_pass, nested = both_ways(visits.question())
    assert visits.totals(nested)
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="written differently"):
        visits.totals(one_pass)


def test_a_person_of_many_digits_is_answered_through_the_gate(database: Database, make_role: MakeRole) -> None:
    """1, 1.0 and 1.00 are one person. Noise of epsilon 100 is not 0 with probability below 1e-40."""
    admin, role = database.connect(), make_role("asker", "discreet_analyst")
    admin.execute(
        "CREATE TABLE digit (who numeric, x int);"
        "INSERT INTO digit SELECT (n || '.' || repeat('0', m))::numeric, n"
        " FROM generate_series(1, 30) n, generate_series(0, 2) m;"
        "SELECT discreet.create_dataset('people', 1000);"
        "SELECT discreet.protect('digit', 'who', 'people', max_rows => 1)"
    )
    admin.execute("SELECT discreet.grant_budget('people', %s, 1000)", [role])
    asker = Asker(database, role)
    assert admin.execute("SELECT count(DISTINCT who::text) FROM digit").fetchone() == (90,)
    assert asker.json("SELECT count(DISTINCT who) AS n FROM digit", 100) == [{"n": 30}]
    assert asker.json("SELECT count(*) AS n FROM digit", 100) == [{"n": 30}]


def test_little_memory_changes_no_answer(asker: Asker) -> None:
    """Noise of epsilon 100 is not 0 with probability below 1e-40."""
    question = "SELECT count(DISTINCT patient_id) AS n FROM clinic.visit WHERE ward = 'Oncology'"
    truth = asker.truth(question)
    asker.admin.execute(sql.SQL("ALTER ROLE {} SET discreet.people_memory = '64kB'").format(sql.Identifier(asker.role)))
    try:
        poor = Asker(asker.database, asker.role)
        assert poor.truth(f"SELECT setconfig FROM pg_db_role_setting WHERE setrole = '{asker.role}'::regrole") == [
            (["discreet.people_memory=64kB"],)
        ]
        assert poor.json(question, 100) == [{"n": truth[0][0]}] == asker.json(question, 100, fresh=True)
    finally:
        asker.admin.execute(sql.SQL("ALTER ROLE {} RESET ALL").format(sql.Identifier(asker.role)))


MANY_ROWS = (
    "SELECT discreet._people({}, 1, 1, 1, 1, 'R', 1::int8, n % 2) FROM (SELECT generate_series(1, 1000000000) n) r"
)


PEAK = "SELECT pg_size_bytes(substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s*(\\d+ kB)'))"
MILLIONS_OF_PEOPLE = "SELECT discreet._people(n, 1, 2, 1, 1, 'R', 1::int8, n % 2) FROM generate_series(1, 4000000) n"


def test_people_beyond_the_memory_go_to_a_file(admin: Connection) -> None:
    """Four million cells of 16 bytes, in a memory of 16 MB."""
    admin.execute("SET discreet.people_memory = '16MB'; SET work_mem = '64kB'")
    admin.execute("SELECT discreet._people(1, 1, 1, 1, 1, 'R', 1::int8)")
    ((before,),) = admin.execute(PEAK).fetchall()
    ((found,),) = admin.execute(MILLIONS_OF_PEOPLE).fetchall()
    ((after,),) = admin.execute(PEAK).fetchall()
    assert found == '[[["1"], [2000000, 2000000, 0, 0]], [["0"], [2000000, 2000000, 0, 0]]]'
    assert int(str(after)) - int(str(before)) < 32 * 2**20


def test_no_memory_and_no_file_leave_it_to_nested_sql(admin: Connection) -> None:
    """As it is where rows hold unsealed values: sealed_spills.c gives temporary files no room."""
    admin.execute("SET discreet.people_memory = '16MB'; SET temp_file_limit = 0; SET work_mem = '1GB'")
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="more memory than"):
        admin.execute(MILLIONS_OF_PEOPLE)


def test_a_file_that_may_not_grow_ends_the_question(admin: Connection) -> None:
    admin.execute("SET discreet.people_memory = '16MB'; SET temp_file_limit = '1MB'; SET work_mem = '1GB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        admin.execute(MILLIONS_OF_PEOPLE)
    admin.execute("RESET temp_file_limit")
    assert "2000000" in str(admin.execute(MILLIONS_OF_PEOPLE).fetchone())
    assert admin.execute("SELECT count(*) FROM pg_ls_tmpdir()").fetchone() == (0,)


def test_no_file_is_left_of_a_question_that_is_not_read_to_its_end(database: Database) -> None:
    asking = database.connect(autocommit=False)
    asking.execute("SET discreet.people_memory = '16MB'; SET work_mem = '1GB'")
    rows = MILLIONS_OF_PEOPLE.replace("SELECT", "SELECT p,", 1) + ", generate_series(1, 2) p GROUP BY p"
    asking.execute("DECLARE answer CURSOR FOR " + rows)
    assert asking.execute("FETCH 1 FROM answer").fetchall()
    asking.execute("CLOSE answer")
    assert asking.execute("SELECT count(*) FROM pg_ls_tmpdir()").fetchone() == (0,)
    asking.commit()


@pytest.mark.parametrize("keys", ["n", "n, n"])
def test_choosing_among_many_groups_takes_no_more_memory(admin: Connection, keys: str) -> None:
    """Of a few people in half a million groups, who may be in one each."""
    people = (
        f"SELECT length(discreet._people(n % 10, 1, 1, 1, 1, 'R', 1::int8, {keys})) FROM generate_series(1, 500000) n"
    )
    used = "SELECT pg_size_bytes(substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s*(\\d+ kB)'))"
    admin.execute("SET discreet.people_memory = '256MB'; SELECT length(discreet._people(1, 1, 1, 1, 1, 'R', 1::int8))")
    admin.execute(people)
    ((peak,),) = admin.execute(used).fetchall()
    assert int(str(peak)) < 350 * 2**20


def test_an_asker_cannot_set_the_memory(asker: Asker) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        asker.connection.execute("SET discreet.people_memory = '1TB'")


@pytest.mark.parametrize(("values", "kind"), [([2**62] * 2, "S"), ([-(2**62)] * 3, "S"), ([2**63 - 1] * 3, "Q")])
def test_sums_beyond_their_integers_are_left_to_nested_sql(admin: Connection, values: list[int], kind: str) -> None:
    rows = "SELECT discreet._people(1, 1, 1, 1, 1, %s, n) FROM unnest(%s::int8[]) n"
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="beyond its integers"):
        admin.execute(rows, [kind, values])


def test_the_largest_numbers_of_one_person_are_exact(admin: Connection) -> None:
    """A third of 2^63 - 1, of its square, and of the smallest number, which is cut towards zero."""
    people = "SELECT discreet._people(u, 1, 1, 1, 1, 'Q', n)::jsonb FROM unnest(%s::int[], %s::int8[]) AS r(u, n)"
    largest = 2**63 - 1
    ((found,),) = admin.execute(people, [[1, 1, 1, 2, 2], [largest, 0, 0, 1 - largest, -1]]).fetchall()
    assert found == [[[], [2, 2, largest // 3 - largest // 2, largest**2 // 3 + ((1 - largest) ** 2 + 1) // 2]]]


def test_no_rows_give_no_groups(admin: Connection) -> None:
    assert admin.execute("SELECT discreet._people(1, 1, 1, 1, 1, 'R', 1::int8) WHERE false").fetchone() == ("[]",)
    assert admin.execute("SELECT discreet._people(NULL::int, 1, 1, 1, 1, 'R', 1::int8, 2)").fetchone() == ("[]",)


def test_a_group_in_which_nobody_counts_is_not_there(admin: Connection) -> None:
    """Else a person in many groups would show that each of them exists."""
    people = (
        "SELECT jsonb_array_length(discreet._people(1, %s, 2, 1, 2, 'R', 1::int8, n)::jsonb)"
        " FROM generate_series(1, 50) n"
    )
    assert [admin.execute(people, [seed]).fetchone() for seed in range(3)] == [(2,)] * 3


def test_another_seed_chooses_other_groups(admin: Connection) -> None:
    """Ten seeds choose the same of 1000 groups with probability 1e-27."""
    people = "SELECT discreet._people(1, %s, 1, 1, 1, 'R', 1::int8, n) FROM generate_series(1, 1000) n"
    assert len({admin.execute(people, [seed]).fetchone() for seed in range(10)}) > 1


def test_known_categories_within_max_groups_are_not_ranked(database: Database) -> None:
    visits = Visits(database.connect(), "integer", UNITS["integer"], Random(1))
    questions = {
        groups: planned("SELECT k5, count(*) FROM visit GROUP BY k5", visits.schema(groups, 1)) for groups in (2, 3)
    }
    # two categories, and NULL
    assert {groups: "row_number" in both_ways(plan)[1] for groups, plan in questions.items() if plan} == {
        2: True,
        3: False,
    }


def test_a_cancelled_question_ends_and_the_session_goes_on(database: Database) -> None:
    asking, watching = database.connect(), database.connect()
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            asking.execute(MANY_ROWS.format("n % 10"))
        except psycopg.Error as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    active = "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%%_people%%' AND pid = %s"
    while thread.is_alive() and not watching.execute(active, [asking.info.backend_pid]).fetchall():
        pass
    asking.cancel()
    thread.join()
    assert [type(error) for error in errors] == [psycopg.errors.QueryCanceled]
    assert asking.execute("SELECT discreet._people(1, 1, 1, 1, 1, 'R', 1::int8)").fetchone() == (
        "[[[], [1, 1, 0, 0]]]",
    )


@pytest.mark.parametrize("way", [0, 1], ids=["one pass", "nested SQL"])
def test_not_everybody_keeps_the_same_groups(database: Database, way: int) -> None:
    """A thousand people in ten groups each, of which they keep two: all groups have people left."""
    admin = database.connect()
    admin.execute("CREATE TABLE visit (person int, kind int)")
    admin.execute("INSERT INTO visit SELECT p, k FROM generate_series(1, 1000) p, generate_series(0, 9) k")
    one_pass = "SELECT discreet._people(person, 5::int8, 2, 1, 2, 'R', 1::int8, kind) AS found FROM visit"
    secret = "hashtextextended(kind::text, hash_record_extended(ROW(person), 5))"
    placed = f"SELECT *, row_number() OVER (PARTITION BY person ORDER BY {secret}) AS place FROM visit"
    ways = (
        f"SELECT (g->1->0)::int FROM ({one_pass}) f, jsonb_array_elements(found::jsonb) AS g",
        f"SELECT count(*)::int FROM ({placed}) r WHERE place <= 2 GROUP BY kind",
    )
    left = [row[0] for row in admin.execute(ways[way]).fetchall()]
    assert (len(left), sum(left)) == (10, 2000)
    # each group keeps a fifth of a thousand people; six deviations of 12.6
    assert all(120 < people < 280 for people in left)


# -- a bound on the rows of all groups together


def test_rows_count_in_the_order_of_the_groups_until_all_are_used(admin: Connection) -> None:
    """Four groups of five rows, at most three in each and seven in all: 3, 3, 1 and none, in an order of the seed.

    Somebody of whom nothing is left still is a person of the group.
    """
    rows = "SELECT mod(n, 4) AS kind FROM generate_series(1, 20) n"
    people = f"SELECT discreet._people(1, %s, 4, 3, 7, 'RQ', 1::int8, 10::int8, kind)::jsonb FROM ({rows}) r"
    orders = set()
    for seed in range(20):
        ((found,),) = admin.execute(people, [seed]).fetchall()
        assert isinstance(found, list)
        assert [numbers for _, numbers, _ in found] == [[1, squares // 100, 0, 0] for _, _, (*_, squares) in found]
        assert [total for _, _, total in found] == [[1, r, 10 * r, 100 * r] for _, (_, r, *_), _ in found]
        counted = {tuple(key): numbers[1] for key, numbers, _ in found}
        assert sorted(counted.values()) == [0, 1, 3, 3]
        orders.add(tuple(sorted(counted.items())))
    # twelve ways; that twenty seeds find fewer than four of them has a chance below 1e-7
    assert len(orders) > 3


def test_every_subject_has_rows_of_its_own(admin: Connection) -> None:
    """Who has used up all rows of one aggregate still counts in another, which sees other rows."""
    people = (
        "SELECT discreet._people(1, 5, 9, 2, 2, 'RR', CASE WHEN k < 3 THEN 1::int8 END,"
        " CASE WHEN k > 6 THEN 1::int8 END, k)::jsonb FROM generate_series(1, 9) k, generate_series(1, 4)"
    )
    ((found,),) = admin.execute(people).fetchall()
    assert isinstance(found, list)
    rows = {int(key[0]): (first[1], second[1]) for key, first, second in found}
    assert sum(first for first, _ in rows.values()) == sum(second for _, second in rows.values()) == 2
    assert all(first == 0 or key < 3 for key, (first, _) in rows.items())


@pytest.mark.parametrize("limits", [(20, 24, 24), (3, 5, 7), (20, 2, 30), (20, 1, 5), (1000, 1000, 1)])
def test_one_person_with_thousands_of_rows_moves_all_groups_by_no_more_than_planned(
    database: Database, limits: tuple[int, int, int]
) -> None:
    visits = Visits(database.connect(), "integer", UNITS["integer"], Random(2))
    heavy = UNITS["integer"](0)  # type: ignore[no-untyped-call]
    visits.connection.execute(
        "INSERT INTO visit (u, i, f, n, k0, k2) SELECT %s::int, n, n / 1000.0, n, 'place ' || mod(n, 30), mod(n, 7)"
        " FROM generate_series(1, 4000) n",
        [heavy],
    )
    asked = [
        "SELECT t.k0, count(*), sum(t.i), avg(t.f), variance(t.i), count(DISTINCT t.u) FROM visit t GROUP BY t.k0",
        "SELECT t.k0, t.k2, count(t.n), sum(t.i) FILTER (WHERE t.i > 500) FROM visit t GROUP BY t.k0, t.k2",
        "SELECT t.k2, count(DISTINCT t.n), percentile_cont(0.5) WITHIN GROUP (ORDER BY t.i) FROM visit t GROUP BY t.k2",
        "SELECT count(*), sum(t.n), max(t.i) FROM visit t",
    ]
    plans = [planned(question, visits.schema(*limits)) for question in asked]
    with_all = [exact_totals(visits.connection, plan) for plan in plans if plan]
    visits.connection.execute("DELETE FROM visit WHERE u = %s::int", [heavy])
    without = [exact_totals(visits.connection, plan) for plan in plans if plan]
    for plan, (here,), (there,) in zip(plans, with_all, without, strict=True):
        assert plan is not None
        assert excess(plan, here, there) == []
    # the bound is used up, and no more than that
    counted = plans[0].measurements if plans[0] else ()
    (rows,) = (m for m in counted if m.quantity is Quantity.ROWS)
    moved = numbers_moved(with_all[0][0].numbers[rows], without[0][0].numbers[rows])
    assert sum(moved.values()) == min(limits[2], limits[0] * limits[1])
