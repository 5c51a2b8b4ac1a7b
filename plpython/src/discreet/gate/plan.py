"""Stage plan: a question becomes measurements and a shape for the answer. Looks at text and catalog only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from pglast import ast

from discreet.gate.aggregates import Aggregate, compile_aggregate
from discreet.gate.answer import answer_sql, answer_with_errors, errors_of
from discreet.gate.expressions import function_name
from discreet.gate.keys import key_of
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.names import Source
from discreet.gate.people import compared_in
from discreet.gate.presence import counts_everybody, of_everybody
from discreet.gate.propagation import Dependence, released_aggregate, released_key
from discreet.gate.question import Answered, Context, Question, aggregate_calls, shaped
from discreet.gate.refusal import refuse
from discreet.gate.schema import Relation, Schema
from discreet.gate.totality import refuse_partial
from discreet.gate.traces import Comparison, all_comparisons, trace
from discreet.gate.trackers import fixed_columns, refuse_trackers
from discreet.gate.tree import Expression
from discreet.personal.selection import Personal, paid, paid_personally


@dataclass(frozen=True)
class Plan(Answered):
    """A question that can be answered with noise: what is measured about whom, and what is made of it.

    `fixed_columns`: those that the conditions of an aggregate compare by value, of the one that compares most.
    `personal`: people pay for it themselves.
    """

    measurements: tuple[Measurement, ...]
    aggregates: tuple[Aggregate, ...]
    fixed_columns: tuple[str, ...] = ()
    personal: Personal | None = None

    @property
    def thresholds(self) -> bool:
        """Whether keys are unknown, and shown only when many people share them."""
        return any(key.domain is None for key in self.grouping.keys)

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

    @property
    def answer_columns(self) -> list[tuple[str, str]]:
        """The columns of the measured table: keys, aggregates, errors."""
        keys = [(f"k{n}", key.native_type) for n, key in enumerate(self.grouping.keys)]
        numbers = [(f"a{n}", aggregate.result_type) for n, aggregate in enumerate(self.aggregates)]
        return keys + numbers + [(f"e{n}", "numeric") for n in range(len(self.errors))]

    @property
    def columns(self) -> list[tuple[str, Dependence]]:
        """The columns of the answer, errors aside, and what each depends on."""
        top = self.levels[-1]
        return list(zip(top.names, top.dependences, strict=True))

    @property
    def errors(self) -> tuple[Dependence, ...]:
        """What the half-widths in the measured table are of."""
        return errors_of(self.levels)

    def key(self) -> str:
        """The canonical key of all that is measured: the same for all questions that measure it, in this order."""
        return key_of(*self._measured_over, self.grouping, self.measurements, self.aggregates)

    def key_of(self, measurement: Measurement, places: tuple[int, ...]) -> str:
        """The canonical key of one measurement in the groups of the keys at these places, whatever is paid for it."""
        keys = tuple(self.grouping.keys[place] for place in places)
        return key_of(*self._measured_over, keys, replace(measurement, own=None))

    @property
    def _measured_over(self) -> tuple[object, ...]:
        """Whose rows are measured, which of them, and by whom they are paid."""
        payers = None if self.personal is None else (self.personal.schema, self.personal.table, self.personal.most)
        dataset = self.dataset.name, self.dataset.accounting, self.dataset.neighbours
        return self.source, frozenset(self.conditions), dataset, payers

    def with_errors(self) -> Plan:
        """The same question, answered with a column <name>_error beside each noisy one."""
        sql, names = answer_with_errors(self.levels)
        return replace(self, answer_sql=sql, output=names)


def plan(
    select: ast.SelectStmt,
    schema: Schema,
    harmless: frozenset[str],
    parameters: tuple[str | None, ...] = (),
) -> Plan:
    return shaped(select, Context(schema, harmless, parameters), Noisy())


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
        if any(key.domain is None for key in grouping.keys) or not measurements:
            people = Measurement(Quantity.PEOPLE, Subject())
            measurements = [people, *(m for m in measurements if not same_number(m, source))]
        released: dict[str, Dependence] = {
            f"a{n}": released_aggregate(n, one.result_type) for n, one in enumerate(asked)
        }
        released |= {f"k{n}": released_key(n, key.native_type) for n, key in enumerate(grouping.keys)}
        level = question.level(answer, released)
        personal = paid_personally(source, conditions, grouping, dataset, question.tables.values())
        if personal is not None:
            conditions = (*conditions, paid(source))
        return Plan(
            source, conditions, grouping, dataset, answer_sql((level,)), level.names, (level,), tuple(measurements),
            tuple(asked), fixed, personal,
        )  # fmt: skip


def judged(question: Question, aggregates: list[Aggregate]) -> tuple[str, ...]:
    """Refuses a question that singles out a person, or of which a row could make an expression fail.

    Otherwise, the columns that its conditions compare by value.
    """
    source, keys = question.source, [key.value for key in question.grouping.keys]
    compared = compared_in(source.rows) | all_comparisons(question.conditions)
    met = [compared, *(compared | all_comparisons(parts_of(aggregate)) for aggregate in aggregates)]
    by_keys = all_comparisons(keys)
    sets = question.grouping.sets
    groups = [by_keys | {Comparison(trace(keys[place]).items) for place in places} for places in sets]
    refuse_trackers(met, groups, question.tables)
    parts = (part for aggregate in aggregates for part in parts_of(aggregate))
    refuse_partial([*question.conditions, *keys, *parts], source.rows)
    return max((fixed_columns(some, question.tables) for some in dict.fromkeys(met)), key=len)


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
        yield from (part for part in (measurement.subject.argument, measurement.subject.condition) if part is not None)


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
    """count(*) is the number of people where everybody has one row: it is measured once."""
    return source.single and measurement == Measurement(Quantity.ROWS, Subject())
