"""Stage plan: a question becomes measurements and a shape for the answer. Looks at text and catalog only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property

from pglast import ast

from discreet.gate.aggregates import Aggregate, compile_aggregate
from discreet.gate.answer import answer_sql, answer_with_errors, errors_of
from discreet.gate.expressions import function_name
from discreet.gate.finish import rows_sql
from discreet.gate.inlined import Inlined
from discreet.gate.keys import key_of
from discreet.gate.known import Known
from discreet.gate.margins import Wanted, margin_errors
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.names import Source
from discreet.gate.payers import Personal, paid, paid_personally
from discreet.gate.people import compared_in, refuse_strangers
from discreet.gate.periods import Calendar, Charged, Opened
from discreet.gate.post import SET, tells_set
from discreet.gate.presence import counts_everybody, of_everybody
from discreet.gate.propagation import Dependence, NumberType, released_aggregate, released_key
from discreet.gate.question import Answered, Context, Question, aggregate_calls, shaped
from discreet.gate.refusal import refuse, refusing_at
from discreet.gate.sampling import Sampled
from discreet.gate.scans import charged_rows
from discreet.gate.schema import Relation, Schema
from discreet.gate.subquestions import Subquestions
from discreet.gate.totality import refuse_partial, trials
from discreet.gate.traces import Comparison, all_comparisons, told_apart, trace
from discreet.gate.trackers import fixed_columns, refuse_trackers
from discreet.gate.tree import Expression, expressions_of


@dataclass(frozen=True)
class Plan(Answered):
    """A question that can be answered with noise: what is measured about whom, and what is made of it.

    `fixed_columns`: those that the conditions of an aggregate compare by value, of the one that compares most.
    `personal`: people pay for it themselves. `subquestions`: those whose answers are constants of this one,
    as long as they are not answered; `within`: answered or not.
    `sample`: the part of the people that it is answered from, if not all. `as_of`: what it takes for now(), if another
    moment. `charged`: the periods that pay for it, where the dataset has periods. `favour`: names of columns or
    aggregates that are to be more exact than others (gate/shares.py).
    """

    measurements: tuple[Measurement, ...]
    aggregates: tuple[Aggregate, ...]
    fixed_columns: tuple[str, ...] = ()
    personal: Personal | None = None
    subquestions: tuple[Plan, ...] = ()
    within: tuple[Plan, ...] = ()
    sample: Sampled | None = None
    as_of: datetime | None = None
    charged: Charged | None = None
    favour: tuple[str, ...] = ()

    @property
    def by_period(self) -> bool:
        """Whether the bounds of a person hold for each period apart."""
        return self.charged is not None and self.charged.time is not None

    @property
    def thresholds(self) -> bool:
        """Whether keys are unknown, and shown only when many people share them."""
        return not all(key.known for key in self.grouping.keys)

    def knows_groups(self, keys: tuple[int, ...]) -> bool:
        """Whether the groups of a grouping set are known without looking at people."""
        return all(self.grouping.keys[place].known for place in keys)

    @cached_property
    def adds_up(self) -> bool:
        """Whether numbers of its grouping sets add up to each other: each person is in one group of each of them."""
        sets = [frozenset(keys) for keys in self.grouping.sets]
        apart = len(sets) == len(set(sets)) > 1 and self.source.single and self.personal is None
        return apart and all(key.domain is not None and key.listed is None for key in self.grouping.keys)

    def limiting(self, keys: tuple[int, ...]) -> tuple[int, ...]:
        """The other keys of which a row must be in a group, so that it counts in the groups of these."""
        every = range(len(self.grouping.keys))
        return tuple(place for place in every if place not in keys) if self.adds_up else ()

    @property
    def diagnosed(self) -> Fraction:
        """The share of the price that tells how many people were cut, where rows of people are limited."""
        return Fraction(0) if self.source.single or self.personal is not None else self.dataset.diagnose

    @property
    def sharing(self) -> int:
        """How many measurements share the epsilon of the question; the others have one of their own."""
        return sum(measurement.own is None for measurement in self.measurements)

    @property
    def own_epsilon(self) -> Fraction:
        """What the measurements with an epsilon of their own cost together, per grouping set."""
        return sum((m.own.worth for m in self.measurements if m.own), Fraction(0))

    @property
    def own_amount(self) -> Fraction:
        """The same in the currency of the dataset."""
        return sum((m.own.price(self.dataset.accounting).amount for m in self.measurements if m.own), Fraction(0))

    @cached_property
    def answer_columns(self) -> list[tuple[str, str]]:
        """The columns of the measured table: keys, aggregates, errors."""
        keys = [(f"k{n}", key.native_type) for n, key in enumerate(self.grouping.keys)]
        numbers = [(f"a{n}", aggregate.result_type) for n, aggregate in enumerate(self.aggregates)]
        errors = [(f"e{n}", "numeric") for n in range(len(self.errors))]
        errors += [(name, "numeric[]") for name in self.margins.values()]
        return keys + numbers + errors + ([(SET, "int4")] if self.tells_set else [])

    @cached_property
    def tells_set(self) -> bool:
        """Whether GROUPING() is asked, so that rows say which grouping set they belong to."""
        return tells_set(self.levels[0].select)

    @cached_property
    def columns(self) -> list[tuple[str, Dependence]]:
        """The columns of the answer, errors aside, and what each depends on."""
        top = self.levels[-1]
        return list(zip(top.names, top.dependences, strict=True))

    @cached_property
    def errors(self) -> tuple[Dependence, ...]:
        """What the half-widths in the measured table are of."""
        return errors_of(self.levels)

    @cached_property
    def margins(self) -> dict[Wanted, str]:
        """What else the measured table must tell, so that errors can be made of it, and the names of these columns."""
        return margin_errors(self.levels)[1].wanted

    @cached_property
    def margin_places(self) -> tuple[int, ...]:
        """The columns of the answer, errors aside, whose error is made of margins."""
        return tuple(margin_errors(self.levels)[0])

    def key(self) -> str:
        """The canonical key of all that is measured: the same for all questions that measure it, in this order."""
        measured = self.inlined.of((self.grouping, self.measurements, self.aggregates))
        return key_of(*self._measured_over, *measured)

    def key_of(self, measurement: Measurement, places: tuple[int, ...]) -> str:
        """The canonical key of one measurement in the groups of the keys at these places, whatever is paid for it."""
        keys = frozenset(self.grouping.keys[place] for place in places)
        others = frozenset(self.grouping.keys[place] for place in self.limiting(places))
        measured = keys, replace(measurement, own=None), *([others] if others else [])
        return key_of(*self._measured_over, *self.inlined.of(measured))

    @cached_property
    def inlined(self) -> Inlined:
        """The same question about the rows below derived tables that only filter and map."""
        return Inlined(self.source, self.conditions)

    @cached_property
    def known_store_keys(self) -> dict[str, dict[tuple[Measurement, int], str]]:
        """Keys that gate/stored.py has made of this plan, which a worker keeps from one question to the next."""
        return {}

    @cached_property
    def known_texts(self) -> dict[int, list[str | None]]:
        """The groups of keys that are the same in every session, by their places, as PostgreSQL has told them."""
        return {}

    @cached_property
    def known(self) -> Known:
        """What gate/known.py keeps."""
        return {}

    @property
    def _measured_over(self) -> tuple[object, ...]:
        """Whose rows are measured, which of them, and by whom they are paid."""
        payers = None if self.personal is None else (self.personal.schema, self.personal.table, self.personal.most)
        dataset = self.dataset.name, self.dataset.accounting, self.dataset.neighbours
        sampled = () if self.sample is None else (self.sample.rate,)
        periods = () if self.charged is None else (self.charged.key,)
        return self.inlined.source, frozenset(self.inlined.conditions), dataset, payers, *sampled, *periods

    @cached_property
    def trials(self) -> list[str]:
        """Constants of which PostgreSQL must be asked, before anything is charged, whether it understands them."""
        parts = (part for aggregate in self.aggregates for part in parts_of(aggregate))
        return trials([*self.conditions, *(key.value for key in self.grouping.keys), *parts], self.source.rows)

    def with_errors(self) -> Plan:
        """The same question, answered with a column <name>_error beside each noisy one."""
        sql, names, _ = answer_with_errors(self.levels)
        return replace(self, answer_sql=sql, output=names)


def errors_sql(plan: Plan) -> list[str]:
    """SQL for the least and the largest error of each column whose error is made of margins, over released rows: one
    statement, or none.
    """
    if not plan.margin_places:
        return []
    sql, names, errors = answer_with_errors(plan.levels)
    columns = [f"c{n}" for n in range(len(names))]
    widths = ", ".join(
        f"(pg_catalog.{name}({columns[at]}))::pg_catalog.text AS {shown}{place}"
        for place, at in zip(plan.margin_places, errors, strict=True)
        for name, shown in (("min", "least"), ("max", "most"))
    )
    rows = rows_sql(replace(plan, answer_sql=sql, output=names))
    return [f"SELECT {widths} FROM ({rows}) AS t({', '.join(columns)})"]


def plan(
    select: ast.SelectStmt,
    schema: Schema,
    harmless: frozenset[str],
    parameters: tuple[str | None, ...] = (),
    released: Sequence[str | None] | None = None,
) -> Plan:
    """The plan of a question; `released`: the answers of its subquestions, once they are known."""
    context, policy = Context(schema, harmless, parameters), Noisy()
    inner = Subquestions(lambda one, queries: shaped(one, context, policy, queries), released)
    found = shaped(select, replace(context, subquestions=inner), policy)
    for one in inner.plans:
        if one.dataset != found.dataset:
            refuse("a subquery about people of another dataset", select)
        if one.personal is not None or found.personal is not None:
            refuse("a subquery about all people, of whom each pays for an own budget", select)
    return replace(found, subquestions=inner.plans, within=inner.every)


@dataclass(frozen=True)
class Noisy:
    """Policies 'noisy' and 'personal': numbers of all people, each with noise."""

    groups_distinct: bool = True

    def seen(self, source: Source, relation: Relation) -> Source:
        return source

    def planned(self, question: Question) -> Plan:
        source, conditions, grouping = question.source, question.conditions, question.grouping
        assert source.dataset is not None
        dataset = question.context.schema.datasets[source.dataset]
        several = any(function_name(call) == "avg" for call in aggregate_calls(question.select))
        everybody = counts_everybody(source, conditions, grouping, dataset)
        expressions = question.expressions
        aggregates: dict[Aggregate, int] = {}

        def number_of(node: ast.FuncCall) -> int:
            aggregate = about_people(compile_aggregate(node, expressions, several), source)
            return aggregates.setdefault(of_everybody(aggregate) if everybody else aggregate, len(aggregates))

        answer = question.answer(number_of)
        if not aggregates and not grouping.keys:
            refuse("a question for single rows", question.select, "Ask for counts, sums or averages, or GROUP BY.")
        fixed = judged(question, list(aggregates))
        asked = counted_once(list(aggregates))
        measurements = list(dict.fromkeys(m for aggregate in asked for m in aggregate.measurements))
        if not all(key.known for key in grouping.keys):
            people = Measurement(Quantity.PEOPLE, Subject())
            measurements = [people, *(m for m in measurements if not same_number(m, source))]
        released: dict[str, Dependence] = {
            f"a{n}": released_aggregate(n, one.result_type) for n, one in enumerate(asked)
        }
        released |= {f"k{n}": released_key(n, key.native_type) for n, key in enumerate(grouping.keys)}
        released[SET] = Dependence(type=NumberType.WHOLE)
        level = question.level(answer, released)
        personal = paid_personally(source, conditions, grouping, dataset, question.tables.values())
        if personal is not None:
            conditions = (*conditions, paid(source))
        found = Plan(
            source, conditions, grouping, dataset, answer_sql((level,)), level.names, (level,), tuple(measurements),
            tuple(asked), fixed, personal,
        )  # fmt: skip
        return with_periods(found, question.tables)


def with_periods(plan: Plan, tables: Mapping[int, Relation]) -> Plan:
    """The plan with scans of the periods that are charged alone, where its dataset has periods; `tables` by places."""
    dataset = plan.dataset
    if dataset.period is None:
        return plan
    if dataset.opened is None or plan.personal is not None:
        refuse("a question of this kind in a dataset with periods")
    calendar = Calendar(*dataset.period)
    opened = Opened(calendar, *(calendar.number(day.toordinal() - 1) for day in dataset.opened))
    subjects = [
        part
        for measurement in plan.measurements
        for part in (measurement.subject.argument, measurement.subject.other, measurement.subject.condition)
    ]
    values = [*(key.value for key in plan.grouping.keys), *(part for part in subjects if part is not None)]
    rows, charged, read = charged_rows(opened, tables, plan.source.rows, plan.conditions, values)
    if plan.source.single:  # a person has one row, which is in one period
        charged = replace(charged, time=None)

    def measured(measurement: Measurement) -> Measurement:
        held = measurement.subject
        parts = (None if part is None else read[part] for part in (held.argument, held.other, held.condition))
        argument, other, condition = parts
        return replace(measurement, subject=replace(held, argument=argument, other=other, condition=condition))

    return replace(
        plan,
        source=replace(plan.source, rows=rows),
        conditions=tuple(read[condition] for condition in plan.conditions),
        grouping=replace(plan.grouping, keys=tuple(replace(key, value=read[key.value]) for key in plan.grouping.keys)),
        measurements=tuple(map(measured, plan.measurements)),
        aggregates=tuple(
            replace(aggregate, measurements=tuple(map(measured, aggregate.measurements)))
            for aggregate in plan.aggregates
        ),
        charged=charged,
    )


def judged(question: Question, aggregates: list[Aggregate]) -> tuple[str, ...]:
    """Refuses a question that singles out a person, or of which a row could make an expression fail.

    Otherwise, the columns that its conditions compare by value.
    """
    source, keys = question.source, [key.value for key in question.grouping.keys]
    compared = compared_in(source.rows) | all_comparisons(question.conditions)
    met = [compared, *(compared | compared_by(aggregate) for aggregate in aggregates)]
    by_keys = all_comparisons(keys)
    sets = question.grouping.sets
    groups = [by_keys | {Comparison(trace(keys[place]).items) for place in places} for places in sets]
    select = question.select
    in_where = select.whereClause is not None and not select.groupClause and set(met) == {compared}
    with refusing_at(select.whereClause if in_where else select):
        refuse_trackers(met, groups, question.tables)
    parts = [part for aggregate in aggregates for part in parts_of(aggregate)]
    refuse_partial([*question.conditions, *keys, *parts], source.rows)
    refuse_strangers([*question.conditions, *keys, *parts, *expressions_of(source.rows)], source.people)
    return max((fixed_columns(some, question.tables) for some in dict.fromkeys(met)), key=len)


def compared_by(aggregate: Aggregate) -> frozenset[Comparison]:
    """What an aggregate compares in its arguments; distinct values are compared with each other, too."""
    apart = [each.subject.argument for each in aggregate.measurements if each.quantity is Quantity.DISTINCT]
    told = told_apart(value for value in apart if value is not None)
    return all_comparisons(parts_of(aggregate)).union(told)


def about_people(aggregate: Aggregate, source: Source) -> Aggregate:
    """The number of distinct units is the number of people, of whom one person is one."""
    (first, *_) = aggregate.measurements
    if first.quantity is not Quantity.DISTINCT or first.subject.argument != source.unit:
        return aggregate
    people = replace(first, quantity=Quantity.PEOPLE, subject=Subject(None, first.subject.condition))
    return replace(aggregate, measurements=(people,))


def parts_of(aggregate: Aggregate) -> Iterator[Expression]:
    """The expressions that decide what of each row it adds up."""
    for measurement in aggregate.measurements:
        subject = measurement.subject
        yield from (part for part in (subject.argument, subject.other, subject.condition) if part is not None)


def counted_once(aggregates: list[Aggregate]) -> list[Aggregate]:
    """count(x) beside avg(x) is the number of values that the average has measured already, at the same expense."""
    values = {
        (m.subject.argument, m.subject.condition, m.own): m
        for aggregate in aggregates
        for m in aggregate.measurements
        if m.quantity is Quantity.VALUES
    }
    shared = []
    for aggregate in aggregates:
        first = aggregate.measurements[0]
        known = values.get((first.subject.argument, first.subject.condition, first.own))
        if known is not None and first.quantity is Quantity.ROWS:
            aggregate = replace(aggregate, measurements=(known,))
        shared.append(aggregate)
    return shared


def same_number(measurement: Measurement, source: Source) -> bool:
    """count(*) is the number of people where each person has one row: it is measured once."""
    return source.single and measurement == Measurement(Quantity.ROWS, Subject())
