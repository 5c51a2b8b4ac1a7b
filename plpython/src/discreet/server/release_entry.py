"""What the SQL functions for releases call: measuring, anonymising, guarding, reporting."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal

from discreet.core.declarations import at_least, document, given, given_name, one_of
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy


def optional_document(name: str, text: str | None) -> object:
    return None if text is None else document(name, text, Decimal)


def listed(name: str | None) -> list[str]:
    return [] if name is None else [name]


@sql_errors
def k_anonymity(
    plpy: Plpy,
    relation: str | None,
    quasi_identifiers: list[str | None] | None,
    nulls: str | None,
    unit: str | None,
) -> int | None:
    from discreet.server import release_tabulation

    keys = release_tabulation.named("quasi_identifiers", quasi_identifiers)
    table = release_tabulation.source(plpy, relation, ("quasi_identifiers", keys), ("unit", listed(unit)))
    return release_tabulation.smallest_class(plpy, release_tabulation.as_seen(table, keys), keys, nulls, unit)


@sql_errors
def l_diversity(
    plpy: Plpy,
    relation: str | None,
    quasi_identifiers: list[str | None] | None,
    sensitive: list[str | None] | None,
    kind: str | None,
    c: Decimal | None,
    nulls: str | None,
    unit: str | None,
) -> float | None:
    from discreet.release.measures import Diversity
    from discreet.server import release_tabulation

    wanted = Diversity.of(kind, c)
    keys, values = (
        release_tabulation.named("quasi_identifiers", quasi_identifiers),
        release_tabulation.named("sensitive", sensitive),
    )
    table = release_tabulation.source(
        plpy, relation, ("quasi_identifiers", keys), ("sensitive", values), ("unit", listed(unit))
    )
    found = release_tabulation.tabulate(plpy, release_tabulation.as_seen(table, keys), keys, values, nulls, unit=unit)
    return None if found is None else min(wanted.measured(composition) for composition in found.compositions)


@sql_errors
def t_closeness(
    plpy: Plpy,
    relation: str | None,
    quasi_identifiers: list[str | None] | None,
    sensitive: list[str | None] | None,
    distance: str | None,
    hierarchy: str | None,
    nulls: str | None,
) -> float | None:
    from discreet.release.measures import Closeness
    from discreet.server import release_tabulation

    wanted = Closeness.of(distance, optional_document("hierarchy", hierarchy))
    keys, values = (
        release_tabulation.named("quasi_identifiers", quasi_identifiers),
        release_tabulation.named("sensitive", sensitive),
    )
    table = release_tabulation.source(plpy, relation, ("quasi_identifiers", keys), ("sensitive", values))
    found = release_tabulation.tabulate(
        plpy, release_tabulation.as_seen(table, keys), keys, values, nulls, wanted.tree is not None
    )
    if found is None:
        return None
    each = zip(found.compositions, values, found.texts, strict=True)
    return float(max(wanted.measured(composition, name, texts) for composition, name, texts in each))


@sql_errors
def measure(
    plpy: Plpy,
    relation: str | None,
    quasi_identifiers: list[str | None] | None,
    sensitive: list[str | None] | None,
    nulls: str | None,
    unit: str | None,
) -> Iterable[tuple[str, str | None, float]]:
    from discreet.release.measures import all_measures
    from discreet.server import release_tabulation

    keys, values = (
        release_tabulation.named("quasi_identifiers", quasi_identifiers),
        release_tabulation.named("sensitive", sensitive),
    )
    table = release_tabulation.source(
        plpy, relation, ("quasi_identifiers", keys), ("sensitive", values), ("unit", listed(unit))
    )
    found = release_tabulation.tabulate(plpy, release_tabulation.as_seen(table, keys), keys, values, nulls, unit=unit)
    return [] if found is None else list(all_measures(values, found.compositions))


@sql_errors
def disclosure_risk(
    plpy: Plpy,
    relation: str | None,
    quasi_identifiers: list[str | None] | None,
    population: int | None,
    unit: str | None,
    nulls: str | None,
) -> Iterable[tuple[str, float]]:
    from discreet.release import risk
    from discreet.release.measures import NULLS
    from discreet.server import release_tabulation

    keys = release_tabulation.named("quasi_identifiers", quasi_identifiers)
    semantics = one_of("nulls", nulls, NULLS)
    if population is not None:
        at_least("population", population, 1)
    table = release_tabulation.source(plpy, relation, ("quasi_identifiers", keys), ("unit", listed(unit)))
    if unit is not None:
        release_tabulation.require_people(plpy, table, unit)
    rows = release_tabulation.coded(plpy, release_tabulation.as_seen(table, keys), [*keys, *listed(unit)])
    if not len(rows.count):
        return []
    codes, person = rows.split(len(keys), unit)
    crowds = risk.Crowds.of(codes, rows.count, person, semantics)
    return [
        *crowds.measures(population, "rows" if unit is None else "people", semantics),
        *risk.special_uniques(codes, rows.count, keys, person, semantics),
    ]


@sql_errors
def anonymize(
    plpy: Plpy,
    relation: str | None,
    release: str | None,
    quasi_identifiers: str | None,
    k: int | None,
    l_wanted: int | None,
    t: float | None,
    sensitive: str | None,
    max_suppression: float | None,
    method: str | None,
    keep: list[str | None] | None,
    distance: str | None,
    unit: str | None,
) -> str:
    from discreet.release.problem import Claim
    from discreet.server import release_anonymize, release_tabulation

    claim = Claim.of(k, l_wanted, t, distance, sensitive, max_suppression)
    recoded = optional_document("quasi_identifiers", quasi_identifiers)
    wanted = release_anonymize.wish(plpy, relation, release, recoded, sensitive, keep, unit)
    return release_tabulation.written(release_anonymize.anonymize(plpy, wanted, claim, method))


@sql_errors
def best_ranges(
    plpy: Plpy,
    relation: str | None,
    column_name: str | None,
    ranges: int | None,
    within: list[str | None] | None,
    lower: Decimal | None,
    upper: Decimal | None,
) -> Iterable[tuple[Decimal, Decimal, int]]:
    from discreet.release.ranges import found_ranges
    from discreet.server import release_tabulation

    name = given("column_name", column_name)
    others = release_tabulation.each_name("within", within)
    table = release_tabulation.source(plpy, relation, ("column_name", [name]), ("within", others))
    rows = release_tabulation.coded(plpy, table, [name, *others], texts=True)
    return found_ranges(table.types[name], name, rows.texts[0], rows.codes, rows.count, ranges, lower, upper)


@sql_errors
def create_release_view(
    plpy: Plpy,
    name: str | None,
    relation: str | None,
    quasi_identifiers: list[str | None] | None,
    k: int | None,
    sensitive: str | None,
    l_wanted: int | None,
    keep: list[str | None] | None,
    unit: str | None,
) -> None:
    from discreet.release.problem import Claim
    from discreet.server import release_anonymize, release_guard, release_tabulation

    claim = Claim.of(k, l_wanted, None, "equal", sensitive, 0)
    keys = release_tabulation.named("quasi_identifiers", quasi_identifiers)
    others = release_tabulation.each_name("keep", keep)
    table = release_tabulation.source(
        plpy, relation, ("quasi_identifiers", keys), ("sensitive", listed(sensitive)), ("keep", others),
        ("unit", [] if unit in others else listed(unit)),
    )  # fmt: skip
    target = release_anonymize.target_name(plpy, "name", name, table)
    release_guard.create_view(plpy, target, table, keys, claim.k, sensitive, claim.l, others, unit)


@sql_errors
def release_report(plpy: Plpy, release: str | None) -> str:
    from discreet.core.errors import UndefinedObjectError
    from discreet.release.page import page
    from discreet.server.plpy import run

    rows = run(
        plpy,
        "SELECT report FROM discreet.releases WHERE kind = 'table' AND release IN (:name::text,"
        " (SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
        " WHERE c.oid = to_regclass(:name::text))) ORDER BY at DESC LIMIT 1",
        name=given_name("release", release),
    )
    if not rows:
        raise UndefinedObjectError(
            f"there is no released table {release}", "View discreet.releases shows what was published."
        )
    return page(json.loads(rows[0]["report"]))
