"""Whether an answer may leave: the size of each query set, and what all answers together determine.

Answers are sums over query sets: rows of a matrix whose columns are people's values. What can be computed from them by
arithmetic is their span (Chin and Özsoyoğlu 1982, Audit Expert). The rule: every vector of the span that is not zero
touches at least `min_group` people whose values are not known. Two readings of a changed row are kept apart, and the
rule holds for both: its versions are values of their own, of which one person may have many and counts once; or nothing
that matters was changed, and they are one value.

Nothing here sees a value: the decision is a function of who was in which set (simulatable, Kenthapadi, Mishra and
Nissim 2005), so that a refusal tells nothing that the asker could not have computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.audited.history import UNTOUCHED, History, Numbers, Rows
from discreet.audited.modular import Echelon
from discreet.audited.search import touches_few

# of a matrix that is looked at
MOST_ENTRIES = 20_000_000


@dataclass(frozen=True)
class Denial:
    """Why an answer may not leave."""

    message: str
    hint: str


def size_denial(sizes: Iterable[int], everybody: int, least: int) -> Denial | None:
    """Query sets of fewer than `least` people, or of all but fewer than `least`, are denied; all people are fine."""
    for size in sizes:
        if size < least:
            return Denial(
                f"a query set has fewer than {least} people",
                "Ask about more people; GROUP BY answers all groups or none.",
            )
        if everybody - least < size < everybody:
            return Denial(
                f"a query set leaves out fewer than {least} people",
                "Its difference to all people would tell about them: ask about all, or leave out more.",
            )
    return None


@dataclass(frozen=True)
class Span:
    """The span of questions up to number `asked`, over columns (atom, version)."""

    echelon: Echelon
    atoms: Numbers
    versions: Numbers
    asked: int
    known: int

    def refined(self, parents: Numbers, atoms: Numbers, versions: Numbers) -> Span | None:
        """Over the columns of a finer history; None where a pivot is no longer among them."""
        places = {key: place for place, key in enumerate(zip(self.atoms.tolist(), self.versions.tolist(), strict=True))}
        keys = zip(parents[atoms].tolist(), versions.tolist(), strict=True)
        origin = np.array([places.get(key, -1) for key in keys], dtype=np.int64)
        if not set(self.echelon.pivots) <= set(origin.tolist()):
            return None
        finer = Echelon(len(origin), self.echelon.prime)
        finer.rows, finer.given = self.echelon.rows, self.echelon.given
        finer.sources, finer.pivots = self.echelon.sources.copy(), list(self.echelon.pivots)
        finer.spread(origin)
        return Span(finer, atoms, versions, self.asked, self.known)


@dataclass
class Verdict:
    """A denial, or what is found on the way: questions that follow from others, spans for the next decision."""

    denial: Denial | None = None
    dropped: dict[int, tuple[int, ...]] = field(default_factory=dict)
    spans: dict[tuple[int, bool], Span] = field(default_factory=dict)


def judged(
    history: History,
    columns: Iterable[int],
    known: Numbers,
    least: int,
    spans: Mapping[tuple[int, bool], Span],
) -> Verdict:
    """Whether all answers of a history, about these columns, keep the rule."""
    verdict = Verdict()
    sizes = history.sizes(known)
    for column in columns:
        rows = history.rows(column)
        if rows.entries.size > MOST_ENTRIES:
            verdict.denial = Denial(
                "what was answered before has become too much to be audited",
                "A curator may forget it with discreet.audit_reset(), when old answers tell nothing of today's values.",
            )
            return verdict
        in_reach = (rows.entries != UNTOUCHED).any(axis=0) & (sizes > 0)
        # a vector that is not zero touches a whole atom
        if bool((sizes[in_reach] >= least).all()):
            continue
        for merged in (False, True) if has_versions(rows) else (False,):
            found = span(history, rows, in_reach, len(known), merged, spans.get((column, merged)))
            if found is None or few_in_reach(found[0], sizes, least) is not False:
                verdict.denial = Denial(
                    f"with what was answered before, the sum over fewer than {least} people could be computed",
                    "Ask about other groups of people. discreet.explain() tells beforehand what would be answered.",
                )
                return verdict
            verdict.spans[column, merged] = found[0]
            if not merged:
                verdict.dropped[column] = found[1]
    return verdict


def refined_spans(
    before: Mapping[tuple[int, bool], Span], found: Mapping[tuple[int, bool], Span], history: History
) -> dict[tuple[int, bool], Span]:
    """The spans of a history: those just found, and the others over its finer atoms."""
    spans = dict(found)
    for (column, merged), old in before.items():
        if (column, merged) in spans:
            continue
        rows = history.rows(column)
        entries = np.where(rows.entries == UNTOUCHED, UNTOUCHED, 0) if merged else rows.entries
        touched = (rows.entries != UNTOUCHED).any(axis=0)
        finer = old.refined(history.parents, *columns_of(entries, touched))
        if finer is not None:
            spans[column, merged] = finer
    return spans


def state_of(history: History, column: int, known: Iterable[int]) -> tuple[int, int, int | None]:
    """Rank of the answers about a column, atoms that they divide people into, size of the smallest."""
    rows = history.rows(column)
    sizes = history.sizes(np.array([person % 2**64 for person in known], dtype=np.uint64))
    touched = (rows.entries != UNTOUCHED).any(axis=0)
    atoms, versions = columns_of(rows.entries, touched)
    echelon = Echelon(len(atoms))
    for row in rows.entries:
        echelon.add(row[atoms] == versions, np.zeros(len(atoms), dtype=bool))
    # atoms that only questions about other columns tell apart are one here
    _, together = np.unique(rows.entries[:, touched], axis=1, return_inverse=True)
    people = np.bincount(together.reshape(-1), weights=sizes[touched]).astype(int)
    people = people[people > 0]
    return echelon.rank, len(people), int(people.min()) if len(people) else None


def has_versions(rows: Rows) -> bool:
    """Whether some people were asked about with several versions of their rows."""
    there = rows.entries != UNTOUCHED
    lowest = np.where(there, rows.entries, np.iinfo(np.int32).max).min(axis=0, initial=np.iinfo(np.int32).max)
    return bool((rows.entries.max(axis=0, initial=UNTOUCHED) > lowest).any())


def span(
    history: History, rows: Rows, in_reach: NDArray[np.bool_], known: int, merged: bool, before: Span | None
) -> tuple[Span, tuple[int, ...]] | None:
    """The span of all rows, and the numbers of those that follow from others; None where it is undecided."""
    entries = np.where(rows.entries == UNTOUCHED, UNTOUCHED, 0) if merged else rows.entries
    atoms, versions = columns_of(entries, in_reach)
    if len(atoms) * max(len(entries), 1) > MOST_ENTRIES:
        return None
    current = None
    if before is not None and before.known == known:
        current = before.refined(history.parents, atoms, versions)
    if current is None:
        current = Span(Echelon(len(atoms)), atoms, versions, 0, known)
    nothing_preferred = np.zeros(len(atoms), dtype=bool)
    dropped = []
    for number, row in zip(rows.numbers, entries, strict=True):
        if number < current.asked:
            continue
        independent = current.echelon.add(row[atoms] == versions, nothing_preferred)
        if independent is None:
            return None
        if not independent:
            dropped.append(number)
    return Span(current.echelon, atoms, versions, rows.asked, known), tuple(dropped)


def columns_of(entries: Numbers, in_reach: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Each atom with each of its versions that a question touches."""
    atoms, versions = [], []
    for version in range(int(entries.max(initial=UNTOUCHED)) + 1):
        there = np.flatnonzero((entries == version).any(axis=0) & in_reach)
        atoms.append(there)
        versions.append(np.full(len(there), version))
    nothing = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *atoms]), np.concatenate([nothing, *versions])


def few_in_reach(span: Span, sizes: Numbers, least: int) -> bool | None:
    """Whether a vector that is not zero touches fewer than `least` people; None: not found out within bounds.

    Such a vector is zero on every atom of that many people. In echelon form with pivots on these wherever possible, it
    is a combination of the rows whose pivot is elsewhere.
    """
    large = sizes[span.atoms] >= least
    span.echelon.prefer(large)
    light = [at for at, pivot in enumerate(span.echelon.pivots) if not large[pivot]]
    if not light:
        return False
    small = np.flatnonzero(~large)
    small = small[np.argsort(span.atoms[small], kind="stable")]
    return touches_few(span.echelon.rows[light][:, small], span.atoms[small], sizes, least, span.echelon.prime)
