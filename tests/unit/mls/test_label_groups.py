"""Groups of labels: bitsets agree with the rule that any one group suffices, with the subtree of the session's."""

from __future__ import annotations

from itertools import chain, combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.mls import exchange
from discreet.mls.labels import MOST_GROUPS, Group, Lattice, dominates, tree

TREE = {"EU": {"FR": {}, "DE": {"BY": None}}, "US": {}, "ASIA": ["JP"]}
GROUPS = tree(TREE)
LATTICE = Lattice(("U", "C", "S"), ("NATO", "CRYPTO"), GROUPS)
NAMES = [group.name for group in GROUPS]
PARENTS = {"FR": "EU", "DE": "EU", "BY": "DE", "JP": "ASIA"}


def subtree(name: str) -> set[str]:
    """The rule's own words, without bits."""
    return {name}.union(*(subtree(child) for child, parent in PARENTS.items() if parent == name))


def may_read(session: str | None, named: tuple[str, ...] | None) -> bool:
    if named is None:
        return True
    return session is not None and bool(subtree(session) & set(named))


def written(named: tuple[str, ...] | None) -> str:
    return "S" if named is None else f"S::{','.join(named)}"


SETS: list[tuple[str, ...] | None] = [
    None, *chain.from_iterable(combinations(NAMES, count) for count in range(1, len(NAMES) + 1))
]  # fmt: skip
SESSIONS: list[str | None] = [None, *NAMES]


def session_bits(session: str | None) -> int:
    return LATTICE.bits(written(None if session is None else (session,)))


def readers(bits: int) -> set[str | None]:
    return {session for session in SESSIONS if dominates(session_bits(session), bits)}


def test_a_tree_is_read_with_parents_before_their_children() -> None:
    assert set(NAMES) == {"EU", "FR", "DE", "BY", "US", "ASIA", "JP"}
    for place, group in enumerate(GROUPS):
        assert (None if group.parent is None else GROUPS[group.parent].name) == PARENTS.get(group.name)
        assert group.parent is None or group.parent < place
    assert tree(["EU", "US"]) == (Group("EU"), Group("US"))
    assert tree({}) == tree(None) == tree([]) == ()


def test_any_one_group_in_the_subtree_of_the_session_suffices() -> None:
    for session, named in product(SESSIONS, SETS):
        assert dominates(session_bits(session), LATTICE.bits(written(named))) == may_read(session, named)


def test_dominance_is_that_all_readers_may_read() -> None:
    """So it is transitive."""
    every = [LATTICE.bits(written(named)) for named in SETS]
    for one, other in product(every, every):
        assert dominates(one, other) == (readers(one) <= readers(other))


def test_the_least_upper_bound_has_the_readers_of_both() -> None:
    every = [LATTICE.bits(written(named)) for named in SETS]
    for one, other in product(every, every):
        assert readers(one | other) == readers(one) & readers(other)
        assert readers(one & other) == readers(one) | readers(other)
        assert LATTICE.bits(LATTICE.text(one | other)) == one | other
    assert LATTICE.text(LATTICE.bits("C::FR") | LATTICE.bits("S:NATO:DE")) == "S:NATO:EU"
    assert LATTICE.text(LATTICE.bits("C::FR") | LATTICE.bits("C::US")) == "C::-"
    assert LATTICE.text(LATTICE.bits("C::FR,US") | LATTICE.bits("C::US,JP")) == "C::US"


def test_texts_name_the_groups_below_which_none_is_named() -> None:
    assert LATTICE.text(LATTICE.bits("S:CRYPTO,NATO:US,EU")) == "S:NATO,CRYPTO:" + ",".join(
        name for name in NAMES if name in ("EU", "US")
    )
    assert LATTICE.text(LATTICE.bits("S::EU,FR")) == "S::FR"
    for named in SETS:
        bits = LATTICE.bits(written(named))
        assert LATTICE.bits(LATTICE.text(bits)) == bits


def test_nothing_is_above_all_groups_but_the_empty_set() -> None:
    top = LATTICE.bits("S:NATO,CRYPTO:-")
    assert top == LATTICE.top
    assert all(dominates(top, LATTICE.bits(written(named))) for named in SETS)
    assert readers(LATTICE.bits("U::-")) == set()


@pytest.mark.parametrize(
    ("label", "error"),
    [
        ("S::XX", 'there is no group "XX"'),
        ("S::", 'there is no group ""'),
        ("S:NATO:", 'there is no group ""'),
        ("S::EU:US", "more than three parts"),
        ("S::EU,,US", 'there is no group ""'),
        ("S:", 'there is no compartment ""'),
        ("S::-,EU", 'there is no group "-"'),
        ("S::NATO", 'there is no group "NATO"'),
    ],
)
def test_other_texts_are_refused(label: str, error: str) -> None:
    with pytest.raises(InvalidParameterError, match=error.replace("(", r"\(")):
        LATTICE.bits(label)


def test_a_tree_that_does_not_fit_is_refused() -> None:
    Lattice(("U",), tuple(f"c{n}" for n in range(6)), tuple(Group(f"g{n}") for n in range(40)))
    with pytest.raises(InvalidParameterError, match="7 compartments and 40 groups do not fit"):
        Lattice(("U",), tuple(f"c{n}" for n in range(7)), tuple(Group(f"g{n}") for n in range(40)))
    with pytest.raises(InvalidParameterError, match="too many"):
        tree([f"g{n}" for n in range(MOST_GROUPS + 1)])
    deep: dict[str, object] = {}
    for n in range(100):
        deep = {f"g{n}": deep}
    with pytest.raises(InvalidParameterError):
        tree(deep)
    for wrong in (7, "EU", {"EU": 1}, [1], [["EU"]], {"EU": {"FR": "DE"}}):
        with pytest.raises(InvalidParameterError):
            tree(wrong)
    names: list[Any] = [["EU", "EU"], {"EU": {"US": {}}, "US": {}}, ["-"], ["a:b"], [""]]
    for each in names:
        with pytest.raises(InvalidParameterError):
            Lattice(("U",), (), tree(each))


def test_groups_of_labels_in_use_stay_as_they_are() -> None:
    without = Lattice(("U", "C", "S"), ("NATO", "CRYPTO"))
    assert LATTICE.extends(without)
    assert not without.extends(LATTICE)
    assert Lattice(("U", "C", "S", "TS"), ("NATO", "CRYPTO", "X"), GROUPS).extends(LATTICE)
    assert not Lattice(("U", "C", "S"), ("NATO", "CRYPTO"), (*GROUPS, Group("NEW"))).extends(LATTICE)
    for label in ("U", "S:NATO", "C:NATO,CRYPTO"):
        assert LATTICE.bits(label) == without.bits(label)


def test_a_session_has_one_group() -> None:
    for label in ("S", "S::EU", "S:NATO:EU,FR", "S::-"):
        LATTICE.one_group(label, LATTICE.bits(label))
    with pytest.raises(InvalidParameterError, match="names several groups"):
        LATTICE.one_group("S::FR,US", LATTICE.bits("S::FR,US"))


# -- other systems


def holds(session: int, expression: Any) -> bool:
    """Whether a session satisfies an expression, term by term."""
    if isinstance(expression, str):
        return dominates(session, LATTICE.bits(exchange.labels_of(LATTICE)[expression][0]))
    sign, *parts = expression
    return (all if sign == "&" else any)(holds(session, part) for part in parts)


def spelled(expression: Any) -> str:
    if isinstance(expression, str):
        return expression
    sign, *parts = expression
    return "(" + sign.join(map(spelled, parts)) + ")"


EXPRESSIONS = st.recursive(
    st.sampled_from(["U", "C", "S", "NATO", "CRYPTO", *NAMES]),
    lambda inner: (
        st.tuples(st.sampled_from("&|"), inner, inner) | st.tuples(st.sampled_from("&|"), inner, inner, inner)
    ),
    max_leaves=7,
)
EVERY_SESSION = [
    LATTICE.bits(f"{level}:{inside}:{group}" if group else f"{level}:{inside}".rstrip(":"))
    for level in LATTICE.levels
    for inside in ("", "NATO", "CRYPTO", "NATO,CRYPTO")
    for group in SESSIONS
]


@given(EXPRESSIONS)
def test_an_expression_is_imported_exactly_or_refused(expression: object) -> None:
    try:
        label = exchange.imported(LATTICE, spelled(expression), "accumulo")
    except InvalidParameterError as error:
        assert "cannot be expressed" in str(error)  # noqa: PT017 - it may as well be imported
        return
    bits = LATTICE.bits(label)
    assert [dominates(session, bits) for session in EVERY_SESSION] == [
        holds(session, expression) for session in EVERY_SESSION
    ]


def test_labels_come_back_from_other_systems() -> None:
    for level, inside, named in product(("U", "C", "S"), ("", "NATO", "NATO,CRYPTO"), SETS):
        label = f"{level}:{inside}:{','.join(named)}" if named else f"{level}:{inside}".rstrip(":")
        canonical = LATTICE.text(LATTICE.bits(label))
        for form in ("oracle", "accumulo"):
            assert exchange.imported(LATTICE, exchange.exported(LATTICE, label, form), form) == canonical


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("", "U"),
        ("S & NATO", "S:NATO"),
        ("C&S", "S"),
        ("C|S", "C"),
        ("NATO&CRYPTO&(EU|US)&C", "C:NATO,CRYPTO:EU,US"),
        ('"S"&("EU")', "S::EU"),
        ("(S&FR)|(S&US)", "S::FR,US"),
        ("EU|FR", "U::FR"),
    ],
)
def test_expressions_of_accumulo(text: str, label: str) -> None:
    assert LATTICE.bits(exchange.imported(LATTICE, text, "accumulo")) == LATTICE.bits(label)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("NATO|CRYPTO", "cannot be expressed"),
        ("NATO|EU", "cannot be expressed"),
        ("(S&EU)|(C&US)", "cannot be expressed"),
        ("S&NATO|EU", "it has & beside |"),
        ("S&", "a name is missing"),
        ("S NATO", "was not opened"),
        ("(S", "not closed"),
        ("S)", "was not opened"),
        ("S&secret", '"secret" is no level'),
        ("S&!NATO", "it has '!' in it"),
        ("(" * 60 + "S" + ")" * 60, "nested too deeply"),
        ("&".join(["S"] * 3000), "longer than"),
    ],
)
def test_what_no_label_says_is_refused(text: str, error: str) -> None:
    with pytest.raises(InvalidParameterError) as raised:
        exchange.imported(LATTICE, text, "accumulo")
    assert error in str(raised.value)


def test_texts_of_oracle() -> None:
    for text, label in (("S::", "S"), ("S:NATO:", "S:NATO"), ("S:CRYPTO,NATO:US,US", "S:NATO,CRYPTO:US")):
        assert exchange.imported(LATTICE, text, "oracle") == label
    for text in ("S::-", "X", "S:NATO:EU:US"):
        with pytest.raises(InvalidParameterError):
            exchange.imported(LATTICE, text, "oracle")
    for label, form in (("S::-", "oracle"), ("S::-", "accumulo"), ("S", "pdf")):
        with pytest.raises(InvalidParameterError):
            exchange.exported(LATTICE, label, form)


def test_names_that_two_things_have_are_refused() -> None:
    twice = Lattice(("U", "NATO"), ("NATO",))
    with pytest.raises(InvalidParameterError, match="the name of several"):
        exchange.exported(twice, "U", "accumulo")
    assert exchange.exported(twice, "NATO:NATO", "oracle") == "NATO:NATO"


def test_names_with_other_characters_are_quoted() -> None:
    odd = Lattice(("U", "top secret"), ("a|b",))
    text = exchange.exported(odd, "top secret:a|b", "accumulo")
    assert text == '"top secret"&"a|b"'
    assert exchange.imported(odd, text, "accumulo") == "top secret:a|b"
