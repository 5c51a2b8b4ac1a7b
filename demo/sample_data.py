"""Sample data: a company, a clinic and a census, all invented, as a script for psql.

    python3 demo/sample_data.py | psql

makes the tables of sample_schema.sql and fills them, in one transaction.  The output is the same, byte for
byte, on every run and machine: each table has its own seeded generator, of which only `random()` is used
(the one method whose sequence Python promises to keep), and everything else is integer or decimal
arithmetic, since the last digit of a libm function differs between machines.  Ages and dates count from a
fixed day.

Three people are there at every size: the one CEO (hr.employee 1); Alice Adams (hr.employee 7), whose gender,
date of birth and zip together fit no other person; and a dialysis patient (clinic.patient 13) with more than 300
visits.
"""

import argparse
import os
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")
Value = str | int | bool | Decimal | date | None
Weighted = Sequence[tuple[T, int]]

TODAY = date(2024, 12, 31)
FOUNDED = date(1991, 4, 2)

EMPLOYEES = 2_000
PATIENTS = 5_000
PERSONS = 50_000
SMALLEST = Fraction(1, 100)
LARGEST = Fraction(1000)


class Employee(NamedTuple):
    id: int
    name: str
    gender: str | None
    dob: date
    zip: str | None
    dept: str
    position: str
    salary: Decimal
    hired: date


class Patient(NamedTuple):
    id: int
    name: str
    zip: str
    age: int
    sex: str
    diagnosis: str
    insurer: str | None
    smoker: bool | None


class Visit(NamedTuple):
    id: int
    patient_id: int
    day: date
    ward: str
    cost: Decimal


class Person(NamedTuple):
    id: int
    region: str
    district: str
    age: int
    sex: str
    income: Decimal | None
    household: int


class Draws:
    """Random values from a seed, identical wherever `random.Random.random()` is."""

    # The decimal specification demands that exp is correctly rounded; math.exp need not be.
    _context = Context(prec=16)

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def below(self, bound: int) -> int:
        """Uniform in 0 .. bound - 1."""
        return int(self._random() * bound)

    def between(self, low: int, high: int) -> int:
        """Uniform in low .. high."""
        return low + self.below(high - low + 1)

    def chance(self, permille: int) -> bool:
        return self.below(1000) < permille

    def pick(self, values: Sequence[T]) -> T:
        return values[self.below(len(values))]

    def weighted(self, choices: Weighted[T]) -> T:
        """One of the values, each as often as its weight says."""
        rest = self.below(sum(weight for _, weight in choices))
        for value, weight in choices:
            rest -= weight
            if rest < 0:
                return value
        raise AssertionError("weights must be positive")

    def money(self, median: int, sigma: str) -> Decimal:
        """Close to lognormal, in cents; the normal is a sum of twelve uniforms, so never beyond six sigma."""
        thousandths = sum(self.below(1001) for _ in range(12)) - 6000
        normal = Decimal(thousandths) / 1000
        return (median * self._context.exp(normal * Decimal(sigma))).quantize(Decimal("0.01"))


class Origin(NamedTuple):
    female: tuple[str, ...]
    male: tuple[str, ...]
    family: tuple[str, ...]
    family_first: bool = False


ENGLISH = Origin(
    ("Mary", "Emma", "Grace", "Alice", "Hannah", "Ruth", "Olivia", "Susan", "Claire", "Joan", "Megan"),
    ("James", "John", "Peter", "Oliver", "Henry", "Samuel", "Daniel", "Mark", "Walter", "Ian", "Ryan"),
    ("Smith", "Johnson", "Brown", "Taylor", "Clark", "Walker", "Baker", "Hughes", "Carter", "Reed", "Ward",
     "Foster", "O'Brien", "O'Connor", "Murphy", "Bell", "Young", "Cooper", "Price", "Lee"),
)  # fmt: skip
SPANISH = Origin(
    ("María", "Lucía", "Inés", "Carmen", "Sofía", "Elena", "Begoña", "Rocío"),
    ("José", "Andrés", "Jesús", "Íñigo", "Luis", "Martín", "Ramón", "Diego"),
    ("García", "Muñoz", "Pérez", "López", "Núñez", "Ortiz", "Vázquez", "Ibáñez", "Torres", "Peña"),
)
EUROPEAN = Origin(
    ("Zoë", "Małgorzata", "Sørine", "Anaïs", "Hélène", "Käthe", "Žofie", "Agnieszka"),
    ("Łukasz", "Jürgen", "François", "Paweł", "Jiří", "Günther", "Noël", "Björn"),
    ("Müller", "Nowak", "Wójcik", "Lefèvre", "Weiß", "Schröder", "Dvořák", "Mazur", "Åström", "Zając"),
)
VIETNAMESE = Origin(
    ("Hương", "Lan", "Thảo", "Ngọc"),
    ("Dũng", "Tuấn", "Minh", "Đức"),
    ("Nguyễn", "Trần", "Phạm", "Lê", "Đặng"),
    family_first=True,
)
JAPANESE = Origin(
    ("花子", "美咲", "陽子", "さくら"),
    ("太郎", "健一", "翔太", "大輔"),
    ("山田", "佐藤", "鈴木", "高橋", "田中"),
    family_first=True,
)
AFRICAN_ARAB_INDIAN = Origin(
    ("Amina", "Ngozi", "Priya", "Fatima", "Lakshmi", "Zainab"),
    ("Chidi", "Arjun", "Omar", "Kwame", "Ravi", "Yusuf"),
    ("Okafor", "Mensah", "Patel", "Sharma", "Haddad", "Diallo", "Nair", "Abebe"),
)
ORIGINS: Weighted[Origin] = (
    (ENGLISH, 58),
    (SPANISH, 15),
    (EUROPEAN, 11),
    (AFRICAN_ARAB_INDIAN, 10),
    (VIETNAMESE, 3),
    (JAPANESE, 3),
)


def person_name(draws: Draws, female: bool) -> str:
    origin = draws.weighted(ORIGINS)
    given = draws.pick(origin.female if female else origin.male)
    family = draws.pick(origin.family)
    return f"{family} {given}" if origin.family_first else f"{given} {family}"


# Company and clinic share their neighbourhood, so that the two tables can be linked as an attacker would.
ZIPS: Weighted[str] = (
    ("02139", 17), ("02138", 15), ("02143", 12), ("02144", 11), ("02140", 10), ("02145", 9), ("02141", 7),
    ("02155", 6), ("02474", 4), ("02478", 3), ("02142", 2), ("02108", 2), ("01742", 1), ("01773", 1),
)  # fmt: skip


class Position(NamedTuple):
    title: str
    median_salary: int
    youngest: int


CHIEF = Position("CEO", 610_000, 48)
POSITIONS: Weighted[Position] = (
    (Position("Assistant", 41_000, 19), 27),
    (Position("Specialist", 58_000, 22), 38),
    (Position("Senior specialist", 79_000, 29), 20),
    (Position("Team lead", 93_000, 30), 9),
    (Position("Manager", 118_000, 33), 5),
    (Position("Director", 176_000, 40), 1),
)
DEPARTMENTS: Weighted[tuple[str, int]] = (  # name and pay in per cent
    (("Production", 88), 30),
    (("Engineering", 118), 20),
    (("Sales", 106), 17),
    (("Support", 84), 14),
    (("Finance", 110), 7),
    (("Research", 121), 6),
    (("Human resources", 93), 4),
    (("Legal", 129), 2),
)
ALICE = Employee(
    id=7,
    name="Alice Adams",
    gender="F",
    dob=date(1984, 5, 17),
    zip="02138",
    dept="Research",
    position="Senior specialist",
    salary=Decimal("98750.00"),
    hired=date(2012, 9, 3),
)


def birthday(dob: date, age: int) -> date:
    """The day on which that age is reached; those born on a leap day wait for 1 March."""
    try:
        return dob.replace(year=dob.year + age)
    except ValueError:
        return date(dob.year + age, 3, 1)


def employee(draws: Draws, id: int, position: Position, dept: str, pay: int) -> Employee:
    female = draws.chance(480)
    gender = draws.weighted((("F" if female else "M", 965), ("X", 10), (None, 25)))
    # The younger of two draws: there are fewer people shortly before retirement.
    age_in_days = min(draws.between(position.youngest * 366, 66 * 365) for _ in range(2))
    dob = TODAY - timedelta(days=age_in_days)
    earliest = max(birthday(dob, 18) + timedelta(days=1), FOUNDED)
    # Squared, because most have not been there for long.
    tenure = (TODAY - earliest).days * draws.below(1001) ** 2 // 1001**2
    median = position.median_salary * pay * (1000 + tenure // 30) // 100_000
    return Employee(
        id=id,
        name=person_name(draws, female),
        gender=gender,
        dob=dob,
        zip=None if draws.chance(30) else draws.weighted(ZIPS),
        dept=dept,
        position=position.title,
        salary=draws.money(median, "0.14"),
        hired=TODAY - timedelta(days=tenure),
    )


def looks_like_alice(row: Employee) -> bool:
    return (row.gender, row.dob, row.zip) == (ALICE.gender, ALICE.dob, ALICE.zip)


def employees(count: int) -> Iterator[Employee]:
    draws = Draws("hr.employee")
    for id in range(1, count + 1):
        if id == 1:
            yield employee(draws, id, CHIEF, "Executive", 100)
        elif id == ALICE.id:
            yield ALICE
        else:
            while True:
                position = draws.weighted(POSITIONS)
                dept, pay = draws.weighted(DEPARTMENTS)
                row = employee(draws, id, position, dept, pay)
                if not looks_like_alice(row):
                    break
            yield row


class Diagnosis(NamedTuple):
    name: str
    ward: str
    weight: int
    youngest: int = 0
    oldest: int = 99
    sex: str | None = None
    times_if_smoker: int = 1


DIAGNOSES = (
    Diagnosis("Hypertension", "Internal medicine", 2300, 35),
    Diagnosis("Respiratory infection", "General practice", 1700),
    Diagnosis("Back pain", "Orthopaedics", 1100, 18),
    Diagnosis("Type 2 diabetes", "Internal medicine", 900, 35),
    Diagnosis("Injury", "Surgery", 650),
    Diagnosis("Depression", "Psychiatry", 600, 14),
    Diagnosis("Asthma", "General practice", 500, 3, times_if_smoker=2),
    Diagnosis("Otitis media", "Paediatrics", 900, 0, 10),
    Diagnosis("Heart failure", "Cardiology", 700, 60, times_if_smoker=2),
    Diagnosis("Pregnancy", "Obstetrics", 700, 17, 45, "F"),
    Diagnosis("Migraine", "Neurology", 250, 12),
    Diagnosis("Osteoporosis", "Orthopaedics", 500, 55, sex="F"),
    Diagnosis("Prostate hyperplasia", "Urology", 600, 50, sex="M"),
    Diagnosis("COPD", "Internal medicine", 180, 45, times_if_smoker=6),
    Diagnosis("Dementia", "Neurology", 600, 70),
    Diagnosis("Breast cancer", "Oncology", 120, 30, sex="F"),
    Diagnosis("Breast cancer", "Oncology", 2, 40, sex="M"),
    Diagnosis("Prostate cancer", "Oncology", 160, 55, sex="M"),
    Diagnosis("Lung cancer", "Oncology", 15, 45, times_if_smoker=12),
    Diagnosis("Kidney failure", "Dialysis", 35, 30),
    Diagnosis("Alcohol dependence", "Psychiatry", 90, 18, times_if_smoker=2),
    Diagnosis("Epilepsy", "Neurology", 60),
    Diagnosis("HIV infection", "Internal medicine", 30, 18),
    Diagnosis("Schizophrenia", "Psychiatry", 30, 18),
    Diagnosis("Leukaemia", "Oncology", 14),
    Diagnosis("Haemophilia", "Internal medicine", 8, sex="M"),
    Diagnosis("Cystic fibrosis", "Paediatrics", 6, 0, 40),
    Diagnosis("Huntington disease", "Neurology", 4, 35),
    Diagnosis("Wilson disease", "Internal medicine", 3, 8, 50),
    Diagnosis("Fabry disease", "Internal medicine", 2, 10),
)
WARDS = {diagnosis.name: diagnosis.ward for diagnosis in DIAGNOSES}
AGE_BANDS: Weighted[tuple[int, int]] = (
    ((0, 17), 16),
    ((18, 39), 24),
    ((40, 64), 32),
    ((65, 84), 23),
    ((85, 99), 5),
)
INSURERS: Weighted[str | None] = (
    ("Commonwealth Mutual", 38),
    ("Harbor Health", 27),
    ("State Plan", 22),
    ("Charles River Care", 8),
    ("Seamen's Fund", 1),
    (None, 4),
)
DIALYSIS = Patient(13, "Tom Fielding", "02140", 57, "M", "Kidney failure", "State Plan", False)


def patients(count: int) -> Iterator[Patient]:
    draws = Draws("clinic.patient")
    for id in range(1, count + 1):
        if id == DIALYSIS.id:
            yield DIALYSIS
            continue
        age = draws.between(*draws.weighted(AGE_BANDS))
        sex = "F" if draws.chance(530) else "M"
        smoker = False if age < 14 else draws.weighted(((True, 18), (False, 79), (None, 3)))
        possible = [
            (each.name, each.weight * (each.times_if_smoker if smoker else 1))
            for each in DIAGNOSES
            if each.youngest <= age <= each.oldest and each.sex in (None, sex)
        ]
        yield Patient(
            id=id,
            name=person_name(draws, sex == "F"),
            zip=draws.weighted(ZIPS),
            age=age,
            sex=sex,
            diagnosis=draws.weighted(possible),
            insurer=draws.weighted(INSURERS),
            smoker=smoker,
        )


# How many visits in the two years before TODAY: for most a handful, for a few more than a hundred.
VISITS: Weighted[tuple[int, int]] = (
    ((0, 0), 130), ((1, 1), 220), ((2, 2), 190), ((3, 4), 200), ((5, 6), 110),
    ((7, 15), 100), ((16, 40), 40), ((41, 99), 8), ((100, 250), 2),
)  # fmt: skip
OTHER_WARDS: Weighted[str] = (("General practice", 5), ("Radiology", 4), ("Emergency", 3))
MEDIAN_COSTS = {
    "Cardiology": 420,
    "Dialysis": 310,
    "Emergency": 680,
    "General practice": 85,
    "Internal medicine": 160,
    "Neurology": 240,
    "Obstetrics": 210,
    "Oncology": 1450,
    "Orthopaedics": 190,
    "Paediatrics": 110,
    "Psychiatry": 150,
    "Radiology": 330,
    "Surgery": 920,
    "Urology": 220,
}
TWO_YEARS = 731


def visit_days(draws: Draws, patient: Patient) -> list[date]:
    if patient == DIALYSIS:
        days = [TODAY - timedelta(days=back) for back in reversed(range(TWO_YEARS))]
        return [day for day in days if day.weekday() in (0, 2, 4)]
    # Infants are visited after their birth only.
    window = min(TWO_YEARS, patient.age * 365 + 30)
    count = draws.between(*draws.weighted(VISITS))
    return sorted(TODAY - timedelta(days=draws.below(window)) for _ in range(count))


def visits(of: Iterable[Patient]) -> Iterator[Visit]:
    draws = Draws("clinic.visit")
    id = 0
    for patient in of:
        for day in visit_days(draws, patient):
            id += 1
            usual = patient == DIALYSIS or draws.chance(780)
            ward = WARDS[patient.diagnosis] if usual else draws.weighted(OTHER_WARDS)
            yield Visit(id, patient.id, day, ward, draws.money(MEDIAN_COSTS[ward], "0.55"))


class Region(NamedTuple):
    name: str
    median_income: int
    districts: Weighted[str]


REGIONS: Weighted[Region] = (
    (Region("Capital", 41_000, (("Old Town", 9), ("Harbour", 14), ("University", 8), ("Southgate", 17))), 38),
    (Region("Coast", 33_000, (("Saltmarsh", 10), ("Port Ellis", 16), ("Dunes", 4), ("Ferry Point", 3))), 24),
    (Region("Plains", 28_000, (("Millbrook", 11), ("Wheatley", 8), ("Crossroads", 9), ("Long Acre", 2))), 20),
    (Region("Lakes", 31_000, (("Northwater", 9), ("Heron Bay", 4), ("Pinewood", 6))), 12),
    (Region("Highlands", 25_000, (("Stonebridge", 7), ("Upper Glen", 3), ("Eagle Pass", 1))), 5),
    (Region("Islands", 24_000, (("Great Skerry", 20), ("Little Skerry", 4), ("Lighthouse", 1))), 1),
)
HOUSEHOLD_SIZES: Weighted[int] = ((1, 300), (2, 340), (3, 155), (4, 125), (5, 50), (6, 19), (7, 8), (8, 3))


def ages(draws: Draws, size: int) -> list[int]:
    """A household: someone who keeps it, perhaps a partner of like age, and children or, at times, elders."""
    keeper = draws.between(27, 58) if size > 2 else draws.between(*draws.weighted(AGE_BANDS[1:]))
    result = [keeper]
    if size > 1 and draws.chance(880):
        result.append(max(18, min(99, keeper + draws.between(-6, 6))))
    while len(result) < size:
        if draws.chance(70):
            result.append(min(99, keeper + draws.between(20, 38)))
        else:
            result.append(draws.between(max(0, keeper - 42), max(0, keeper - 18)))
    return result


def income(draws: Draws, age: int, median: int) -> Decimal | None:
    if age < 18:
        return None
    if draws.chance(60):
        return Decimal("0.00")
    if age < 25:
        median = median * 55 // 100
    elif age > 66:
        median = median * 70 // 100
    earned = draws.money(median, "0.65")
    return earned * draws.between(4, 40) if draws.chance(5) else earned


def persons(count: int) -> Iterator[Person]:
    draws = Draws("census.person")
    id = household = 0
    while id < count:
        household += 1
        region = draws.weighted(REGIONS)
        district = draws.weighted(region.districts)
        size = min(draws.weighted(HOUSEHOLD_SIZES), count - id)
        for age in ages(draws, size):
            id += 1
            # Women live longer.
            sex = "F" if draws.chance(490 if age < 70 else 590) else "M"
            yield Person(id, region.name, district, age, sex, income(draws, age, region.median_income), household)


ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_field(value: Value) -> str:
    """The value in the text format of COPY."""
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, str):
        return value.translate(ESCAPES)
    return str(value)


def copy_block(table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> Iterator[str]:
    yield f"\nCOPY {table} ({', '.join(columns)}) FROM stdin;\n"
    for row in rows:
        yield "\t".join(map(copy_field, row)) + "\n"
    yield "\\.\n"


def script(size: Fraction = Fraction(1), replace: bool = False) -> Iterator[str]:
    """Input for psql that makes all tables or, at the first error, none."""

    def people(count: int) -> int:
        return round(count * size)

    schema = Path(__file__).with_name("sample_schema.sql").read_text(encoding="utf-8")
    # Without ON_ERROR_STOP psql would go on and read the rows of a failed COPY as statements.
    yield "\\set ON_ERROR_STOP on\nBEGIN;\nSET LOCAL client_encoding = 'UTF8';\n\n"
    if replace:
        yield "DROP TABLE IF EXISTS clinic.visit, clinic.patient, hr.employee, census.person;\n\n"
    yield schema
    yield from copy_block("hr.employee", Employee._fields, employees(people(EMPLOYEES)))
    yield from copy_block("clinic.patient", Patient._fields, patients(people(PATIENTS)))
    yield from copy_block("clinic.visit", Visit._fields, visits(patients(people(PATIENTS))))
    yield from copy_block("census.person", Person._fields, persons(people(PERSONS)))
    yield "\nCOMMIT;\nANALYZE hr.employee, clinic.patient, clinic.visit, census.person;\n"


def size_factor(text: str) -> Fraction:
    try:
        size = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if not SMALLEST <= size <= LARGEST:
        raise argparse.ArgumentTypeError(f"must be from {float(SMALLEST)} to {LARGEST}")
    return size


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Print sample data for psql: python3 demo/sample_data.py | psql",
        epilog="The same options give the same output, everywhere.",
    )
    parser.add_argument(
        "--size",
        metavar="FACTOR",
        type=size_factor,
        default=Fraction(1),
        help="number of people as a multiple of the default, such as 0.1 or 10",
    )
    parser.add_argument("--replace", action="store_true", help="drop the sample tables first if they exist")
    options = parser.parse_args()
    try:
        for text in script(options.size, options.replace):
            sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # psql has stopped and said why; keep the interpreter from adding a second message at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
