"""Cross tables: discreet.suppress, controlled_round, audit_cells and ptable."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from discreet.core.declarations import document, given, one_of
from discreet.core.errors import InvalidParameterError, UnsafeReleaseError
from discreet.core.syntax import Json
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, run
from discreet.server.release_cells import MISSING, Cells
from discreet.server.release_publish import Original, Progress, new_table

FEW_HIDDEN = 250
MOST_SECONDS = 300


def holds_counts(table: Cells, contributor: str | None, counts: bool | None) -> bool:
    """Whether the value of a cell is the number of its people; `counts` is what the caller says of it.

    A sum that is taken for a count is published as if so many people were behind it. So nothing is guessed: whole
    numbers, one for each cell, may be either, and the caller must say which.
    """
    if table.value is None or contributor is not None:
        if counts is not None:
            raise InvalidParameterError(
                "counts says what the column of values holds, where no contributor is named",
                "Leave counts out: rows, or contributors, are counted.",
            )
        return table.value is None and contributor is None
    if counts and not table.holds_whole_numbers():
        raise InvalidParameterError(
            f"column {table.value.name} is of type {table.value.type}, which does not count people",
            "Cast it to bigint in a view if it holds counts, or name who contributes: contributor.",
        )
    if counts is None and table.may_hold_counts():
        raise InvalidParameterError(
            f"column {table.value.name} may hold counts or sums, which are hidden by other rules",
            "Say counts => true if each number is that many people. If the numbers are sums, let cells be the records, "
            "and name who contributes: contributor. With counts => false each row is one contributor.",
        )
    return bool(counts)


@sql_errors
def suppress(
    plpy: Plpy,
    cells: str | None,
    names: list[str] | None,
    value: str | None,
    threshold: Decimal | None,
    release: str | None,
    *,
    hierarchies: str | None,
    contributor: str | None,
    dominance_n: int | None,
    dominance_percent: Decimal | None,
    p_percent: Decimal | None,
    protection: Decimal | None,
    total: str | None,
    audit: str | None,
    counts: bool | None,
) -> str:
    import numpy as np

    from discreet.release.cubes import Need, Suppression, disclosed
    from discreet.release.intervals import audit as intervals_of
    from discreet.release.intervals import is_told
    from discreet.release.rules import Rules

    one_of("audit", audit, ("auto", "cubes", "linear programs"))
    if (dominance_n is None) != (dominance_percent is None):
        raise InvalidParameterError("dominance needs both numbers", "Give dominance_n and dominance_percent.")
    rules = Rules(
        exact("threshold", given("threshold", threshold)),
        None if dominance_n is None or dominance_percent is None
        else (dominance_n, exact("dominance_percent", dominance_percent)),
        None if p_percent is None else exact("p_percent", p_percent),
        exact("protection", given("protection", protection)),
    )  # fmt: skip
    if contributor is None and (rules.dominance or rules.p_percent):
        raise InvalidParameterError(
            "dominance and p-percent are about contributors", "Name the column that tells who contributes: contributor."
        )
    table = Cells(plpy, cells, names, value, hierarchies, total)
    written = new_table(plpy, release, table.source)
    progress = Progress(plpy)
    table.read()
    needs: dict[tuple[int, ...], Need] = {}
    broken: Counter[str] = Counter()
    counted = holds_counts(table, contributor, counts)
    if counted:
        singles = table.values == 1
        for place in np.argwhere((table.values > 0) & (table.values < float(rules.threshold))):
            cell = tuple(int(node) for node in place)
            need = rules.count(int(table.values[cell]))
            if need is not None:
                needs[cell] = need
                broken["threshold"] += 1
    else:
        singles = np.zeros(table.values.shape, dtype=np.bool_)
        who = None if contributor is None else table.source.column(contributor, "contributor")
        for cell, behind in table.contributions(who, rules.dominance[0] if rules.dominance else 1):
            singles[cell] = behind.contributors == 1
            found = rules.magnitude(int(table.values[cell]), behind)
            if found is not None:
                needs[cell] = found[0]
                broken.update(found[1])
    work = Suppression(table.dimensions, table.values, needs, singles, progress.share("hiding cells"))
    work.run()
    left = disclosed(table.dimensions, table.values, work.hidden, needs, work.proofs)
    if left:
        raise UnsafeReleaseError(
            f"{len(left)} hidden cells are without a proof; nothing is published", "Please report it."
        )
    hidden = int(work.hidden.sum())
    unit = 10**table.scale
    report: dict[str, Json] = {
        "cells": int(table.values.size),
        "published": int(table.values.size) - hidden,
        "primary": len(needs),
        "complementary": hidden - len(needs),
        "contributors": contributor or ("rows" if value is None or not counted else "values"),
        "rules": dict(broken),
        "audit": {"method": "cubes", "proven": hidden, "disclosed": 0},
    }
    if audit == "linear programs" or (audit == "auto" and hidden <= FEW_HIDDEN):
        progress.say(f"auditing {hidden} hidden cells by linear programs")
        found_intervals = intervals_of(
            table.dimensions, table.values, work.hidden, progress.share("auditing hidden cells")
        )
        for cell, need in needs.items():
            lower, upper = found_intervals[cell]
            slack = 1e-6 * max(1, int(table.values[cell]))
            if not need.met_by(int(table.values[cell]), lower - slack, upper + slack):
                raise UnsafeReleaseError("an interval is shorter than was proven", "Please report it.")
        widths = [upper - lower for lower, upper in found_intervals.values()]
        report["audit"] = {
            "method": "linear programs",
            "proven": hidden,
            "disclosed": sum(map(is_told, found_intervals.values())),
        }
        if widths:
            report["audit"]["narrowest"] = narrowest(min(widths), unit)
        if report["audit"]["disclosed"]:
            raise UnsafeReleaseError("an interval is shorter than was proven", "Please report it.")
    elif work.proofs:
        report["audit"]["narrowest"] = narrowest(min(proof.up + proof.down for proof in work.proofs.values()), unit)
    table.write(written, table.values, work.hidden)
    return json.dumps(report)


def exact(name: str, number: Decimal) -> Fraction:
    if not number.is_finite():
        raise InvalidParameterError(f"{name} is {number}", "Give a finite number.")
    return Fraction(number)


def narrowest(width: float, unit: int) -> float | None:
    """JSON has no infinity: None stands for an interval without an upper end."""
    return None if width >= 2**40 else round(width / unit, 6)


@sql_errors
def controlled_round(
    plpy: Plpy,
    cells: str | None,
    names: list[str] | None,
    value: str | None,
    base: int | None,
    release: str | None,
    secret: str | None,
    hierarchies: str | None,
    total: str | None,
    seconds: float | None,
) -> str:
    import numpy as np

    from discreet.release.rounding import adds_up
    from discreet.release.rounding import controlled_round as rounded

    table = Cells(plpy, cells, names, value, hierarchies, total)
    written = new_table(plpy, release, table.source)
    if given("base", base) < 1:
        raise InvalidParameterError(
            f"base is {base}, to which nothing can be rounded", "Give 1 or more, such as 3 or 5."
        )
    if not 0 < given("seconds", seconds) <= MOST_SECONDS:
        raise InvalidParameterError(
            f"seconds is {seconds}", f"Give the time that may be taken, up to {MOST_SECONDS}: no cancel shortens it."
        )
    table.read()
    if table.scale:
        raise InvalidParameterError("the cells are not whole numbers", "Round tables of counts.")
    places = np.indices(table.values.shape).reshape(len(table.columns), -1)
    labels = [
        json.dumps([each.labels[node] for each, node in zip(table.dimensions, cell, strict=True)])
        for cell in places.T.tolist()
    ]
    keys = run(
        plpy,
        "SELECT discreet.record_key(t.label, :secret::text) AS key"
        " FROM unnest(:labels::text[]) WITH ORDINALITY AS t(label, number) ORDER BY number",
        secret=given("secret", secret),
        labels=labels,
    )
    found = rounded(
        table.dimensions, table.values, given("base", base), [row["key"] for row in keys], given("seconds", seconds)
    )
    if not adds_up(table.dimensions, found.values) or (found.values % given("base", base)).any():
        raise UnsafeReleaseError("the rounded table does not add up; nothing is published", "Please report it.")
    table.write(written, found.values)
    return json.dumps(
        {
            "cells": int(table.values.size),
            "changed": int((found.values != table.values).sum()),
            "to_neighbours": found.zero_restricted,
            "largest_change": found.largest_change(table.values),
        }
    )


@sql_errors
def ptable(plpy: Plpy, deviation: float | None, max_noise: int | None, min_count: int | None) -> str:
    from discreet.release.ptable import Ptable

    made = Ptable(given("deviation", deviation), given("max_noise", max_noise), given("min_count", min_count))
    return json.dumps(
        {"deviation": made.deviation, "max_noise": made.max_noise, "min_count": made.min_count, "rows": made.rows()}
    )


@sql_errors
def audit_cells(
    plpy: Plpy,
    cells: str | None,
    names: list[str] | None,
    value: str | None,
    hierarchies: str | None,
    total: str | None,
) -> Iterable[tuple[str, Decimal, Decimal | None, bool]]:
    from discreet.release.intervals import audit, is_told
    from discreet.release.published import Published

    source = Original.of(plpy, cells)
    columns = source.some(names, "dimensions")
    numbers = source.column(value, "value")
    spec = {} if hierarchies is None else document("hierarchies", hierarchies)
    listed = ", ".join(
        f"coalesce({column.quoted}::pg_catalog.text, '{MISSING}') AS d{n}" for n, column in enumerate(columns)
    )
    rows = plpy.execute(f"SELECT {listed}, {numbers.quoted}::pg_catalog.numeric AS value FROM {source.name}")
    table = Published.of(
        [column.name for column in columns],
        [(tuple(row[f"d{n}"] for n in range(len(columns))), row["value"]) for row in rows],
        spec,
        given("total", total),
    )
    unit = 10**table.scale
    found = audit(table.dimensions, table.values, table.hidden, Progress(plpy).share("auditing hidden cells"))
    answer = []
    for cell, (lower, upper) in found.items():
        labels = {each.name: each.labels[node] for each, node in zip(table.dimensions, cell, strict=True)}
        ends = [Decimal(str(round(end / unit, 6))) if end != float("inf") else None for end in (lower, upper)]
        answer.append((json.dumps(labels), ends[0] or Decimal(0), ends[1], is_told((lower, upper))))
    return answer
