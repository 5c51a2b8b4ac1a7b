"""Measuring and anonymising census-like rows; beside native SQL, and beside pycanon and anjana from PyPI."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.measure import Line, Subject, alternate, ratio, seconds

ROWS, FEW_ROWS, K, REPETITIONS = 1_000_000, 30_000, 5, 5
MOST_TIMES_NATIVE, MOST_OPTIMAL, MOST_MONDRIAN, LEAST_TIMES_FASTER = 3, 30, 60, 10
KEYS = ("age", "sex", "race", "marital", "education")
EDUCATION = {f"stage {stage}": [f"edu {level:02d}" for level in range(4 * stage, 4 * stage + 4)] for stage in range(5)}
COUNTRY = {f"region {part}": [f"country {each:02d}" for each in range(7 * part, 7 * part + 7)] for part in range(6)}
SPEC = {
    "age": {"intervals": [5, 10, 20, 40]},
    "sex": "suppress",
    "race": "suppress",
    "marital": {"tree": {"any": {"couple": ["married"], "alone": ["single", "divorced", "separated", "widowed"]}}},
    "education": {"tree": {"any": EDUCATION}},
    "workclass": {"tree": {"any": {"public": ["federal", "local", "state"], "other": ["private", "self", "none"]}}},
    "country": {"tree": {"any": COUNTRY}},
    "zip": {"digits": 5},
}

CENSUS = """
    SELECT setseed(0.5);
    CREATE TABLE {name} AS SELECT
        17 + floor(power(random(), 1.5) * 73)::int AS age,
        (ARRAY['male', 'female'])[1 + (random() > 0.48)::int] AS sex,
        (ARRAY['white', 'black', 'asian', 'other', 'native'])[1 + floor(power(random(), 4) * 4.99)::int] AS race,
        (ARRAY['married', 'single', 'divorced', 'separated', 'widowed'])[1 + floor(power(random(), 2) * 4.99)::int]
            AS marital,
        'edu ' || lpad(floor(power(random(), 1.3) * 15.99)::text, 2, '0') AS education,
        (ARRAY['private', 'self', 'federal', 'local', 'state', 'none'])[1 + floor(power(random(), 3) * 5.99)::int]
            AS workclass,
        'country ' || lpad(floor(power(random(), 6) * 40.99)::text, 2, '0') AS country,
        lpad(floor(power(random(), 2) * 999)::text, 5, '0') AS zip,
        'job ' || floor(random() * 13.99) AS occupation
    FROM generate_series(1, {rows});
    ANALYZE {name};
"""

OTHER_PACKAGES = ("pycanon==1.3.5", "anjana==1.2.3", "pandas==2.3.3", "numpy==2.0.2")
# measured by the other packages' own functions, in a process of their own
OTHERS = """
import json, sys, time
import pandas
from anjana.anonymity import k_anonymity
from pycanon import anonymity
table = pandas.read_csv(sys.argv[1], dtype=str)
keys, all_keys = json.loads(sys.argv[2]), json.loads(sys.argv[3])
start = time.perf_counter()
anonymity.k_anonymity(table, keys)
anonymity.l_diversity(table, keys, ["occupation"])
anonymity.t_closeness(table, keys, ["occupation"])
middle = time.perf_counter()
hierarchies = {key: {int(level): values for level, values in levels.items()}
               for key, levels in json.load(open(sys.argv[4])).items()}
k_anonymity(table, [], all_keys, int(sys.argv[5]), 5, hierarchies)
print(json.dumps([middle - start, time.perf_counter() - middle]))
"""


def load(subject: Subject) -> None:
    for name, rows in (("census", ROWS), ("few", FEW_ROWS)):
        subject.cluster.sql(CENSUS.format(name=name, rows=rows))


def measuring(subject: Subject) -> Iterator[Line]:
    keys = ", ".join(KEYS)
    ours = f"SELECT * FROM discreet.measure('census', '{{{','.join(KEYS)}}}', '{{occupation}}')"
    with subject.connect() as connection:
        for columns in (f"{keys}, occupation", keys):
            theirs = f"SELECT min(n) FROM (SELECT count(*) AS n FROM census GROUP BY {columns}) AS class"
            pair = alternate(REPETITIONS, partial(connection.execute, theirs), partial(connection.execute, ours))
            most = MOST_TIMES_NATIVE if "occupation" in columns else None
            yield ratio(f"k, l and t of {ROWS} rows; native: GROUP BY {columns}", *pair, most)


def anonymize(subject: Subject, table: str, method: str, times: int = 1) -> float:
    """The median time, in a session that has measured before, so that its packages are loaded."""
    call = f"SELECT discreet.anonymize('{table}', 'released', '{json.dumps(SPEC)}', {K}, method => '{method}')"
    taken = []
    with subject.connect() as connection:
        connection.execute(f"SELECT discreet.l_diversity('{table}', '{{sex}}', 'race')")
        for _ in range(times):
            taken.append(seconds(lambda: connection.execute(call)))
            connection.execute("DROP TABLE released")
            connection.execute("SELECT discreet.forget_release('public.released')")
    return statistics.median(taken)


def anonymising(subject: Subject) -> Iterator[Line]:
    for method, most in (("optimal", MOST_OPTIMAL), ("mondrian", MOST_MONDRIAN)):
        taken = anonymize(subject, "census", method)
        name = f"anonymize, {method}, k = {K}, {ROWS} rows, {len(SPEC)} quasi-identifiers"
        yield Line(name, "", f"{taken:.1f} s", f"{taken:.1f} s", f"<= {most} s", taken <= most)


def levels(subject: Subject) -> dict[str, dict[str, list[str]]]:
    """Our hierarchies as anjana wants them: a list of all values per level."""
    from discreet.release.hierarchy import Hierarchy, Values

    found: dict[str, dict[str, list[str]]] = {}
    for name, wish in SPEC.items():
        texts = subject.cluster.sql(f"SELECT DISTINCT {name} FROM few ORDER BY 1").splitlines()
        hierarchy = Hierarchy.of(Values(name, "integer" if name == "age" else "text", texts, False), wish)
        found[name] = {
            str(number): [str(level.labels[group]) for group in level.group]
            for number, level in enumerate(hierarchy.levels)
        }
    return found


def others(subject: Subject) -> Iterator[Line]:
    """pycanon measures, anjana anonymises; both in an environment that is made for this run."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        python = Path(folder) / "venv" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", Path(folder) / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *OTHER_PACKAGES], check=True, capture_output=True)
        rows, hierarchies = Path(folder) / "few.csv", Path(folder) / "hierarchies.json"
        rows.write_text(subject.cluster.sql("COPY few TO STDOUT (FORMAT csv, HEADER)") + "\n")
        hierarchies.write_text(json.dumps(levels(subject)))
        arguments = [str(rows), json.dumps(KEYS), json.dumps(list(SPEC)), str(hierarchies), str(K)]
        done = subprocess.run([str(python), "-c", OTHERS, *arguments], check=True, capture_output=True, text=True)
    measured, anonymised = json.loads(done.stdout.splitlines()[-1])
    with subject.connect() as connection:
        call = f"SELECT * FROM discreet.measure('few', '{{{','.join(KEYS)}}}', '{{occupation}}')"
        connection.execute(call)
        ours = seconds(lambda: connection.execute(call))
    yield faster(f"k, l and t of {FEW_ROWS} rows; other: pycanon", measured, ours)
    for method in ("optimal", "mondrian"):
        yield faster(
            f"anonymize, {method}, {FEW_ROWS} rows; other: anjana",
            anonymised,
            anonymize(subject, "few", method, REPETITIONS),
        )


def faster(name: str, other: float, ours: float) -> Line:
    times = other / ours
    return Line(
        name, f"{other:.2f} s", f"{ours:.2f} s", f"{times:.1f} times", f">= {LEAST_TIMES_FASTER} times",
        times >= LEAST_TIMES_FASTER,
    )  # fmt: skip
