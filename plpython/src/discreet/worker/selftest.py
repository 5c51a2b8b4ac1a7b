"""Findings of `discreet.selftest()`: the promises, tried on the live database. Nothing is changed, nothing is spent."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator
from copy import deepcopy

from discreet.core.errors import DiscreetError
from discreet.core.quoting import identifier
from discreet.core.syntax import Json
from discreet.gate.neighbours import Totals, busiest_sql, excess, without
from discreet.gate.parse import parse
from discreet.gate.plan import Plan
from discreet.gate.plan import plan as planned
from discreet.gate.run import statements
from discreet.gate.schema import schema_from_json
from discreet.worker.acting import acting_role, run_as
from discreet.worker.asker import Asker
from discreet.worker.meaning import Meaning
from discreet.worker.policy import Asking
from discreet.worker.session import Session
from discreet.worker.text import TextQuestion
from discreet.worker.totals import rows

PASSED, FAILED, NOT_TRIED = "passed", "failed", "not tried"
# for scripts: what was not tried is neither
PASSED_OF = {PASSED: True, FAILED: False, NOT_TRIED: None}
Finding = tuple[str, str, str]  # item, one of these, what was found or why nothing was tried
NUMBERS = {"smallint", "integer", "bigint", "numeric", "real", "double precision"}

# ends a step of the gate worker, which serves others before it goes on
BETWEEN = "SELECT"
# beyond what the install script gave, which PostgreSQL remembers
OPEN_TO_ALL = """
    WITH object(class, oid, name, acl) AS (
        SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid, p.oid::pg_catalog.regprocedure::text,
               coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))
        FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'discreet'::pg_catalog.regnamespace
        UNION ALL
        SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, c.oid, c.oid::pg_catalog.regclass::text, c.relacl
        FROM pg_catalog.pg_class c WHERE c.relnamespace = 'discreet'::pg_catalog.regnamespace)
    SELECT DISTINCT o.name
    FROM object o CROSS JOIN LATERAL pg_catalog.aclexplode(o.acl) a
    WHERE a.grantee = 0 AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_init_privs i CROSS JOIN LATERAL pg_catalog.aclexplode(i.initprivs) b
        WHERE i.classoid = o.class AND i.objoid = o.oid AND i.objsubid = 0 AND b.grantee = 0
          AND b.privilege_type = a.privilege_type)
    ORDER BY 1
"""

INCONSISTENT = """
    SELECT 'table ' || p.relation::oid || ' is protected and gone' AS finding
    FROM discreet._protected_table p
    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = p.relation)
    UNION ALL
    SELECT 'the unit of ' || p.relation || ' is not its column ' || pg_catalog.quote_ident(p.unit)
    FROM discreet._protected_table p
    WHERE p.policy <> 'public' AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = p.relation AND a.attnum = p.unit_attnum AND a.attname = p.unit AND NOT a.attisdropped)
    UNION ALL
    SELECT 'column ' || pg_catalog.quote_ident(d.column_name) || ' of ' || d.relation || ' is described and gone'
    FROM discreet._protected_column d
    WHERE NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = d.relation AND a.attnum = d.attnum AND a.attname = d.column_name AND NOT a.attisdropped)
    UNION ALL
    SELECT p.relation || ' belongs to dataset ' || pg_catalog.quote_ident(p.dataset) || ', which is not there'
    FROM discreet._protected_table p
    WHERE p.dataset IS NOT NULL AND NOT EXISTS (SELECT FROM discreet._dataset d WHERE d.dataset = p.dataset)
    UNION ALL
    SELECT 'dataset ' || pg_catalog.quote_ident(b.dataset) || ' has spent more than its limit'
    FROM discreet._budget b
    WHERE b.role = 0 AND (b.amount_spent > b.amount_limit OR b.delta_spent > b.delta_limit)
    UNION ALL
    SELECT 'dataset ' || pg_catalog.quote_ident(b.dataset) || ' has spent more than its limit at '
           || discreet._label(s.label)
    FROM discreet._budget b JOIN discreet._label_spent s USING (dataset, role)
    WHERE b.role = 0 AND (b.amount_spent + s.amount_spent > b.amount_limit
                          OR b.delta_spent + s.delta_spent > b.delta_limit)
    ORDER BY 1
"""

OWN_TABLES = """
    SELECT n.nspname AS schema, c.relname AS name, p.policy
    FROM discreet._protected_table p
    JOIN pg_catalog.pg_class c ON c.oid = p.relation
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE p.policy <> 'public' AND pg_catalog.pg_has_role(discreet._caller(), c.relowner, 'USAGE')
    ORDER BY 1, 2
"""


def findings(session: Session) -> Iterator[Finding]:
    checks: list[Callable[[Session], Iterator[Finding]]] = [samplers, ledger, chain, privileges]
    for check in checks:
        yield from check(session)
    found = list(catalog(session))
    yield from found
    if all(status == PASSED for _, status, _ in found):
        yield from neighbours(session)
    else:
        yield "neighbours", NOT_TRIED, "the catalog does not fit, so what it says of tables cannot be tried"


def judged(sound: bool) -> str:
    return PASSED if sound else FAILED


def samplers(session: Session) -> Iterator[Finding]:
    from discreet.dp.samplers import ALLOWED, DRAWS, FALSE_ALARM, distances

    found = 0.0
    for distance in distances():
        found = max(found, distance)
        session.execute(BETWEEN)
    yield (
        "samplers",
        judged(found <= ALLOWED),
        f"{DRAWS} draws of each noise are at most {found:.4f} from its distribution; {ALLOWED:.4f} is exceeded by "
        f"chance with probability {FALSE_ALARM:g}",
    )


def ledger(session: Session) -> Iterator[Finding]:
    from discreet.server.ops_installation import OK
    from discreet.server.ops_installation import ledger as checked

    for item, status, finding in checked(session):
        yield item, judged(status == OK), finding


def is_history(dataset: str | None) -> bool:
    """Whether verify_log() tells of who wrote what into multilevel tables at a label."""
    return dataset is not None and dataset.startswith("multilevel history at ")


def chain(session: Session) -> Iterator[Finding]:
    rows = session.execute("SELECT dataset, label, charges, intact, finding FROM discreet.verify_log()")
    if not len(rows):
        yield "chain", NOT_TRIED, "there is no dataset, so no log"
    histories = [row["intact"] for row in rows if is_history(row["dataset"])]
    if histories:  # which labels have one, and how long it is, is for those who see them
        told = "every version fits the one before it" if all(histories) else "see discreet.verify_log()"
        yield "multilevel history", judged(all(histories)), told
    for row in rows:
        if is_history(row["dataset"]):
            continue
        # events of multilevel tables have a chain of their own
        events = "events" if row["dataset"] is None else "charges"
        name = "multilevel tables" if row["dataset"] is None else row["dataset"]
        where = "" if row["label"] is None else f" at {row['label']}"
        yield f"chain of {name}{where}", judged(row["intact"]), f"{row['charges']} {events}: {row['finding']}"


def privileges(session: Session) -> Iterator[Finding]:
    names = [row["name"] for row in session.execute(OPEN_TO_ALL)]
    told = (
        f"open to all roles: {', '.join(names)}" if names else "nothing was opened to all roles since the installation"
    )
    yield "privileges", judged(not names), told


def catalog(session: Session) -> Iterator[Finding]:
    rows = session.execute(INCONSISTENT)
    for row in rows:
        yield "catalog", FAILED, row["finding"]
    if not len(rows):
        yield "catalog", PASSED, "tables, columns, datasets and limits fit each other"


def neighbours(session: Session) -> Iterator[Finding]:
    """On the caller's own tables: what one person, the one with most rows, changes in the exact part of answers."""
    tables = session.execute(OWN_TABLES)
    if not len(tables):
        yield "neighbours", NOT_TRIED, "you own no table about people"
    for row in tables:
        item = f"neighbours in {row['schema']}.{row['name']}"
        if row["policy"] != "noisy":
            yield item, NOT_TRIED, f"it is under policy '{row['policy']}'; only tables of policy 'noisy' are tried"
            continue
        try:
            found = list(moved_by_one(session, row["schema"], row["name"]))
        except DiscreetError as error:
            found = [(NOT_TRIED, error.message)]
        yield from ((item, *finding) for finding in found)


def moved_by_one(session: Session, schema: str, name: str) -> Iterator[tuple[str, str]]:
    asker = Asker(session)
    with asker.own_search_path():
        plans, refusals, relations = whole_questions(asker, schema, name)
        role = acting_role(session, relations)
        findings = []
        for plan in plans:
            people = run_as(session, role, busiest_sql(plan))
            if not people:
                yield NOT_TRIED, "it has no rows"
                return
            seed = secrets.randbits(62)
            for keys in plan.grouping.sets:
                totals = (exact_totals(session, some, keys, role, seed) for some in (plan, without(plan, people[0])))
                findings += excess(plan, *totals)
    for question, reason in refusals:
        yield NOT_TRIED, f"{question}: {reason}"
    if findings:
        yield FAILED, f"one person moves more than planned: {findings[0]}"
    else:
        yield PASSED, f"the person with most rows moves no total of {len(plans)} questions further than planned"


def whole_questions(
    asker: Asker, schema: str, name: str
) -> tuple[list[Plan], list[tuple[str, str]], list[dict[str, Json]]]:
    """Plans for the number of rows and the sum of each bounded column, of the whole table and by each declared key;
    which of these questions are refused, and why."""
    table = f"{identifier(schema)}.{identifier(name)}"
    question = TextQuestion(asker, (), Asking(f"SELECT count(*) FROM {table}"))
    described = deepcopy(Meaning(asker, question.names()).described.meaning)
    for relation in described["relations"]:
        if relation["protection"] is not None:
            relation["protection"]["may_ask"] = True  # the owner may read it anyway
    known = schema_from_json(described)
    plans = [planned(question.tree(), known, frozenset())]
    columns = [column for column in described["relations"][0]["columns"] if not column["hidden"]]
    numbers = [column for column in columns if column["lower"] is not None and column["type"] in NUMBERS]
    sums = [f"sum({identifier(column['name'])})" for column in numbers]
    keys = [identifier(column["name"]) for column in columns if column["categories"] is not None]
    texts = [f"SELECT {total} FROM {table}" for total in sums]
    texts += [f"SELECT {key}, count(*) FROM {table} GROUP BY {key}" for key in keys]
    refusals = []
    for text in texts:
        try:
            plans.append(planned(parse(text), known, frozenset({"sum", "count"})))
        except DiscreetError as error:
            refusals.append((text, error.message))
    return plans, refusals, described["relations"]


def exact_totals(session: Session, plan: Plan, keys: tuple[int, ...], role: int, seed: int) -> Totals:
    found = Totals(keys, defaultdict(dict), defaultdict(dict))
    for statement in statements(plan, keys, seed):
        for values in rows(session, statement, role):
            numbers = [int(value) for value in values[len(keys) :]]
            for measurement, number in zip(statement.measurements, numbers, strict=True):
                found.numbers[measurement][tuple(values[: len(keys)])] = number
    return found
