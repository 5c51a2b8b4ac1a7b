"""What `discreet.report()` shows: read through the views, with the rights of who calls, and added up by PostgreSQL."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime
from fractions import Fraction

from discreet.budget.currency import amount_limit
from discreet.core.declarations import Dataset as Declared
from discreet.core.syntax import SqlValue
from discreet.core.verdicts import judges
from discreet.ops.forecast import WINDOW, Spending
from discreet.ops.page import (
    Asker,
    Budget,
    Dataset,
    Exactness,
    History,
    Kept,
    Multilevel,
    Period,
    Release,
    page,
)  # fmt: skip
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, Result, run

AT_MOST_DOTS = 300

NOW = "SELECT current_database() AS database, current_user AS curator, extract(epoch FROM now())::float8 AS now"
# each label of a multilevel dataset has a budget of its own
DATASETS = """
    SELECT b.dataset || coalesce(' at ' || b.label, '') AS dataset, b.role, b.epsilon_limit, b.epsilon_spent,
           d.accounting, p.policies, coalesce(p.tables, 0) AS tables, b.epsilon_kept, b.kept_until IS NOT NULL AS kept,
           CASE WHEN isfinite(b.kept_until) THEN extract(epoch FROM b.kept_until)::float8 END AS kept_until,
           discreet._period_name(discreet._period_begin(now() AT TIME ZONE 'UTC', d.period)) AS current
    FROM discreet.budget_status b JOIN discreet.datasets d USING (dataset)
    LEFT JOIN (SELECT dataset, count(*) AS tables, string_agg(DISTINCT policy, ', ') AS policies
               FROM discreet.protected_tables GROUP BY dataset) p USING (dataset)
    WHERE b.period IS NULL
    ORDER BY b.dataset, b.label, b.role
"""
PERIODS = """
    SELECT dataset, period, epsilon_limit, epsilon_spent, epsilon_kept FROM discreet.budget_status
    WHERE role IS NULL AND period IS NOT NULL ORDER BY dataset, period
"""
# at most so many steps of a curve, however many charges there are; where there are periods, that of today is looked at
SPENDING = """
    WITH charge AS (
        SELECT c.dataset || coalesce(' at ' || c.label, '') AS dataset, extract(epoch FROM c.at)::float8 AS at,
               c.amount, d.accounting, d.epsilon_limit, d.delta_limit
        FROM discreet.charges c JOIN discreet.datasets d USING (dataset)
        WHERE c.amount > 0 AND (d.period IS NULL OR discreet._period_name(
            discreet._period_begin(now() AT TIME ZONE 'UTC', d.period)) = ANY (c.periods))),
    step AS (
        SELECT *, min(at) OVER whole AS first, max(at) OVER whole AS last,
               width_bucket(at, min(at) OVER whole, max(at) OVER whole + 1, 150) AS step
        FROM charge WINDOW whole AS (PARTITION BY dataset))
    SELECT dataset, accounting, epsilon_limit, delta_limit, first, last, max(at) AS at, sum(amount) AS amount,
           sum(amount) FILTER (WHERE at > extract(epoch FROM now() - :window::interval)) AS recent
    FROM step
    GROUP BY dataset, accounting, epsilon_limit, delta_limit, first, last, step
    ORDER BY dataset, step
"""
ASKERS = """
    SELECT role::text, coalesce(c.answered, 0) AS answered, coalesce(c.epsilon, 0) AS epsilon,
           coalesce(f.refused, 0) AS refused
    FROM (SELECT role, count(*) AS answered, sum(epsilon) AS epsilon FROM discreet.charges
          WHERE NOT details ? 'act' GROUP BY role) c
    FULL JOIN (SELECT role, count(*) AS refused FROM discreet.refusals GROUP BY role) f USING (role)
"""
REFUSALS = """
    SELECT code, count(*) AS refused, extract(epoch FROM max(at))::float8 AS last
    FROM discreet.refusals GROUP BY code ORDER BY refused DESC, code
"""
ACCURACY = """
    SELECT dataset, kind, count(*) AS answers,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY half_width::float8) AS half_width,
           array_agg(relative::float8) FILTER (WHERE relative IS NOT NULL AND place <= :most::int) AS relative
    FROM (SELECT *, row_number() OVER (PARTITION BY dataset, kind ORDER BY at DESC) AS place FROM discreet.accuracy) a
    GROUP BY dataset, kind ORDER BY dataset, kind
"""
MULTILEVEL = "SELECT relation::text FROM discreet.multilevel_tables ORDER BY 1"
VERSIONS = """
    WITH version AS MATERIALIZED (SELECT key, column_name FROM discreet.mls_report(:relation::regclass))
    SELECT (SELECT count(DISTINCT key) FROM version) AS entities,
           (SELECT coalesce(json_object_agg(column_name, entities ORDER BY entities DESC), '{}')
            FROM (SELECT column_name, count(*) AS entities FROM version GROUP BY column_name) c) AS columns
"""
RELEASES = """
    SELECT release, report->>'relation' AS source, kind, k, l, t, published, suppressed, loss,
           extract(epoch FROM at)::float8 AS at
    FROM discreet.releases ORDER BY discreet.releases.at DESC LIMIT 100
"""


@sql_errors
def report(plpy: Plpy) -> str:
    (here,) = run(plpy, NOW)
    history = History(
        here["database"],
        here["curator"],
        moment(here["now"]),
        datasets(plpy),
        [
            Asker(row["role"], int(row["answered"]), int(row["refused"]), Fraction(row["epsilon"]))
            for row in run(plpy, ASKERS)
        ],
        [(row["code"], int(row["refused"]), moment(row["last"])) for row in run(plpy, REFUSALS)],
        [
            Exactness(row["dataset"], row["kind"], int(row["answers"]), row["half_width"], tuple(row["relative"] or ()))
            for row in run(plpy, ACCURACY, most=AT_MOST_DOTS)
        ],
        [multilevel(plpy, row["relation"]) for row in run(plpy, MULTILEVEL)],
        [released(row) for row in run(plpy, RELEASES)],
    )
    return page(history)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def datasets(plpy: Plpy) -> list[Dataset]:
    steps: dict[str, list[SqlValue]] = defaultdict(list)
    for row in run(plpy, SPENDING, window=f"{WINDOW.days} days"):
        steps[row["dataset"]].append(row)
    rows: dict[str, list[SqlValue]] = defaultdict(list)
    for row in run(plpy, DATASETS):
        rows[row["dataset"]].append(row)
    periods: dict[str, list[Period]] = defaultdict(list)
    for row in run(plpy, PERIODS):
        amounts = (Fraction(row[name]) for name in ("epsilon_limit", "epsilon_spent", "epsilon_kept"))
        periods[row["dataset"]].append(Period(row["period"], *amounts))
    found = []
    for name, of_it in rows.items():
        budgets = [
            Budget(name, row["role"], Fraction(row["epsilon_limit"]), Fraction(row["epsilon_spent"])) for row in of_it
        ]
        (own,) = [budget for budget in budgets if budget.role is None]
        roles = tuple(budget for budget in budgets if budget.role is not None)
        first = of_it[0]
        spent = spending(steps[name]) if steps[name] else None
        kept = tuple(
            Kept(
                row["role"],
                Fraction(row["epsilon_kept"]),
                None if row["kept_until"] is None else moment(row["kept_until"]),
            )
            for row in of_it
            if row["kept"] and row["role"] is not None
        )
        found.append(
            Dataset(
                name, first["accounting"], int(first["tables"]), first["policies"] or "", own, roles, spent,
                kept, tuple(periods[name]), first["current"],
            )
        )  # fmt: skip
    return found


def spending(rows: list[SqlValue]) -> Spending:
    """What was spent, as shares of the limit in the dataset's currency: rho adds up, its epsilon does not."""
    first = rows[0]
    declared = Declared(first["dataset"], first["epsilon_limit"], first["delta_limit"], first["accounting"])
    limit = Fraction(amount_limit(declared, declared.epsilon))
    total, steps = Fraction(0), []
    for row in rows:
        total += Fraction(row["amount"]) / limit
        steps.append((moment(row["at"]), total))
    recent = sum((Fraction(row["recent"]) for row in rows if row["recent"] is not None), Fraction(0)) / limit
    return Spending(moment(rows[0]["first"]), moment(rows[0]["last"]), tuple(steps), recent)


def multilevel(plpy: Plpy, relation: str) -> Multilevel:
    """As far as the session sees it; a curator without a right to the table, or a clearance, sees nothing of it."""
    try:
        rows: Result = run(plpy, VERSIONS, relation=relation)
        return Multilevel(relation, int(rows[0]["entities"]), json.loads(rows[0]["columns"]))
    except plpy.SPIError as error:
        if not judges(error):
            raise
        return Multilevel(relation, None, {}, str(error).splitlines()[0])


def released(row: SqlValue) -> Release:
    promise = ", ".join(f"{name} = {row[name]:g}" for name in ("k", "l", "t") if row[name] is not None)
    return Release(
        row["release"], row["source"] or "", row["kind"], promise, row["published"], row["suppressed"], row["loss"],
        moment(row["at"]),
    )  # fmt: skip
