"""The sample data are the same everywhere, hold together, and have the oddities the demonstrations need."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from statistics import mean, median

import pytest
from demo import sample_data

SCRIPT = Path(sample_data.__file__)
DEFAULT_SHA256 = "488cedff6196d62cc4d0fdcb971eb087f1b0655376b5866ba9179b2aeecfbfe4"

Row = dict[str, str | None]
Tables = dict[str, list[Row]]


def unescape(field: str) -> str | None:
    """What COPY reads, written after its documentation and not after the code under test."""
    if field == "\\N":
        return None
    letters = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
    return re.sub(r"\\(.)", lambda match: letters.get(match[1], match[1]), field)


def read(output: str) -> Tables:
    tables: Tables = {}
    for table, columns, rows in re.findall(
        r"^COPY (\S+) \((.*?)\) FROM stdin;\n(.*?)^\\\.$", output, re.MULTILINE | re.DOTALL
    ):
        names = columns.split(", ")
        tables[table] = [
            dict(zip(names, map(unescape, line.split("\t")), strict=True))
            for line in rows.removesuffix("\n").split("\n")
        ]
    return tables


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    # Isolated and without site-packages: nothing but the standard library is there.
    return subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture(scope="module")
def output() -> str:
    return "".join(sample_data.script())


@pytest.fixture(scope="module")
def tables(output: str) -> Tables:
    return read(output)


@pytest.fixture(scope="module")
def many_employees() -> list[sample_data.Employee]:
    return list(sample_data.employees(20_000))


@pytest.fixture(scope="module")
def persons() -> list[sample_data.Person]:
    return list(sample_data.persons(sample_data.PERSONS))


def column(tables: Tables, table: str, name: str) -> list[str | None]:
    return [row[name] for row in tables[table]]


def test_two_runs_in_different_surroundings_print_the_same_bytes() -> None:
    # Isolated mode ignores PYTHONHASHSEED, so the two processes differ in hash order as well.
    one = run("--size", "0.1", LC_ALL="C", TZ="Pacific/Auckland")
    other = run("--size", "0.1", LC_ALL="C.UTF-8", TZ="America/Los_Angeles")
    assert one.returncode == other.returncode == 0
    assert one.stderr == other.stderr == b""
    assert one.stdout == other.stdout


def test_default_output_is_the_known_one(output: str) -> None:
    assert hashlib.sha256(output.encode("utf-8")).hexdigest() == DEFAULT_SHA256


def test_command_prints_the_script_in_utf8(output: str) -> None:
    assert run(LC_ALL="C").stdout == output.encode("utf-8")


def test_row_counts(tables: Tables) -> None:
    counts = {table: len(rows) for table, rows in tables.items()}
    visits = counts.pop("clinic.visit")
    assert counts == {"hr.employee": 2_000, "clinic.patient": 5_000, "census.person": 50_000}
    assert 15_000 < visits < 40_000


@pytest.mark.parametrize(("size", "people"), [("0.01", (20, 50, 500)), ("0.1", (200, 500, 5_000))])
def test_size_scales_the_number_of_people(size: str, people: tuple[int, int, int]) -> None:
    tables = read("".join(sample_data.script(Fraction(size))))
    assert tuple(len(tables[each]) for each in ("hr.employee", "clinic.patient", "census.person")) == people


def test_a_larger_company_begins_like_a_smaller_one(many_employees: list[sample_data.Employee]) -> None:
    assert many_employees[:2_000] == list(sample_data.employees(2_000))


@pytest.mark.parametrize("size", ["0", "0.001", "-1", "1001", "nan", "inf", "1/0", "many"])
def test_a_size_that_makes_no_sense_is_refused(size: str) -> None:
    result = run(f"--size={size}")
    assert result.returncode == 2
    assert result.stdout == b""
    assert b"--size" in result.stderr
    assert b"Traceback" not in result.stderr


def test_everything_but_analyze_is_one_transaction(output: str) -> None:
    begin, commit, analyze = (output.index(each) for each in ("\nBEGIN;\n", "\nCOMMIT;\n", "\nANALYZE "))
    assert begin < output.index("\nCREATE SCHEMA") < output.index("\nCOPY ") < commit < analyze
    assert output.rindex("\n\\.\n") < commit
    assert output.startswith("\\set ON_ERROR_STOP on\n")


def test_tables_are_dropped_only_on_demand(output: str) -> None:
    assert "DROP" not in output
    replacing = "".join(sample_data.script(replace=True))
    dropped = re.search(r"^DROP TABLE IF EXISTS (.*);\n\n", replacing, re.MULTILINE)
    assert dropped
    assert set(dropped[1].split(", ")) == set(read(output))
    assert replacing.replace(dropped[0], "") == output


def test_every_table_has_a_comment_of_one_sentence(output: str) -> None:
    comments = dict(re.findall(r"^COMMENT ON TABLE (\S+) IS '([^.']+\.)';$", output, re.MULTILINE))
    assert set(comments) == set(read(output))


def test_primary_keys_are_unique(tables: Tables) -> None:
    for table, rows in tables.items():
        assert len({row["id"] for row in rows}) == len(rows), table


def test_every_visit_has_a_patient(tables: Tables) -> None:
    assert set(column(tables, "clinic.visit", "patient_id")) <= set(column(tables, "clinic.patient", "id"))


@pytest.mark.parametrize("count", [20, 200, 2_000, 20_000])
def test_there_is_exactly_one_ceo(many_employees: list[sample_data.Employee], count: int) -> None:
    assert sum(row.position == "CEO" for row in many_employees[:count]) == 1


@pytest.mark.parametrize("count", [20, 200, 2_000, 20_000])
def test_alice_is_alone_with_her_gender_birth_and_zip(many_employees: list[sample_data.Employee], count: int) -> None:
    rows = many_employees[:count]
    (alice,) = (row for row in rows if row.name == "Alice Adams")
    assert [row for row in rows if row[2:5] == alice[2:5]] == [alice]


def test_someone_drawn_like_alice_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    double = list(sample_data.employees(50))[-1]
    alice = sample_data.ALICE._replace(gender=double.gender, dob=double.dob, zip=double.zip)
    monkeypatch.setattr(sample_data, "ALICE", alice)
    rows = list(sample_data.employees(50))
    assert [row.id for row in rows] == list(range(1, 51))
    assert [row for row in rows if row[2:5] == alice[2:5]] == [alice]


def test_alice_shares_her_zip_and_position_with_others(tables: Tables) -> None:
    for name in ("gender", "zip", "dept", "position"):
        assert column(tables, "hr.employee", name).count(getattr(sample_data.ALICE, name)) > 50


def test_employees_were_hired_after_their_18th_birthday(many_employees: list[sample_data.Employee]) -> None:
    for row in many_employees:
        assert sample_data.birthday(row.dob, 18) < row.hired <= sample_data.TODAY


def test_those_born_on_a_leap_day_come_of_age_in_march() -> None:
    assert sample_data.birthday(date(2004, 2, 29), 18) == date(2022, 3, 1)
    assert sample_data.birthday(date(2004, 2, 29), 20) == date(2024, 2, 29)


def test_salaries_follow_position_and_department() -> None:
    rows = list(sample_data.employees(2_000))

    def middle(**wanted: str) -> Decimal:
        return median(r.salary for r in rows if all(getattr(r, name) == v for name, v in wanted.items()))

    ranks = ["Assistant", "Specialist", "Senior specialist", "Team lead", "Manager", "Director", "CEO"]
    by_rank = [middle(position=rank) for rank in ranks]
    assert by_rank == sorted(by_rank)
    assert middle(position="Specialist", dept="Engineering") > middle(position="Specialist", dept="Support")
    assert mean(row.salary for row in rows) > median(row.salary for row in rows)


def test_some_names_are_not_ascii(tables: Tables) -> None:
    words = {word for name in column(tables, "hr.employee", "name") for word in (name or "").split()}
    assert {"Zoë", "Łukasz", "José", "山田", "O'Brien"} <= words


def test_some_but_few_zips_and_genders_are_missing(tables: Tables) -> None:
    for name in ("zip", "gender"):
        assert 10 < column(tables, "hr.employee", name).count(None) < 200


def test_diagnoses_are_skewed(tables: Tables) -> None:
    counts = sorted(Counter(column(tables, "clinic.patient", "diagnosis")).values())
    assert counts[-1] > 1_000
    assert sum(count < 10 for count in counts) >= 3


def test_diagnoses_depend_on_age_and_sex() -> None:
    rows = list(sample_data.patients(5_000))
    assert {row.sex for row in rows if row.diagnosis == "Pregnancy"} == {"F"}
    assert {row.sex for row in rows if row.diagnosis == "Prostate cancer"} == {"M"}
    assert min(row.age for row in rows if row.diagnosis == "Dementia") >= 70
    assert max(row.age for row in rows if row.diagnosis == "Otitis media") <= 10


def test_visits_are_skewed_and_one_patient_has_more_than_300(tables: Tables) -> None:
    visits = Counter(column(tables, "clinic.visit", "patient_id"))
    counts = [visits[id] for id in column(tables, "clinic.patient", "id")]
    assert sum(count > 300 for count in counts) == 1
    assert 5 <= sum(count >= 100 for count in counts) <= 50
    assert sum(count <= 6 for count in counts) > 0.8 * len(counts)
    assert counts.count(0) > 100


def test_households_are_small_and_share_a_district(persons: list[sample_data.Person]) -> None:
    places = defaultdict(list)
    for row in persons:
        places[row.household].append((row.region, row.district))
    assert {len(members) for members in places.values()} == set(range(1, 9))
    assert all(len(set(members)) == 1 for members in places.values())


def test_children_have_no_income_and_all_others_have_one(persons: list[sample_data.Person]) -> None:
    assert all((row.income is None) == (row.age < 18) for row in persons)


def test_incomes_are_skewed(persons: list[sample_data.Person]) -> None:
    incomes = [row.income for row in persons if row.income is not None]
    assert mean(incomes) > Decimal("1.2") * median(incomes)
    assert max(incomes) > 50 * median(incomes)


def test_numbers_fit_their_columns(tables: Tables) -> None:
    for table, name, limit in (
        ("hr.employee", "salary", 8),
        ("clinic.visit", "cost", 8),
        ("census.person", "income", 10),
    ):
        for value in column(tables, table, name):
            assert value is None or re.fullmatch(rf"\d{{1,{limit}}}\.\d\d", value)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("tab\there", "tab\\there"),
        ("back\\slash", "back\\\\slash"),
        ("line\nfeed\r", "line\\nfeed\\r"),
        ("\\N", "\\\\N"),
        ("\\.", "\\\\."),
        ("", ""),
        ("Łukasz O'Brien", "Łukasz O'Brien"),
        (None, "\\N"),
        (True, "t"),
        (False, "f"),
        (0, "0"),
        (Decimal("0.00"), "0.00"),
        (date(984, 5, 7), "0984-05-07"),
    ],
)
def test_a_value_is_written_as_copy_expects(value: sample_data.Value, field: str) -> None:
    assert sample_data.copy_field(value) == field


@pytest.mark.parametrize("text", ["a\tb", "\\", "\\\\t", "\\t", "\\N", "\\.", "\r\n", "\b\f\v", "山\t田"])
def test_what_copy_reads_is_what_was_written(text: str) -> None:
    field = sample_data.copy_field(text)
    assert not set(field) & set("\t\n\r")
    assert unescape(field) == text


def test_a_row_stays_on_its_line() -> None:
    block = list(sample_data.copy_block("t", ("a", "b"), [("x\ty", None), ("1\n2", True)]))
    assert block == ["\nCOPY t (a, b) FROM stdin;\n", "x\\ty\t\\N\n", "1\\n2\tt\n", "\\.\n"]


def test_a_reader_that_stops_early_gets_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(SCRIPT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
