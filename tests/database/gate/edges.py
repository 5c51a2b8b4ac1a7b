"""A table of edge values: for each type columns x_… and y_…, whose rows hold every pair of its edge values."""

from __future__ import annotations

from fractions import Fraction

from tests.databases import Connection

from discreet.gate.schema import FAMILY_OF_TYPE, NUMBERS, TIMES, Column, Dataset, Protection, Relation, Schema

LARGEST = 10**60
FIRST_DAY, LAST_DAY = "0001-01-01", "10000-01-01"

TYPES = {
    "i2": "smallint", "i4": "integer", "i8": "bigint", "n": "numeric", "f4": "real", "f8": "double precision",
    "t": "text", "v": "character varying", "c": "character", "b": "boolean", "d": "date",
    "ts": "timestamp without time zone", "tz": "timestamp with time zone", "u": "uuid", "iv": "interval",
    "tm": "time without time zone", "e": "edge.mood", "j": "jsonb", "at": "text[]", "ai": "integer[]",
}  # fmt: skip
LENGTHS = {"c": "(5)", "v": "(400)"}

MOMENTS = [
    "1970-01-01 00:00:00", "2024-02-29 23:59:59.999999", "2023-12-31 12:00:00", "2020-12-31 23:00:00",
    "2000-02-29 00:00:00.5", "1900-02-28 24:00:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999",
    "2024-03-31 01:59:59", "0044-03-15 12:00:00 BC", "10000-01-01 00:00:00", "infinity", "-infinity",
    "2024-01-31 00:00:00",
]  # fmt: skip
TEXTS = [
    "",
    "a",
    "A",
    "ab",
    "a b",
    "  pad  ",
    "ß",
    "é",
    "e\u0301",
    "日本語",
    "100%",
    "a_b",
    "a\\b",
    "İi",
    "x" * 300,
    "b",
]
VALUES: dict[str, list[str]] = {
    "i2": ["0", "1", "-1", "2", "3", "-7", "32767", "-32768"],
    "i4": ["0", "1", "-1", "2", "-2", "3", "5", "7", "-7", "2147483647", "-2147483648"],
    "i8": ["0", "1", "-1", "2", "3", "-7", "9007199254740993", "4611686018427387904", "9223372036854775807",
           "-9223372036854775808"],
    "n": ["0", "1", "-1", "0.5", "1.5", "2.5", "-0.5", "-2.5", "0.1", "1.00", "-7.25", "1e40", "1e-30", "1e-400",
          "123456789012345678.987654321", "NaN", "Infinity", "-Infinity", "1e70"],
    "f4": ["0", "-0", "0.5", "1.5", "2.5", "-2.5", "0.1", "-7.25", "3.4028235e38", "1e-45", "16777217", "NaN",
           "Infinity", "-Infinity", "0.33333334"],
    "f8": ["0", "-0", "0.5", "1.5", "2.5", "-0.5", "-2.5", "0.1", "0.30000000000000004", "2.4999999999999996",
           "0.49999999999999994", "4.9e-324", "1e-200", "1e50", "-1e300", "9007199254740993", "NaN", "Infinity",
           "-Infinity", "-7.25"],
    "t": TEXTS, "v": TEXTS, "c": ["", "a", "A", "ab", "a b", " pad", "ß", "éé", "日本語", "100%", "a_b", "a\\b"],
    "b": ["true", "false"], "d": [moment.split(" ")[0] + (" BC" if "BC" in moment else "") for moment in MOMENTS],
    "ts": MOMENTS, "tz": [moment.replace(" BC", "+02 BC") if "BC" in moment else moment for moment in MOMENTS],
    "u": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000"],
    "iv": ["1 day", "24:00:00", "1 mon", "30 days", "-1 day"], "tm": ["00:00", "10:00:00.5", "24:00:00"],
    "e": ["sad", "glad"],
    "j": ['{"a": "x", "b": {"a": [1, null]}}', '{"a": null, "it\'s": 1.50}', '["y", {"b": true}, 3]', '"a"', "7",
          "null", "{}"],
    "at": ["{}", "{a}", "{a,b,NULL}", '{"",A}', "{{a,b},{c,d}}"], "ai": ["{}", "{1}", "{1,2,NULL}", "{2,2}"],
}  # fmt: skip
ROWS = max(len(values) + 1 for values in VALUES.values()) ** 2

EACH = """
    CREATE FUNCTION edge.each(expression text, source text) RETURNS TABLE (id int, value text) LANGUAGE plpgsql AS $$
    BEGIN
        FOR id IN SELECT p.id FROM edge.person p ORDER BY p.id LOOP
            BEGIN
                EXECUTE format('SELECT (%s)::text FROM %s p WHERE p.id = $1', expression, source) INTO value USING id;
            EXCEPTION WHEN OTHERS THEN
                value := 'raises ' || SQLSTATE;
            END;
            RETURN NEXT;
        END LOOP;
    END $$
"""


def script() -> list[str]:
    """edge.person holds the values; edge.plain the same, but numbers and moments as the bounds let them through."""
    columns = [(f"{side}_{short}", short) for short in TYPES for side in "xy"]
    made = ", ".join(f"{name} {TYPES[short]}{LENGTHS.get(short, '')}" for name, short in columns)
    picked = ", ".join(picked_value(name, short) for name, short in columns)
    let_through = ", ".join(f"{bounded(name, short)} AS {name}" for name, short in columns)
    return [
        "CREATE SCHEMA edge",
        "CREATE TYPE edge.mood AS ENUM ('sad', 'glad')",
        f"CREATE TABLE edge.person (id int PRIMARY KEY, {made})",
        f"INSERT INTO edge.person SELECT k, {picked} FROM generate_series(0, {ROWS - 1}) k",
        f"CREATE TABLE edge.plain AS SELECT id, {let_through} FROM edge.person ORDER BY id",
        "CREATE UNIQUE INDEX ON edge.plain (id)",
        EACH,
    ]


def picked_value(name: str, short: str) -> str:
    """Of row k: x takes the edge values in turn, NULL last, y one after each turn."""
    number = len(VALUES[short]) + 1
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in VALUES[short])
    place = f"k % {number}" if name[0] == "x" else f"k / {number} % {number}"
    return f"((ARRAY[{listed}, NULL])[1 + {place}])::{TYPES[short]}"


def bounded(name: str, short: str) -> str:
    """What arithmetic and date functions are given (docs/limits.md): clamped, no value where there is no place."""
    family = FAMILY_OF_TYPE.get(TYPES[short])
    if family in TIMES:
        return f"CASE WHEN {name} >= date '{FIRST_DAY}' AND {name} < date '{LAST_DAY}' THEN {name} END"
    if short in ("n", "f8", "f4"):
        finite = f"{name} NOT IN ('NaN', 'Infinity', '-Infinity')"
        if short == "f4":
            return f"CASE WHEN {finite} THEN {name} END"
        least, most = (f"'{sign}1e60'::{TYPES[short]}" for sign in ("-", ""))
        return f"CASE WHEN {finite} THEN least(greatest({name}, {least}), {most}) END"
    return name


def schema() -> Schema:
    columns = {"id": Column("id", "integer", identifies=True)}
    for short, type_name in TYPES.items():
        bounds = (Fraction(-LARGEST), Fraction(LARGEST)) if FAMILY_OF_TYPE.get(type_name) in NUMBERS else None
        if short.startswith("i") and bounds is not None:
            bounds = (Fraction(-(2**63)), Fraction(2**63 - 1))
        columns |= {name: Column(name, type_name, bounds) for name in (f"x_{short}", f"y_{short}")}
    protection = Protection("edges", "id", "noisy", 1, 1, None, None, True, True)
    relation = Relation("edge", "person", columns, protection)
    return Schema({("edge", "person"): relation}, {"edges": Dataset("edges", "pure", "unbounded", Fraction(0))})


def create(connection: Connection) -> None:
    for statement in script():
        connection.execute(statement.encode())
