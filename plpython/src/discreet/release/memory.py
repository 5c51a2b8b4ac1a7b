"""The class of each row under a release that was made before, by its definition."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.core.errors import UnsafeReleaseError
from discreet.core.syntax import Json
from discreet.release.classes import Composition, Ints, People, numbered
from discreet.release.hierarchy import Hierarchy, Values
from discreet.release.tree import Tree


@dataclass(frozen=True)
class Published:
    """A release: what it promises, how it is made, and the labels and sizes of its classes (none for a view).

    Sizes are rows, as every reader sees them; the promise is about people, where `unit` names a column that tells them.
    """

    release: str
    quasi_identifiers: list[str]
    k: int
    l: int | None  # noqa: E741
    sensitive: str | None
    definition: Mapping[str, Json]
    labels: list[str]
    sizes: Ints

    @property
    def unit(self) -> str | None:
        found: str | None = self.definition.get("unit")
        return found

    @cached_property
    def looks(self) -> dict[str, list[str]]:
        """Texts from which classes follow, by column, as they were when the release was made.

        They are read as values again: one that is written differently now is still the same, and one that no row has
        any more has a place in the order, and a class that is empty.
        """
        method = self.definition["method"]
        if method == "view":
            return {}
        if method == "mondrian":
            return _cuts(self.definition["boxes"])
        found = {}
        shown = [json.loads(each) for each in self.labels]
        for place, each in enumerate(self.definition["columns"]):
            as_it_is = each["level"] == "as it is"
            found[each["column"]] = _once(texts[place] for texts in shown) if as_it_is else each.get("looks", [])
        return found


def _cuts(boxes: Mapping[str, Json]) -> dict[str, list[str]]:
    """Values by which boxes were cut, and those that had a place in a tree."""
    found: dict[str, list[str | None]] = {each["column"]: [*each.get("looks", [])] for each in boxes["columns"]}
    names = list(found)
    for column, last in zip(boxes["column"], boxes["last"], strict=True):
        if column >= 0:
            found[names[column]].append(last)
    return {name: _once(texts) for name, texts in found.items()}


def _once(texts: Iterable[str | None]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text is not None]


@dataclass(frozen=True)
class Column:
    """A column by now: codes of the combinations, NULL as the last, and its values."""

    codes: Ints
    values: Values

    def seen(self, looks: Mapping[int, str]) -> Column:
        """With these texts in place of those that the values of some codes have now."""
        texts = [looks.get(code, text) for code, text in enumerate(self.values.texts)]
        return Column(self.codes, replace(self.values, texts=texts))


def label(texts: list[str | None]) -> str:
    return json.dumps(texts, ensure_ascii=False)


def shown(published: Published, number: int) -> str:
    texts = json.loads(published.labels[number])
    pairs = zip(published.quasi_identifiers, texts, strict=True)
    return "(" + ", ".join(f"{name} {'NULL' if text is None else text}" for name, text in pairs) + ")"


def classes(
    published: Published, columns: Mapping[str, Column], sensitive: Ints, count: Ints, people: People | None = None
) -> tuple[Ints, Published]:
    """The class of each combination, -1 where it is left out; and the release with the labels and sizes of its classes.

    Those of a view are what it shows by now.
    """
    chosen = [columns[name] for name in published.quasi_identifiers]
    method = published.definition["method"]
    if method == "mondrian":
        return _boxed(published.definition["boxes"], columns), published
    if method == "view":
        return _viewed(published, chosen, sensitive, count, people)
    levels = [
        Hierarchy.level_of(columns[each["column"]].values, each["wish"], each["level"])
        for each in published.definition["columns"]
    ]
    number, many = numbered([level.group[column.codes] for level, column in zip(levels, chosen, strict=True)])
    known = {text: place for place, text in enumerate(published.labels)}
    groups = [level.group[column.codes[_members(number, many)]] for level, column in zip(levels, chosen, strict=True)]
    class_of = [
        known.get(label([level.labels[group] for level, group in zip(levels, each, strict=True)]), -1)
        for each in zip(*groups, strict=True)
    ]
    return np.array(class_of, dtype=np.int64)[number], published


def _members(number: Ints, many: int) -> Ints:
    member = np.zeros(many, dtype=np.int64)
    member[number] = np.arange(len(number))
    return member


def _viewed(
    published: Published, chosen: list[Column], sensitive: Ints, count: Ints, people: People | None
) -> tuple[Ints, Published]:
    """The view as it is now. With a unit it shows no row without a person."""
    shown = np.arange(len(count)) if people is None else np.flatnonzero(people.weight)
    codes = [column.codes[shown] for column in chosen]
    number, many = numbered(codes)
    composition = Composition.of(
        number, many, sensitive[shown], count[shown], int(sensitive.max()) + 1, people and people.among(shown)
    )
    there = composition.people >= published.k
    if published.l is not None:
        there &= (composition.cells_per_class >= published.l) & ~composition.shared
    member = _members(number, many)[there]
    texts = [[*column.values.texts, *[None] * column.values.null] for column in chosen]
    labels = [label([texts[place][codes[place][each]] for place in range(len(chosen))]) for each in member.tolist()]
    now = Published(
        published.release, published.quasi_identifiers, published.k, published.l, published.sensitive,
        published.definition, labels, composition.sizes[there],
    )  # fmt: skip
    class_of = np.full(len(count), -1, dtype=np.int64)
    class_of[shown] = np.where(there, np.cumsum(there) - 1, -1)[number]
    return class_of, now


def _boxed(boxes: Mapping[str, Json], columns: Mapping[str, Column]) -> Ints:
    """Down the tree of boxes, all combinations at once. A value that is in no tree of values is in no class."""
    ranks, places = [], []
    for each in boxes["columns"]:
        column = columns[each["column"]]
        order = _order(column.values, each["wish"])
        ranks.append(np.array(order, dtype=np.int64)[column.codes])
        places.append(dict(zip(column.values.texts, order, strict=False)))
    cut_by, low, high = (np.array(boxes[name], dtype=np.int64) for name in ("column", "low", "high"))
    last = np.array(
        [places[by][text] if by >= 0 else 0 for by, text in zip(boxes["column"], boxes["last"], strict=True)]
    )
    rank = np.stack(ranks)
    node = np.zeros(rank.shape[1], dtype=np.int64)
    if (np.minimum(low, high)[cut_by >= 0] <= np.flatnonzero(cut_by >= 0)).any():
        raise UnsafeReleaseError(
            "an earlier release has boxes that discreet did not make", "See discreet.forget_release()."
        )
    while (going := np.flatnonzero(cut_by[node] >= 0)).size:
        at = node[going]
        node[going] = np.where(rank[cut_by[at], going] <= last[at], low[at], high[at])
    return np.where((rank < 0).any(axis=0), -1, low[node])


def _order(values: Values, wish: object) -> list[int]:
    if not (isinstance(wish, dict) and "tree" in wish):
        return list(range(values.size))
    place = {leaf: number for number, leaf in enumerate(Tree.of(wish["tree"]).above)}
    return [place.get(text, -1) for text in values.texts] + [len(place)] * values.null
