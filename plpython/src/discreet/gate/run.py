"""Stage run: the native SQL that computes the exact integers of every group. PostgreSQL does all work per row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from discreet.core.quoting import identifier
from discreet.dp.grid import Grid
from discreet.gate import printer
from discreet.gate.finish import built
from discreet.gate.known import kept_with_plan
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.plan import Plan
from discreet.gate.printer import operator, output_text, printed
from discreet.gate.sampling import Sampled
from discreet.gate.tree import NATIVE_TYPE, Table

# PostgreSQL gives an aggregate at most 99 arguments
MOST_VALUES = 90
SMALL_BITS = 22
# in parallel workers, in memory; and in one process, which may write to a file
PEOPLE = ("_people", "_people_alone")


@dataclass(frozen=True)
class Statement:
    """Native SQL whose columns are the texts of the keys of a grouping set, then an integer per measurement.

    A statement for quantiles of one value has two integers instead: bin and number. Where there are several
    ways to the same rows, each is to be gone when those before it meet a limit of the program.
    """

    ways: tuple[str, ...]
    keys: tuple[int, ...]
    measurements: tuple[Measurement, ...]

    @property
    def columns(self) -> int:
        quantile = self.measurements[0].quantity is Quantity.QUANTILE
        return len(self.keys) + (2 if quantile else len(self.measurements))

    @property
    def sql(self) -> str:
        return self.ways[0]

    @cached_property
    def as_texts(self) -> list[str]:
        """Its ways, each row as one text."""
        columns = [f"c{n}" for n in range(self.columns)]
        names, row = ", ".join(columns), built("jsonb_build_array", columns)
        return [f"SELECT ({row})::pg_catalog.text FROM ({sql}) AS t({names})" for sql in self.ways]


def statements(plan: Plan, keys: tuple[int, ...], seed: int) -> list[Statement]:
    """Those of one grouping set; `seed` is the fresh secret of the keyed hash, by which rows of a person are chosen."""
    return without_choice(plan, [keys]) if plan.source.single else chosen_by(plan, keys, seed)


@kept_with_plan
def without_choice(plan: Plan, sets: Sequence[tuple[int, ...]]) -> list[Statement]:
    """Those of one grouping set where no person has more than one row."""
    (keys,) = sets
    return chosen_by(plan, keys, 0)


def chosen_by(plan: Plan, keys: tuple[int, ...], seed: int) -> list[Statement]:
    alone = [m for m in plan.measurements if is_alone(m, plan)]
    together = tuple(m for m in plan.measurements if m not in alone)
    found = [Statement(together_ways(plan, keys, together, seed), keys, together)] if together else []
    binned: dict[object, list[Measurement]] = {}
    for measurement in alone:
        if measurement.quantity is Quantity.QUANTILE:
            binned.setdefault((measurement.subject, measurement.bins), []).append(measurement)
        else:
            found.append(Statement((distinct_sql(plan, keys, measurement, seed),), keys, (measurement,)))
    for some in binned.values():
        found.append(Statement((quantile_sql(plan, keys, some[0], seed),), keys, tuple(some)))
    return found


def is_alone(measurement: Measurement, plan: Plan) -> bool:
    if measurement.quantity is Quantity.QUANTILE:
        return True
    return measurement.quantity in (Quantity.DISTINCT, Quantity.DISTINCT_TOTAL) and not plan.source.single


def together_ways(
    plan: Plan, keys: tuple[int, ...], measurements: tuple[Measurement, ...], seed: int
) -> tuple[str, ...]:
    if plan.source.single:
        return (single_sql(plan, keys, measurements),)
    nested = nested_sql(plan, keys, measurements, seed)
    subjects = people_subjects(measurements)
    if len(subjects) + len(keys) > MOST_VALUES:
        return (nested,)
    together, alone = (people_sql(plan, keys, measurements, subjects, seed, name) for name in PEOPLE)
    return together, alone, nested


def single_sql(plan: Plan, keys: tuple[int, ...], measurements: tuple[Measurement, ...]) -> str:
    """Each person has at most one row, and is in one group: only groups are turned into text, and looked up."""
    numbers = [f"m{n}" for n in range(len(measurements))]
    columns = [f"{number_sql(m)} AS {name}" for m, name in zip(measurements, numbers, strict=True)]
    only = where(plan, plan.limiting(keys))
    grouped = (
        f"SELECT {', '.join(key_columns(plan, keys) + columns)} FROM {source_sql(plan)}{only}{group_by(len(keys))}"
    )
    if not keys:
        return grouped
    # the planner would look up the key of every row
    grouped += " OFFSET 0"
    known = [plan.grouping.keys[key].among_groups(f"k{key}") for key in keys if plan.grouping.keys[key].domain]
    only = f" WHERE {' AND '.join(known)}" if known else ""
    return f"SELECT {', '.join(outer_texts(keys) + numbers)} FROM ({grouped}) AS grouped{only}"


def people_subjects(measurements: tuple[Measurement, ...]) -> dict[Subject, str]:
    """The values that discreet._people is given, and what it makes of each: counts (R), sums too (S), squares too (Q).

    NULL is what is not counted.
    """
    subjects: dict[Subject, str] = {}
    for measurement in measurements:
        subject = written(measurement.subject)
        kind = "R" if subject.grid is None else "Q" if measurement.quantity is Quantity.SQUARES else "S"
        subjects[subject] = max(subjects.get(subject, "R"), kind, key="RSQ".index)
    return subjects


def written(subject: Subject) -> Subject:
    """The subject, without what does not change its SQL."""
    return replace(subject, whole=False)


def people_value(subject: Subject) -> str:
    conditions = [printed(subject.condition)] if subject.condition is not None else []
    value = "1::pg_catalog.int8"
    if subject.grid is not None:
        value = grid_sql(subject)
    elif subject.argument is not None:
        # count() counts a row of NULLs
        conditions.append(f"({printed(subject.argument)} IS DISTINCT FROM NULL)")
    return f"CASE WHEN {' AND '.join(conditions)} THEN {value} END" if conditions else value


def people_sql(
    plan: Plan,
    keys: tuple[int, ...],
    measurements: tuple[Measurement, ...],
    subjects: dict[Subject, str],
    seed: int,
    name: str,
) -> str:
    """All in one pass: the aggregate keeps what each person has in each group."""
    limits = plan.source.limits
    values = [f"s{n}" for n in range(len(subjects))]
    columns = [f"{people_value(subject)} AS {name}" for subject, name in zip(subjects, values, strict=True)]
    columns = [*person_columns(plan), *columns]
    # in a subquery: texts of several collations can be arguments only as its columns
    rows = f"SELECT {', '.join(columns + key_columns(plan, keys))} FROM {source_sql(plan)}{where(plan, keys)}"
    given = [
        f"{seed}::pg_catalog.int8",
        str(limits.max_groups),
        str(limits.rows()),
        f"{limits.rows(limits.max_groups)}::pg_catalog.int8",
        f"'{''.join(subjects.values())}'",
    ]
    arguments = ", ".join(["u", *given, *values, *(f"k{key}" for key in keys)])
    found = f"SELECT discreet.{name}({arguments}) AS found FROM ({rows}) AS rows"
    if plan.by_period:
        found += " GROUP BY p"
    texts = [f"pg_catalog.jsonb_extract_path_text(g, '0', '{n}')" for n in range(len(keys))]
    places = {subject: place for place, subject in enumerate(subjects, start=1)}
    numbers = [people_number(m, places[written(m.subject)]) for m in measurements]
    groups = (
        f"SELECT {', '.join(f'{column} AS c{n}' for n, column in enumerate(texts + numbers))} FROM ({found}) AS people,"
        " LATERAL pg_catalog.jsonb_array_elements(found::pg_catalog.jsonb) AS groups(g)"
    )
    if not plan.by_period:
        return groups
    sums = [f"COALESCE(pg_catalog.sum(c{n}), 0)" for n in range(len(texts), len(texts + numbers))]
    columns = [f"c{n}" for n in range(len(texts))] + sums
    return f"SELECT {', '.join(columns)} FROM ({groups}) AS of_period{group_by(len(texts))}"


def people_number(measurement: Measurement, place: int) -> str:
    people, rows, total, squares = (
        f"pg_catalog.jsonb_extract_path_text(g, '{place}', '{n}')::pg_catalog.numeric" for n in range(4)
    )
    if measurement.quantity is Quantity.PEOPLE:
        return people
    return rows if measurement.quantity is Quantity.ROWS else combined(measurement, rows, total, squares)


def nested_sql(plan: Plan, keys: tuple[int, ...], measurements: tuple[Measurement, ...], seed: int) -> str:
    """The same by sorting, for persons whose equals are written differently, and for sums beyond 64 bits."""
    pieces = {
        piece: f"p{n}" for n, piece in enumerate(dict.fromkeys(p for m in measurements for p in person_pieces(m)))
    }
    persons = person_columns(plan)
    columns_of_person = ", ".join(
        [
            *persons,
            *key_columns(plan, keys),
            *(f"{piece.sql} AS {name}" for piece, name in pieces.items()),
        ]
    )
    # by position: a column of the table may have the name of one of ours
    grouped = (
        f"SELECT {columns_of_person} FROM {source_sql(plan)}{where(plan, keys)}{group_by(len(persons) + len(keys))}"
    )
    chosen = chosen_groups(plan, keys, grouped, seed)
    rows = dict.fromkeys(pieces.values(), str(plan.source.limits.rows()))
    if is_bounded_in_all(plan, keys):
        counts = dict.fromkeys(pieces[person_pieces(m)[0]] for m in measurements)
        rows = {count: f"rows_of_{count}" for count in counts}
        chosen = counted_rows(plan, chosen, rows)
    columns = [f"{person_sql(m, pieces, rows)} AS m{n}" for n, m in enumerate(measurements)]
    return f"SELECT {', '.join(outer_texts(keys) + columns)} FROM ({chosen}) AS person{group_by(len(keys))}"


def number_sql(measurement: Measurement) -> str:
    """Where each person has at most one row."""
    subject, quantity = measurement.subject, measurement.quantity
    only = filter_sql(subject)
    if quantity is Quantity.PEOPLE:
        return f"pg_catalog.count(*){only}"
    if quantity is Quantity.ROWS:
        return f"pg_catalog.count({argument_sql(subject)}){only}"
    if quantity is Quantity.DISTINCT:
        return f"pg_catalog.count(DISTINCT {argument_sql(subject)}){only}"
    g = grid_sql(subject)
    if quantity is Quantity.DISTINCT_TOTAL:
        return f"COALESCE(pg_catalog.sum(DISTINCT {g}){only}, 0)"
    squares = f"COALESCE(pg_catalog.sum(({g}) OPERATOR(pg_catalog.*) ({g})){only}, 0)"
    count, total = f"pg_catalog.count({g}){only}", f"COALESCE(pg_catalog.sum({g}){only}, 0)"
    if subject.grid is not None and (coarse := whole_grid(subject)) is not None:
        small = f"discreet._clamped({argument_sql(subject)}, {coarse.lower}, {coarse.upper})"
        small = f"COALESCE({small}, {coarse.lower})" if subject.everybody else small
        total = operator("*", f"COALESCE(pg_catalog.sum({small}){only}, 0)", numeric(2**-subject.grid.exponent))
    return combined(measurement, count, total, squares)


def whole_grid(subject: Subject) -> Grid | None:
    """The grid of step 1 that holds all values, where these are whole numbers between small bounds that are on it.

    Their sum is that on the finer grid divided by its steps, and PostgreSQL adds small integers fastest; with 22 bits
    2**41 of them fit into the 64 bits of the sum.
    """
    grid = subject.grid
    if (
        not subject.whole
        or grid is None
        or subject.other is not None
        or grid.exponent > 0
        or grid.reach > 2 ** (SMALL_BITS - grid.exponent)
    ):
        return None
    (lower, below), (upper, above) = (divmod(end, 2**-grid.exponent) for end in (grid.lower, grid.upper))
    return None if below or above else Grid(0, lower, upper)


def combined(measurement: Measurement, count: str, total: str, squares: str) -> str:
    """The centred sum is that of 2 x - c, the centred squares that of (2 x - c)², with c = lower + upper."""
    grid = measurement.subject.grid
    assert grid is not None
    c = grid.lower + grid.upper
    if measurement.quantity is Quantity.VALUES:
        return count
    if measurement.quantity in (Quantity.TOTAL, Quantity.PRODUCTS):
        return total
    if measurement.quantity is Quantity.CENTRED:
        return operator("-", operator("*", "2", total), operator("*", numeric(c), numeric(count)))
    squared = operator("-", operator("*", "4", squares), operator("*", numeric(4 * c), total))
    return operator("+", squared, operator("*", numeric(c * c), numeric(count)))


def numeric(number: int | str) -> str:
    return f"({number})::pg_catalog.numeric"


@dataclass(frozen=True)
class Piece:
    """What is computed per person and group: a number of rows or values, a sum, or a sum of squares."""

    of: str
    subject: Subject

    @property
    def sql(self) -> str:
        only = filter_sql(self.subject)
        if self.of == "rows":
            return f"pg_catalog.count({argument_sql(self.subject)}){only}"
        g = grid_sql(self.subject)
        if self.of == "values":
            return f"pg_catalog.count({g}){only}"
        return f"pg_catalog.sum({g if self.of == 'sum' else f'({g}) OPERATOR(pg_catalog.*) ({g})'}){only}"


def person_pieces(measurement: Measurement) -> list[Piece]:
    """What is computed per person and group; first a count."""
    subject = written(measurement.subject)
    if measurement.quantity in (Quantity.PEOPLE, Quantity.ROWS):
        return [Piece("rows", subject)]
    of = ["values", "sum", "squares"] if measurement.quantity is Quantity.SQUARES else ["values", "sum"]
    return [Piece(one, subject) for one in of]


def person_sql(measurement: Measurement, pieces: dict[Piece, str], rows_of: dict[str, str]) -> str:
    """The sum over persons, each with at most as many rows' worth as `rows_of` has for the count."""
    count, *sums = (pieces[piece] for piece in person_pieces(measurement))
    if measurement.quantity is Quantity.PEOPLE:
        return f"pg_catalog.count(*) FILTER (WHERE {operator('>', count, '0')})"
    rows = rows_of[count]
    capped = f"COALESCE(pg_catalog.sum(LEAST({count}, {rows})), 0)"
    if measurement.quantity is Quantity.ROWS:
        return capped
    total, *squares = (
        f"COALESCE(pg_catalog.sum(CASE WHEN {operator('>', count, rows)}"
        f" THEN pg_catalog.div({operator('*', numeric(s), rows)}, {count}) ELSE {s} END), 0)"
        for s in sums
    )
    return combined(measurement, capped, total, squares[0] if squares else "0")


def chosen_groups(plan: Plan, keys: tuple[int, ...], grouped: str, seed: int) -> str:
    """Persons in at most max_groups groups each; who is in more keeps those that the keyed hash puts first."""
    if known_groups(plan, keys) <= plan.source.limits.max_groups and not is_bounded_in_all(plan, keys):
        return grouped
    order = group_order(keys, seed)
    place = f"pg_catalog.row_number() OVER (PARTITION BY {person(plan)} ORDER BY {order})"
    ranked = f"SELECT *, {place} AS place FROM ({grouped}) AS grouped"
    return f"SELECT * FROM ({ranked}) AS ranked WHERE {operator('<=', 'place', str(plan.source.limits.max_groups))}"


def is_bounded_in_all(plan: Plan, keys: tuple[int, ...]) -> bool:
    """Whether there may be so many groups that max_total_rows can be exceeded."""
    limits = plan.source.limits
    groups = int(min(known_groups(plan, keys), limits.max_groups))
    return limits.rows(groups) < limits.rows() * groups


def counted_rows(plan: Plan, chosen: str, rows: dict[str, str]) -> str:
    """Beside each count of `rows`, under the name there, the rows that count: none after max_total_rows of them."""
    limits = plan.source.limits
    before = f"(PARTITION BY {person(plan)} ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    most = limits.rows()
    columns = []
    for count, name in rows.items():
        used = f"COALESCE(pg_catalog.sum(LEAST({count}, {most})) OVER before, 0)"
        left = operator("-", str(limits.max_total_rows), used)
        columns.append(f"GREATEST(LEAST({most}, {left}), 0) AS {name}")
    return f"SELECT *, {', '.join(columns)} FROM ({chosen}) AS chosen WINDOW before AS {before}"


def known_groups(plan: Plan, keys: tuple[int, ...]) -> float:
    """The most groups there can be."""
    domains = ((plan.grouping.keys[key].groups, plan.grouping.keys[key].nullable) for key in keys)
    return math.prod(math.inf if groups is None else len(groups) + nullable for groups, nullable in domains)


def group_order(keys: tuple[int, ...], seed: int) -> str:
    texts = ", ".join(f'(k{key})::pg_catalog.text COLLATE pg_catalog."C"' for key in keys)
    return f"pg_catalog.hashtextextended(pg_catalog.concat_ws('|', {texts}), {person_secret(seed)}), {texts}"


def person_secret(seed: int) -> str:
    """A secret of each person `u`, so that not all people choose alike; of equal units, the same."""
    return f"pg_catalog.hash_record_extended(ROW(u), {seed})"


def cut_sql(plan: Plan) -> str:
    """How many people have more rows in a group, or in all, than count, or are in more groups.

    Of the grouping set with most keys: in the others a person is in no more groups. Adding or removing a person changes
    the number by 1.
    """
    keys = max(plan.grouping.sets, key=len)
    limits = plan.source.limits
    persons = person_columns(plan)
    columns = ", ".join([*persons, *key_columns(plan, keys), "pg_catalog.count(*) AS n"])
    grouped = f"SELECT {columns} FROM {source_sql(plan)}{where(plan, keys)}{group_by(len(persons) + len(keys))}"
    beyond = [operator(">", "pg_catalog.max(n)", str(limits.rows()))]
    if keys:
        beyond.append(operator(">", "pg_catalog.count(*)", str(limits.max_groups)))
        beyond.append(operator(">", "pg_catalog.sum(n)", str(limits.rows(limits.max_groups))))
    cut = f"SELECT u FROM ({grouped}) AS person GROUP BY {person(plan)} HAVING {' OR '.join(beyond)}"
    return f"SELECT (pg_catalog.count(*))::pg_catalog.text FROM ({cut}) AS cut"


def distinct_sql(plan: Plan, keys: tuple[int, ...], measurement: Measurement, seed: int) -> str:
    """Distinct values, of each person at most max_rows in a group and max_total_rows in all."""
    chosen = chosen_rows(plan, keys, measurement.subject, seed, distinct=True)
    number = "pg_catalog.count(DISTINCT x)"
    if measurement.quantity is Quantity.DISTINCT_TOTAL:
        number = f"COALESCE(pg_catalog.sum(DISTINCT {on_grid('x', measurement.subject.grid)}), 0)"
    columns = ", ".join([*outer_texts(keys), f"{number} AS m0"])
    return f"SELECT {columns} FROM ({chosen}) AS chosen{group_by(len(keys))}"


def quantile_sql(plan: Plan, keys: tuple[int, ...], measurement: Measurement, seed: int) -> str:
    """How many values lie in each bin."""
    assert measurement.bins is not None
    if plan.source.single:
        columns = ", ".join([*key_columns(plan, keys), f"{argument_sql(measurement.subject)} AS x"])
        counted = (*keys, *plan.limiting(keys))
        chosen = f"SELECT {columns} FROM {source_sql(plan)}{where(plan, counted, measurement.subject)}"
    else:
        chosen = chosen_rows(plan, keys, measurement.subject, seed, distinct=False)
    columns = ", ".join([*outer_texts(keys), f"{measurement.bins.sql('x')} AS bin", "pg_catalog.count(*) AS m0"])
    binned = (
        f"SELECT {columns} FROM ({chosen}) AS chosen GROUP BY {', '.join(str(n + 1) for n in range(len(keys) + 1))}"
    )
    return f"SELECT * FROM ({binned}) AS binned WHERE bin IS NOT NULL"


def chosen_rows(plan: Plan, keys: tuple[int, ...], subject: Subject, seed: int, distinct: bool) -> str:
    """Rows of persons in chosen groups, at most max_rows per person and group, by a keyed hash of the value.

    Groups come in their order until there are max_total_rows of a person.
    """
    limits = plan.source.limits
    columns = ", ".join([*person_columns(plan), *key_columns(plan, keys), f"{argument_sql(subject)} AS x"])
    rows = f"SELECT {'DISTINCT ' if distinct else ''}{columns} FROM {source_sql(plan)}{where(plan, keys, subject)}"
    partition = ", ".join([person(plan), *(f"k{key}" for key in keys)])
    order = f'pg_catalog.hashtextextended({output_text("x")} COLLATE pg_catalog."C", {person_secret(seed)})'
    place = f"pg_catalog.row_number() OVER (PARTITION BY {partition} ORDER BY {order})"
    group = "1"
    if keys:
        group = f"pg_catalog.dense_rank() OVER (PARTITION BY {person(plan)} ORDER BY {group_order(keys, seed)})"
    ranked = f"SELECT *, {place} AS row_place, {group} AS group_place FROM ({rows}) AS kept WHERE x IS NOT NULL"
    rows_kept = operator("<=", "row_place", str(limits.rows()))
    groups_kept = operator("<=", "group_place", str(limits.max_groups))
    kept = f"FROM ({ranked}) AS ranked WHERE {rows_kept} AND {groups_kept}"
    if not is_bounded_in_all(plan, keys):
        return f"SELECT * {kept}"
    place = f"pg_catalog.row_number() OVER (PARTITION BY {person(plan)} ORDER BY group_place, row_place)"
    counted = f"SELECT *, {place} AS place {kept}"
    return f"SELECT * FROM ({counted}) AS counted WHERE {operator('<=', 'place', str(limits.max_total_rows))}"


def source_sql(plan: Plan) -> str:
    return printer.rows(plan.source.rows)


def person(plan: Plan) -> str:
    """The columns to which the bounds of a person apply: where periods are apart, those of each period."""
    return "u, p" if plan.by_period else "u"


def person_columns(plan: Plan) -> list[str]:
    return [f"{unit_sql(plan)} AS u", *([f"{period_sql(plan)} AS p"] if plan.by_period else [])]


def period_sql(plan: Plan) -> str:
    """The number of the period of a row among those that are charged; 0 for undated rows. No time makes it fail."""
    charged = plan.charged
    assert charged is not None
    assert charged.time is not None
    of_type, numbers = NATIVE_TYPE[charged.time.family], charged.numbers
    # the day after each charged period ends it, where the next one does not begin there
    days = [day for span in (charged.calendar.spans([number])[0] for number in numbers) for day in span]
    ends = ", ".join(printer.beginning_of(day, of_type) for day in sorted(set(days)))
    bucket = f"pg_catalog.width_bucket({printed(charged.time)}, ARRAY[{ends}]::pg_catalog.{of_type}[])"
    held = f"{operator('>=', bucket, '1')} AND {operator('<', bucket, str(len(set(days))))}"
    return f"(CASE WHEN {held} THEN {bucket} ELSE 0 END)"


def unit_sql(plan: Plan) -> str:
    assert plan.source.unit is not None
    return printed(plan.source.unit)


def argument_sql(subject: Subject) -> str:
    return "*" if subject.argument is None else printed(subject.argument)


def grid_sql(subject: Subject) -> str:
    """The value of a row on its grid; of two of them, the product of their distances from the middle, times 4."""
    found = on_grid(argument_sql(subject), subject.grid)
    if subject.other is not None:
        sides = (
            centred(found, subject.grid),
            centred(on_grid(printed(subject.other), subject.other_grid), subject.other_grid),
        )
        return operator("*", *sides)
    assert subject.grid is not None
    return f"COALESCE({found}, ({subject.grid.lower})::pg_catalog.int8)" if subject.everybody else found


def on_grid(value: str, grid: Grid | None) -> str:
    assert grid is not None
    lower, upper = (f"({end})::pg_catalog.int8" for end in (grid.lower, grid.upper))
    return f"discreet._on_grid({value}, {grid.exponent}, {lower}, {upper})"


def centred(value: str, grid: Grid | None) -> str:
    assert grid is not None
    twice = operator("*", "2::pg_catalog.int8", value)
    return operator("-", twice, f"({grid.lower + grid.upper})::pg_catalog.int8")


def filter_sql(subject: Subject) -> str:
    return "" if subject.condition is None else f" FILTER (WHERE {printed(subject.condition)})"


def key_columns(plan: Plan, keys: tuple[int, ...]) -> list[str]:
    return [f"{plan.grouping.keys[key].sql} AS k{key}" for key in keys]


def outer_texts(keys: tuple[int, ...]) -> list[str]:
    return [f"(k{key})::pg_catalog.text" for key in keys]


def group_by(keys: int) -> str:
    return f" GROUP BY {', '.join(str(n + 1) for n in range(keys))}" if keys else ""


def where(plan: Plan, keys: tuple[int, ...], subject: Subject | None = None) -> str:
    """Rows without a person, and values outside declared categories, take no part; nor what `subject` leaves out.

    Nor do people who are not in the sample, if the question is answered from one.
    """
    conditions = [printed(condition) for condition in plan.source.with_people(plan.conditions)]
    known = (plan.grouping.keys[place] for place in keys)
    conditions += [key.in_domain for key in known if key.domain is not None]
    if subject is not None and subject.condition is not None:
        conditions.append(printed(subject.condition))
    if plan.sample is not None:
        conditions += sampled(plan, plan.sample)
    return printer.where(conditions)


def sampled(plan: Plan, sample: Sampled) -> Iterator[str]:
    """That the person of a row belongs to the sample; where an index leads to the rows, that again for the index."""
    unit, rows = unit_sql(plan), plan.source.rows
    yield sample.sql(unit)
    if isinstance(rows, Table) and rows.relation.protection is not None and rows.relation.protection.indexed:
        inner = replace(rows, alias="sampled")
        people = sample.looked_up(printer.table(inner), f"sampled.{identifier(rows.relation.protection.unit)}")
        if people is not None and not rows.path:
            yield f"{unit} OPERATOR(pg_catalog.=) ANY ({people})"
