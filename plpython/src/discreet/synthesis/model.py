"""A graphical model of noisy marginals: the distribution of most entropy among those that fit them best.

Everything here works on released numbers, so it is post-processing and costs nothing. McKenna, Sheldon and Miklau 2019
(private-PGM) give the estimate: minimise the squared errors of all measurements, each by its own variance, over
marginals that some table has. The minimiser is a product of one potential for each measured clique, and mirror descent
finds it: potentials take steps against the gradient with respect to the marginals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.core.syntax import Json
from discreet.synthesis.junction import Clique, JunctionTree, cells

Table = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

MOST_STEPS = 100
# steps after which a fit that gains less than ENOUGH of its loss, all together, ends: between two choices it may be
# rough, since the next one begins where it has ended
PATIENCE = 10
ENOUGH = 4e-2
# The true marginals have an expected loss of half a unit for each measured cell: a fit that is below this part of
# that follows the noise, and ends.
CLOSE = 0.7
SMALLEST = 1e-300
# the first step, relative to the curvature; how steps grow; and the part of the first at which it is no use to go on
WIDTH, WIDER, NARROW = 4.0, 1.1, 1e-6
# cells of a table on the way to a marginal that no belief holds; what needs more is not read
MOST_READ = 500_000


@dataclass(frozen=True)
class Measured:
    """Noisy counts of a clique, and the variance of each."""

    clique: Clique
    counts: Table = field(repr=False)
    variance: float


def combined(measured: Iterable[Measured]) -> list[Measured]:
    """One measurement for each clique: the mean by inverse variances, which loses nothing."""
    weights: dict[Clique, float] = {}
    sums: dict[Clique, Table] = {}
    for each in measured:
        weights[each.clique] = weights.get(each.clique, 0.0) + 1 / each.variance
        sums[each.clique] = sums.get(each.clique, np.float64(0)) + each.counts / each.variance
    return [Measured(clique, sums[clique] / weight, 1 / weight) for clique, weight in weights.items()]


def total_of(measured: Iterable[Measured]) -> float:
    """The number of rows that fits all measurements best, at least 1."""
    weights = [(1 / (each.variance * each.counts.size), float(each.counts.sum())) for each in measured]
    return max(1.0, sum(w * t for w, t in weights) / sum(w for w, _ in weights))


class Model:
    """A distribution of `total` rows over attributes of these sizes."""

    def __init__(self, sizes: Sequence[int], first: frozenset[int] = frozenset()) -> None:
        self.sizes = tuple(sizes)
        self.first = first
        self.total = 1.0
        self.potentials: dict[Clique, Table] = {}
        self._rest()

    # -- fitting

    def fit(
        self, measured: Sequence[Measured], steps: int = MOST_STEPS, close: float = CLOSE, gain: float = ENOUGH
    ) -> float:
        """Fits the model, from where it is; the loss that is left, half a sum of squares of standard errors."""
        targets = combined(measured)
        self.total = total_of(targets)
        for each in targets:
            self.potentials.setdefault(each.clique, np.zeros([self.sizes[a] for a in each.clique]))
        self._rest()
        return _Descent(self, targets).run(steps, close * sum(each.counts.size for each in targets) / 2, gain)

    def _rest(self) -> None:
        """Lays the tree anew, for the potentials that there are."""
        alone = [(attribute,) for attribute in range(len(self.sizes))]
        self.tree = JunctionTree.of(self.sizes, [*alone, *self.potentials], self.first)
        self._placed = {clique: self._place(clique) for clique in [*alone, *self.potentials]}
        self.beliefs = self.calibrated(self.potentials)

    def _place(self, clique: Clique) -> int:
        found = self.tree.holder(clique)
        assert found is not None
        return found

    def calibrated(self, potentials: Mapping[Clique, Table]) -> list[Table]:
        """The marginal of each clique of the tree, by passing sums over separators up and ratios of them down."""
        tree = self.tree
        beliefs: list[Table] = [np.zeros([self.sizes[a] for a in clique]) for clique in tree.cliques]
        for clique, potential in potentials.items():
            place = self._placed[clique]
            beliefs[place] += _spread(potential, clique, tree.cliques[place])
        for belief in beliefs:
            belief -= belief.max()
            np.exp(belief, out=belief)
        messages: dict[int, Table] = {}
        for link in reversed(tree.links):
            if link.parent >= 0:
                message = _summed(beliefs[link.clique], tree.cliques[link.clique], link.separator)
                messages[link.clique] = message
                beliefs[link.parent] *= _spread(message / message.max(), link.separator, tree.cliques[link.parent])
        for link in tree.links:
            if link.parent >= 0:
                above = _summed(beliefs[link.parent], tree.cliques[link.parent], link.separator)
                above /= np.maximum(messages[link.clique], SMALLEST)
                beliefs[link.clique] *= _spread(above, link.separator, tree.cliques[link.clique])
            else:
                beliefs[link.clique] *= self.total / beliefs[link.clique].sum()
        return beliefs

    def local(self, clique: Clique, beliefs: Sequence[Table]) -> Table:
        """The marginal of a clique that a belief holds."""
        place = self._placed[clique]
        return _summed(beliefs[place], self.tree.cliques[place], clique)

    # -- reading

    def marginals(self, cliques: Sequence[Clique]) -> list[Table | None]:
        """Expected counts of any cliques; None where a table on the way would be too large."""
        reader = _Reader(self)
        return [reader.readable(clique) for clique in cliques]

    def drawn(self, rows: int, random: np.random.Generator, given: Mapping[int, Codes] | None = None) -> list[Codes]:
        """So many rows, a column of codes for each attribute; `given` attributes keep their values.

        Rows with the same values before are spread over the conditional distribution by systematic sampling, which
        draws each row from it and keeps the counts within one row of what is expected.
        """
        values: dict[int, Codes] = dict(given or {})
        for step in reversed(self.tree.steps):
            if step.attribute not in values:
                joint = self._conditional(step.attribute, step.later)
                before = _flat([values[a] for a in step.later], [self.sizes[a] for a in step.later], rows)
                values[step.attribute] = _systematic(joint, before, random)
        return [values[attribute] for attribute in range(len(self.sizes))]

    def _conditional(self, attribute: int, later: Clique) -> Table:
        """Weights of the attribute's values, a line for each combination of the later ones."""
        clique = tuple(sorted((attribute, *later)))
        place = self.tree.holder(clique)
        assert place is not None
        joint = _summed(self.beliefs[place], self.tree.cliques[place], clique)
        lines = np.moveaxis(joint, clique.index(attribute), -1).reshape(-1, self.sizes[attribute])
        lines = np.maximum(lines, 0)
        # combinations that the model does not have, as a given one may be, are drawn as all together
        empty = lines.sum(axis=1) <= SMALLEST
        lines[empty] = lines.sum(axis=0) + SMALLEST
        return lines


class _Descent:
    """Mirror descent with momentum, which starts anew whenever it does not help."""

    def __init__(self, model: Model, targets: Sequence[Measured]) -> None:
        self.model, self.targets = model, targets
        self.scale = model.total * sum(1 / each.variance for each in targets)

    def loss(self, beliefs: Sequence[Table]) -> tuple[float, dict[Clique, Table]]:
        """The loss, and its gradient with respect to the marginal of each measured clique."""
        loss, gradient = 0.0, {}
        for each in self.targets:
            difference = self.model.local(each.clique, beliefs) - each.counts
            loss += float((difference * difference).sum()) / (2 * each.variance)
            gradient[each.clique] = difference / each.variance
        return loss, gradient

    def run(self, steps: int, enough: float, gain: float) -> float:
        """Descends until the loss is `enough`, or falls by less than a part `gain`, or so many steps were taken.

        One calibration for each step: the loss is that of the point ahead, to which momentum carries the potentials.
        """
        model = self.model
        best = dict(model.potentials)
        loss, slope = self.loss(model.beliefs)
        losses = [loss]
        width, age, behind = WIDTH / self.scale, 0, best
        ahead = self.stepped(best, slope, width)
        for _ in range(steps):
            if loss <= enough or width < NARROW * WIDTH / self.scale:
                break
            beliefs = model.calibrated(ahead)
            found, next_slope = self.loss(beliefs)
            if not np.isfinite(found) or found > loss:
                # too far: a shorter step from the best point, without momentum
                width, age, behind = width / 2, 0, best
                ahead = self.stepped(best, slope, width)
                continue
            best, loss, slope = ahead, found, next_slope
            model.potentials, model.beliefs = best, beliefs
            losses.append(loss)
            if len(losses) > PATIENCE and losses[-PATIENCE - 1] - loss <= gain * losses[-PATIENCE - 1]:
                break
            width *= WIDER
            reached = self.stepped(best, slope, width)
            speed = age / (age + 3)
            ahead = {c: p + speed * (p - behind[c]) for c, p in reached.items()}
            behind, age = reached, age + 1
        return loss

    def stepped(
        self, potentials: Mapping[Clique, Table], slope: Mapping[Clique, Table], width: float
    ) -> dict[Clique, Table]:
        """Potentials after a step against the gradient; those that nothing was measured of stay."""
        return {c: p - width * slope[c] if c in slope else p for c, p in potentials.items()}


class _TooLargeError(Exception):
    """A table on the way would have more than MOST_READ cells."""


class _Reader:
    """Marginals of cliques that no belief holds, by what is left of each belief on the way between them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.parents = {link.clique: link for link in model.tree.links}
        self.kept: dict[tuple[int, Clique], Table] = {}

    def readable(self, clique: Clique) -> Table | None:
        try:
            return self.marginal(clique)
        except _TooLargeError:
            return None

    def marginal(self, clique: Clique) -> Table:
        place = self.model.tree.holder(clique)
        if place is not None:
            return self.part(place, clique)
        trees: list[tuple[Clique, Table]] = []
        left = set(clique)
        while left:
            attributes, table = self.connected(min(left), left)
            trees.append((attributes, table))
            left -= set(attributes)
        whole = trees[0][1]
        order = list(trees[0][0])
        for attributes, table in trees[1:]:
            whole = np.multiply.outer(whole, table / self.model.total)
            order += attributes
        return np.transpose(whole, [order.index(attribute) for attribute in clique])

    def connected(self, start: int, wanted: set[int]) -> tuple[Clique, Table]:
        """The marginal of those wanted attributes that are in one tree with the first."""
        tree = self.model.tree
        roots = {n: self.root(n) for n in range(len(tree.cliques))}
        root = roots[next(n for n, c in enumerate(tree.cliques) if start in c)]
        inside = [n for n in roots if roots[n] == root]
        here = {a for a in wanted if any(a in tree.cliques[n] for n in inside)}
        nodes = self.spanning(inside, here)
        links = {n: [m for m in nodes if self.parents[m].parent == n] for n in nodes}
        top = next(n for n in nodes if self.parents[n].parent not in nodes)
        attributes, table = self.gathered(top, links, here, ())
        order = tuple(sorted(attributes))
        return order, np.transpose(table, [attributes.index(a) for a in order])

    def root(self, node: int) -> int:
        while self.parents[node].parent >= 0:
            node = self.parents[node].parent
        return node

    def spanning(self, nodes: Sequence[int], wanted: set[int]) -> set[int]:
        """A small subtree that holds all wanted attributes: leaves that add none are taken away."""
        tree, kept = self.model.tree, set(nodes)
        changed = True
        while changed:
            changed = False
            for node in sorted(kept):
                near = [m for m in kept if self.parents[m].parent == node]
                near += [self.parents[node].parent] if self.parents[node].parent in kept else []
                others = {a for m in kept - {node} for a in tree.cliques[m]}
                if len(near) <= 1 and len(kept) > 1 and wanted <= others:
                    kept.discard(node)
                    changed = True
        return kept

    def gathered(self, node: int, links: Mapping[int, list[int]], wanted: set[int], up: Clique) -> tuple[Clique, Table]:
        """What a subtree says of the wanted attributes and of those of the separator above it, given the latter."""
        tree = self.model.tree
        below = links[node]
        keep = set(up) | (wanted & set(tree.cliques[node]))
        for child in below:
            keep |= set(self.parents[child].separator)
        attributes = tuple(sorted(keep))
        table = self.part(node, attributes)
        for child in sorted(below):
            separator = self.parents[child].separator
            more, conditional = self.gathered(child, links, wanted, separator)
            given = np.maximum(self.part(child, separator), SMALLEST)
            conditional = conditional / _spread(given, separator, more)
            later = {a for other in below if other > child for a in self.parents[other].separator}
            table, attributes = self.product(table, attributes, conditional, more, wanted | set(up) | later)
        result = tuple(a for a in attributes if a in wanted or a in up)
        return result, _summed(table, attributes, result)

    def product(
        self, left: Table, of_left: Clique, right: Table, of_right: Clique, keep: set[int]
    ) -> tuple[Table, Clique]:
        """The product of two tables, summed over the attributes that are no longer needed."""
        either = tuple(dict.fromkeys((*of_left, *of_right)))
        result = tuple(a for a in either if a in keep)
        if cells(self.model.sizes, result) > MOST_READ:
            raise _TooLargeError
        operands: list[Json] = [left, [either.index(a) for a in of_left], right, [either.index(a) for a in of_right]]
        return np.einsum(*operands, [either.index(a) for a in result], optimize=True), result

    def part(self, node: int, attributes: Clique) -> Table:
        key = node, attributes
        if key not in self.kept:
            self.kept[key] = _summed(self.model.beliefs[node], self.model.tree.cliques[node], attributes)
        return self.kept[key]


def _spread(table: Table, of: Clique, over: Clique) -> Table:
    """The table with an axis for each attribute of `over`, ready to be broadcast; both in the same order."""
    order = [a for a in over if a in of]
    if order != list(of):
        table = np.transpose(table, [of.index(a) for a in order])
    sizes = iter(table.shape)
    return table.reshape([next(sizes) if a in of else 1 for a in over])


def _summed(table: Table, of: Clique, keep: Clique) -> Table:
    """The sums over all attributes but those of `keep`, in its order."""
    away = tuple(n for n, a in enumerate(of) if a not in keep)
    found: Table = table.sum(axis=away) if away else table.copy()
    order = [a for a in of if a in keep]
    return found if order == list(keep) else np.transpose(found, [order.index(a) for a in keep])


def _flat(columns: Sequence[Codes], sizes: Sequence[int], rows: int) -> npt.NDArray[np.int64]:
    flat = np.zeros(rows, np.int64)
    for column, size in zip(columns, sizes, strict=True):
        flat = flat * size + column
    return flat


def _systematic(lines: Table, groups: npt.NDArray[np.int64], random: np.random.Generator) -> Codes:
    """A value for each row, from the line of its group."""
    rows, width = len(groups), lines.shape[1]
    mixed = random.permutation(rows)
    order = mixed[np.argsort(groups[mixed], kind="stable")]
    sorted_groups = groups[order]
    present, first, sizes = np.unique(sorted_groups, return_index=True, return_counts=True)
    nth = np.repeat(np.arange(len(present)), sizes)
    place = np.arange(rows) - np.repeat(first, sizes)
    shares = (place + np.repeat(random.random(len(present)), sizes)) / np.repeat(sizes, sizes)
    bounds = np.cumsum(lines[present], axis=1)
    bounds /= bounds[:, -1:]
    ahead = (bounds + np.arange(len(present))[:, None]).ravel()
    found = np.searchsorted(ahead, np.minimum(shares, np.nextafter(1, 0)) + nth, side="right") - nth * width
    values = np.empty(rows, np.int32)
    values[order] = np.clip(found, 0, width - 1)
    return values
