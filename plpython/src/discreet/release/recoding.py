"""What a released table looks like: the class of each combination of values, and the texts of the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.core.declarations import one_of
from discreet.release import mondrian
from discreet.release.classes import Ints, summed
from discreet.release.hierarchy import EVERYTHING, NUMBERS, TIMES, Hierarchy, Values, span
from discreet.release.lattice import Search
from discreet.release.problem import METHODS, Claim, Table, Tick

Text = str | None
LISTED = 8


@dataclass(frozen=True)
class Recoding:
    """`texts` has, per column, the text of each class; `labels` too, but None where the column stays as it is.

    `definition` says how a later row would be recoded; `losses` are the means over all rows, per column.
    """

    class_of: Ints
    classes: int
    labels: list[list[Text] | None]
    texts: list[list[Text]]
    losses: list[float]
    levels: list[str]
    definition: Mapping[str, object]
    why: str


def recode(method: str | None, claim: Claim, table: Table, hierarchies: list[Hierarchy], tick: Tick) -> Recoding:
    if one_of("method", method, METHODS) == "optimal":
        return _optimal(claim, table, hierarchies, tick)
    return _mondrian(claim, table, hierarchies, tick)


def _members(class_of: Ints, classes: int) -> Ints:
    """One combination of each class."""
    member = np.zeros(classes, dtype=np.int64)
    member[class_of[class_of >= 0]] = np.flatnonzero(class_of >= 0)
    return member


def _optimal(claim: Claim, table: Table, hierarchies: list[Hierarchy], tick: Tick) -> Recoding:
    search = Search(claim, table, hierarchies, tick)
    best = search.run()
    kept = best.class_of >= 0
    classes = int(best.class_of.max()) + 1
    member = _members(best.class_of, classes)
    labels: list[list[Text] | None] = []
    texts: list[list[Text]] = []
    losses = []
    chosen = [hierarchy.levels[level] for hierarchy, level in zip(hierarchies, best.levels, strict=True)]
    for codes, level, number in zip(table.codes, chosen, best.levels, strict=True):
        texts.append([level.labels[group] for group in level.group[codes[member]]])
        labels.append(texts[-1] if number else None)
        lost = float((level.loss[codes] * table.count)[kept].sum()) + best.suppressed
        losses.append(lost / table.rows)
    finer = [
        f"{hierarchies[place].values.name} as '{hierarchies[place].levels[best.levels[place] - 1].name}'"
        f" would leave out {100 * share:.3g} % of the rows"
        for place, share in search.finer(best.levels)
    ]
    why = f"of {best.nodes} combinations of levels {best.tried} were tried, the others cannot lose less"
    definition = {
        "method": "optimal",
        "columns": [
            {
                "column": hierarchy.values.name,
                "wish": hierarchy.wish,
                "level": level.name,
                **hierarchy.looks(level.name),
            }
            for hierarchy, level in zip(hierarchies, chosen, strict=True)
        ],
    }
    names = [level.name for level in chosen]
    return Recoding(best.class_of, classes, labels, texts, losses, names, definition, "; ".join([why, *finer]))


def _mondrian(claim: Claim, table: Table, hierarchies: list[Hierarchy], tick: Tick) -> Recoding:
    ranks = [_ranks(hierarchy) for hierarchy in hierarchies]
    ranked = [rank[codes] for rank, codes in zip(ranks, table.codes, strict=True)]
    boxes = mondrian.cut(claim, replace(table, codes=ranked), tick)
    order = np.argsort(boxes.class_of, kind="stable")
    starts = np.searchsorted(boxes.class_of[order], np.arange(boxes.classes))
    size = summed(boxes.class_of, table.count, boxes.classes)
    labels: list[list[Text]] = []
    losses, levels = [], []
    for hierarchy, rank, codes in zip(hierarchies, ranks, ranked, strict=True):
        low, high = np.minimum.reduceat(codes[order], starts), np.maximum.reduceat(codes[order], starts)
        known: dict[tuple[int, int], Text] = {}
        by_rank = np.argsort(rank)
        for pair in set(zip(low.tolist(), high.tolist(), strict=True)):
            known[pair] = box_label(hierarchy, by_rank, *pair)
        labels.append([known[pair] for pair in zip(low.tolist(), high.tolist(), strict=True)])
        losses.append(float(((high - low) * size).sum()) / max(1, len(rank) - 1) / table.rows)
        levels.append(f"{len(known)} ranges")
    definition = {"method": "mondrian", "boxes": _portable(boxes, hierarchies, ranks)}
    why = "no box can be cut further: a half of it would miss k, l or t"
    return Recoding(boxes.class_of, boxes.classes, [*labels], labels, losses, levels, definition, why)


def _ranks(hierarchy: Hierarchy) -> Ints:
    """The place of each code in the order in which boxes are cut: that of the leaves of the tree, or of the values."""
    values = hierarchy.values
    if hierarchy.tree is None:
        return np.arange(values.size, dtype=np.int64)
    place = {leaf: number for number, leaf in enumerate(hierarchy.tree.above)}
    order = sorted(range(len(values.texts)), key=lambda code: place[values.texts[code]])
    ranks = np.arange(values.size, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def box_label(hierarchy: Hierarchy, by_rank: Ints, low: int, high: int) -> Text:
    """The text of all values from one rank to another; NULL is the last."""
    values = hierarchy.values
    if low == high:
        return _text(values, int(by_rank[low]))
    if high - low + 1 == values.size:
        return EVERYTHING
    null = " or NULL" if by_rank[high] == len(values.texts) else ""
    last = high - bool(null)
    if hierarchy.tree is None and values.type_name in NUMBERS | TIMES:
        return span(values, values.texts[by_rank[low]], values.texts[by_rank[last]]) + null
    if hierarchy.tree is None and last - low >= LISTED:
        return f"{{{values.texts[by_rank[low]]},…,{values.texts[by_rank[last]]}}}{null}"
    texts = [values.texts[code] for code in by_rank[low : last + 1].tolist()]
    if hierarchy.tree is not None:
        return _common_node(hierarchy, texts) + null
    return "{" + ",".join(texts) + "}" + null if len(texts) > 1 else texts[0] + null


def _text(values: Values, code: int) -> Text:
    return values.texts[code] if code < len(values.texts) else None


def _common_node(hierarchy: Hierarchy, texts: Sequence[str]) -> str:
    tree = hierarchy.tree
    assert tree is not None
    for height in range(tree.height + 1):
        nodes = {tree.node(text, height) for text in texts}
        if len(nodes) == 1:
            return nodes.pop()
    return EVERYTHING


def _portable(boxes: mondrian.Boxes, hierarchies: list[Hierarchy], ranks: list[Ints]) -> dict[str, object]:
    """The tree of boxes with values in place of codes: lists by number of the box; a class has column -1."""
    by_rank = [np.argsort(rank) for rank in ranks]
    tree = [boxes.tree[number] for number in range(len(boxes.tree))]
    cuts = [each if isinstance(each, mondrian.Cut) else None for each in tree]
    return {
        "column": [-1 if each is None else each.column for each in cuts],
        "last": [
            None if each is None else _text(hierarchies[each.column].values, int(by_rank[each.column][each.last]))
            for each in cuts
        ],
        "low": [each.low if isinstance(each, mondrian.Cut) else each for each in tree],
        "high": [-1 if each is None else each.high for each in cuts],
        "columns": [
            {
                "column": hierarchy.values.name,
                "wish": hierarchy.wish if hierarchy.tree else "suppress",
                **(hierarchy.looks("boxes") if hierarchy.tree else {}),
            }
            for hierarchy in hierarchies
        ],
    }
