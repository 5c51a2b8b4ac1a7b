"""Whether an expression can fail: of one row that made it fail, the error would tell.

`is_total` is true only of trees whose SQL, as printer.py writes it, gives a value or NULL on every row that a table can
hold, with NaN, infinities, dates of any year and texts of any length. That is shown node by node: each rule below says
what the parts of a node must be for its SQL not to fail, when the parts do not. The rules trust no interval that
nothing enforces: one of a `raw` expression is a wish. A node without a rule is not total.

The readers of questions build total trees only; the planner asks again, so that a mistake in one of them becomes a
refusal and never an oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from discreet.core.errors import DiscreetError
from discreet.core.quoting import literal
from discreet.gate import tree
from discreet.gate.intervals import Interval
from discreet.gate.numbers import is_double
from discreet.gate.patterns import LONGEST_MATCHED, LONGEST_SEARCHED, refuse_slow
from discreet.gate.people import has_one_row
from discreet.gate.powers import LARGEST_EXPONENT
from discreet.gate.printer import EXACT_SUMS
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.times import DAYS
from discreet.gate.tree import LARGEST_INT, Constant, Duration, Expression, Rules, is_wide, kept, rule, rules
from discreet.gate.values import LONGEST_TEXT

EXACT = frozenset([Family.INT, Family.NUMERIC])


@kept
def is_total(node: Expression) -> bool:
    """Whether no row can make the expression fail."""
    rule = RULES.get(type(node))
    return rule is not None and all(map(is_total, node.parts)) and rule(node)


def refuse_partial(expressions: Iterable[Expression], rows: tree.Rows) -> None:
    """Refuses a question of which a row could make an expression fail, here or in the relation below."""
    if not all(map(is_total, (*expressions, *tree.expressions_of(rows)))):
        refuse("an expression that could fail on a row")


def trials(expressions: Iterable[Expression], rows: tree.Rows) -> list[str]:
    """SQL of constants of the expressions that PostgreSQL alone can judge: patterns and time zones.

    They are tried before anything is charged. Over rows, they would fail when the first row comes, and not without one.
    """
    found: dict[str, None] = {}
    waiting, seen = [*expressions, *tree.expressions_of(rows)], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        waiting += (node.origin,) if isinstance(node, tree.Output) else node.parts
        for sql in trials_of(node):
            found[sql] = None
    return list(found)


def trials_of(node: Expression) -> Iterator[str]:
    patterns = [node.pattern] if isinstance(node, tree.Matches) else []
    if isinstance(node, tree.Call):
        words = [(each.content if isinstance(each, Constant) else None) or "" for each in node.arguments]
        patterns += words[1:2] if CALLS.get(node.name) is of_searched_text else []
        zones = words[:1] if node.name == "timezone" else words[2:] if node.name == "date_trunc" else []
        yield from (f"pg_catalog.timezone({literal(zone)}, '2000-01-01'::pg_catalog.timestamp)::text" for zone in zones)
    yield from (f"(''::pg_catalog.text OPERATOR(pg_catalog.~) {literal(pattern)})::text" for pattern in patterns)


# -- what a part must be


def is_bounded(value: Expression) -> bool:
    """A number that its SQL keeps within bounds of at most 60 digits: neither NaN nor infinite."""
    enforced = value.raw is None and value.interval is not None and value.interval.usable
    return value.family in NUMBERS and enforced


def is_known_moment(value: Expression) -> bool:
    """A date or timestamp that its SQL keeps within the years 1 to 9999."""
    return value.family in TIMES and value.raw is None


def is_short_text(value: Expression) -> bool:
    """The beginning of a text."""
    return isinstance(value, tree.Beginning)


def meet(values: tuple[Expression, ...]) -> bool:
    """Whether PostgreSQL brings the values to one type by casts that cannot fail, or by none.

    A numeric of 400 digits has no double, a date of the year 5000000 no timestamp: a choice between such values fails.
    """
    families = {value.family for value in values if not value.is_null}
    return len(families) <= 1 or families <= EXACT or all(map(is_known_moment, values))


# -- the rules


def always(node: Expression) -> bool:
    return True


def compares(node: tree.Compare | tree.Distinct) -> bool:
    """PostgreSQL compares dates with timestamps without casting them."""
    return (
        node.left.is_null or node.right.is_null or meet(node.parts) or all(part.family in TIMES for part in node.parts)
    )


def same_person(node: tree.SamePerson | tree.SameParent) -> bool:
    return meet(node.parts)


def chooses(node: tree.Case | tree.Choice) -> bool:
    values = node.results if isinstance(node, tree.Case) else node.values
    moments = all(map(is_known_moment, (value for value in values if not value.is_null)))
    return meet(values) and (node.family not in TIMES or moments)


def computes(node: tree.Arithmetic) -> bool:
    left, right = node.left, node.right
    if left.family not in TIMES:
        usable = node.interval is not None and node.interval.usable
        return is_bounded(left) and is_bounded(right) and usable and node.name in ("+", "-", "*", "/", "%")
    if right.family in TIMES:
        return node.name == "-" and is_known_moment(left) and is_known_moment(right)
    days = right.family is Family.INT and is_bounded(right)
    near = right.interval is not None and right.interval.reach <= DAYS
    return is_known_moment(left) and (
        (days and near) or (isinstance(right, Constant) and isinstance(right.value, Duration))
    )


def calls(node: tree.Call) -> bool:
    rule = CALLS.get(node.name)
    return rule is not None and rule(node)


def of_number(node: tree.Call) -> bool:
    """A bounded number, and constants."""
    first, *others = node.arguments
    return is_bounded(first) and all(other.constant for other in others)


def of_text(node: tree.Call) -> bool:
    """The beginning of a text, and constants."""
    first, *others = node.arguments
    return is_short_text(first) and all(other.constant for other in others)


def of_texts(node: tree.Call) -> bool:
    return all(is_short_text(each) or each.constant for each in node.arguments)


def of_searched_text(node: tree.Call) -> bool:
    """The place of a match is looked for in a text that is short, with a pattern that is fast."""
    text, pattern = node.arguments[0], node.arguments[1]
    short = isinstance(text, tree.Beginning) and text.most <= LONGEST_SEARCHED
    return short and isinstance(pattern, Constant) and is_fast(pattern.content or "") and of_text(node)


def is_fast(pattern: str) -> bool:
    try:
        refuse_slow(pattern, None)
    except DiscreetError:
        return False
    return True


def matches(node: tree.Matches) -> bool:
    text = node.argument
    return isinstance(text, tree.Beginning) and text.most <= LONGEST_MATCHED and is_fast(node.pattern)


def of_field(node: tree.Call) -> bool:
    """A field of a moment, or of an interval, which always has it."""
    field, moment, *zones = node.arguments
    known = is_known_moment(moment) or moment.type.names == tree.INTERVAL.names
    return field.constant and known and all(zone.constant for zone in zones)


def of_moments(node: tree.Call) -> bool:
    """Moments and constants, some of which say how: a zone, a format, a stride above 0."""
    return all(is_known_moment(each) or each.constant for each in node.arguments)


def of_numbers(node: tree.Call) -> bool:
    return all(map(is_bounded, node.arguments))


def buckets(node: tree.Call) -> bool:
    _, width = node.arguments
    return of_number(node) and width.interval is not None and width.interval.lower > 0


def bucket_of_ranges(node: tree.Call) -> bool:
    _, low, high, count = node.arguments
    ends = [end.interval for end in (low, high, count)]
    return of_number(node) and ends[0] != ends[1] and ends[2] is not None and ends[2].lower >= 1


def exponentiates(node: tree.Call) -> bool:
    """A numeric of few digits; a double may be any."""
    (number,) = node.arguments
    small = number.interval is not None and number.interval.reach <= LARGEST_EXPONENT
    return is_bounded(number) and (node.family is Family.FLOAT or small)


def logarithms(node: tree.Call) -> bool:
    """The base of a logarithm is above 0, and not 1."""
    *bases, number = node.arguments
    fit = (base.constant and base.interval is not None and base.interval.lower > 0 for base in bases)
    return is_bounded(number) and all(fit) and all(base.interval != Interval.of(1) for base in bases)


def holds_members(node: tree.Call) -> bool:
    value, *keys = node.arguments
    return value.type.name in ("json", "jsonb") and all(key.constant and not key.is_null for key in keys)


def of_array(node: tree.Call) -> bool:
    array, *dimension = node.arguments
    return (array.type.name or "").endswith("[]") and all(each.constant for each in dimension)


CALLS: dict[str, Callable[[tree.Call], bool]] = {
    **dict.fromkeys(("abs", "sign", "ceil", "floor", "round", "trunc", "sqrt", "cbrt", "power"), of_number),
    **dict.fromkeys(("ln", "log"), logarithms),
    "exp": exponentiates,
    "bucket": buckets,
    "width_bucket": bucket_of_ranges,
    **dict.fromkeys(("lower", "upper", "btrim", "ltrim", "rtrim", "length", "left", "right", "substr"), of_text),
    **dict.fromkeys(("initcap", "reverse", "md5", "octet_length", "starts_with", "replace", "translate"), of_text),
    **dict.fromkeys(("lpad", "rpad", "split_part", "overlay"), of_text),
    **dict.fromkeys(("strpos", "concat", "concat_ws"), of_texts),
    **dict.fromkeys(("substring", "regexp_replace", "regexp_substr", "regexp_count", "regexp_instr"), of_searched_text),
    **dict.fromkeys(("regexp_match", "regexp_split_to_array"), of_searched_text),
    **dict.fromkeys(("cardinality", "array_length"), of_array),
    **dict.fromkeys(("extract", "date_part", "date_trunc"), of_field),
    **dict.fromkeys(("timezone", "age", "to_char", "date_bin"), of_moments),
    "make_date": of_numbers,
    "seconds": lambda node: node.arguments[0].type.names == tree.INTERVAL.names,
    **dict.fromkeys(("->", "->>", "#>", "#>>"), holds_members),
}


def casts(node: tree.Cast) -> bool:
    value, target = node.argument, node.family
    if value.family is Family.TEXT and target in NUMBERS | {Family.BOOL}:
        return is_short_text(value)
    if value.family in TIMES:
        return target in TIMES | {Family.TEXT} and is_known_moment(value)
    if target is Family.INT:
        small = value.interval is not None and value.interval.reach < LARGEST_INT
        return value.family is Family.BOOL or (is_bounded(value) and small)
    if target is Family.BOOL:
        return value.family is Family.INT
    if target is Family.TEXT:
        return True  # of types that are built in, or by discreet._text
    return value.family in NUMBERS and target in NUMBERS


def converts(node: tree.Conversion) -> bool:
    value = node.argument
    if node.to == "text":
        return True
    return value.family in NUMBERS and (node.to != "int8" or (value.family is Family.INT and not is_wide(value)))


def adds_up(node: tree.Within) -> bool:
    """What is added up is kept within bounds: doubles by the grid, others by a clamp."""
    value = node.argument
    if value is None or node.name not in EXACT_SUMS:
        return True
    if value.family is Family.FLOAT:
        return value.interval is not None and value.interval.usable
    return is_bounded(value)


def is_ordered(node: tree.Ordered) -> bool:
    """Quantiles between two values are of doubles, in arithmetic without errors; texts that are joined are short."""
    value = node.argument
    if node.name == "percentile_cont":
        return is_double(value)
    return node.name != "string_agg" or (isinstance(value, tree.Beginning) and value.most <= LONGEST_TEXT)


def is_placed(node: tree.Placed) -> bool:
    """Numbers of places are constants above 0, or of lag() and lead() not below."""
    least = 0 if node.name in ("lag", "lead") else 1
    numbers = node.arguments if node.name == "ntile" else node.arguments[1:2]
    return all(
        isinstance(number, Constant) and number.interval is not None and number.interval.lower >= least
        for number in numbers
    )


RULES: Rules[bool] = rules(
    rule(tree.Column, always),
    rule(tree.Output, always),  # its origin is asked where it is evaluated
    rule(tree.SystemColumn, always),
    rule(tree.Constant, always),
    rule(tree.Logic, always),
    rule(tree.NullTest, always),
    rule(tree.TruthTest, always),
    rule(tree.Compare, compares),
    rule(tree.SamePerson, same_person),
    rule(tree.SameParent, same_person),
    rule(tree.HasPerson, always),
    rule(tree.Within, adds_up),
    rule(tree.Ordered, is_ordered),
    rule(tree.Placed, is_placed),
    rule(tree.Exists, always),
    rule(tree.Among, always),
    rule(tree.Quantified, lambda node: node.value.is_null or node.element.is_null or meet((node.value, node.element))),
    rule(tree.Scalar, lambda node: has_one_row(node.query)),  # two rows would be an error
    rule(tree.Released, always),
    rule(tree.Given, always),
    rule(tree.Distinct, compares),
    rule(tree.Like, lambda node: is_short_text(node.argument)),
    rule(tree.Matches, matches),
    rule(tree.AnyElement, lambda node: node.value.constant and node.array.type.element is not None),
    rule(tree.NullIf, always),
    rule(tree.Case, chooses),
    rule(tree.Choice, chooses),
    rule(tree.Arithmetic, computes),
    rule(tree.Negative, lambda node: is_bounded(node.argument)),
    rule(tree.Concatenation, lambda node: all(part.is_null or part.family is Family.TEXT for part in node.parts)),
    rule(tree.Call, calls),
    rule(tree.Cast, casts),
    rule(tree.Conversion, converts),
    rule(tree.Clamp, lambda node: node.family in NUMBERS and node.interval is not None and node.interval.usable),
    rule(tree.KnownYears, lambda node: node.family in TIMES),
    rule(tree.Beginning, lambda node: node.family is Family.TEXT),
    rule(tree.Canonical, always),
    rule(tree.Together, always),
    rule(tree.Own, always),
)
