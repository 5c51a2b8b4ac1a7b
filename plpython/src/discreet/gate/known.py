"""What follows from a plan, and from what is paid for it, alone: it is kept with the plan.

A gate worker keeps plans from one question to the next, and so whatever does not depend on the data is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Protocol, TypeVar, cast

# of one plan: what was paid for an answer differs with what of it was stored
MOST_KNOWN = 64

# by function, and by the things it was given; these are held, so that no other thing takes their place
Known = dict[tuple[object, ...], tuple[tuple[object, ...], object]]


class Knows(Protocol):
    """What values are kept with."""

    @property
    def known(self) -> Known: ...


Owner = TypeVar("Owner", bound=Knows, contravariant=True)
Given = TypeVar("Given", contravariant=True)
Value = TypeVar("Value")


def kept_with_plan(make: Callable[[Owner, Sequence[Given]], Value]) -> Callable[[Owner, Sequence[Given]], Value]:
    """The function, which makes its value once for a plan and the very same things that are given with it.

    No caller changes what it returns.
    """

    @wraps(make)
    def found(plan: Owner, given: Sequence[Given]) -> Value:
        key = (make, *map(id, given))
        kept = plan.known.get(key)
        if kept is None:
            if len(plan.known) >= MOST_KNOWN:
                plan.known.clear()
            kept = plan.known[key] = (tuple(given), make(plan, given))
        return cast("Value", kept[1])

    return found
