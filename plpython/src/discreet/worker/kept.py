"""What a gate worker keeps from one question to the next: what was read of the catalogs, and the plans made from it.

Versions of the catalogs (extension/core_catalog.c) are part of the keys, so nothing is found again once they changed.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Hashable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Generic, TypeVar

Value = TypeVar("Value")

# bytes of one kind; an analyst can ask for as many plans as it likes, and pays nothing for that
MOST_KEPT = 32_000_000
# what belongs to the program, and is there anyway
OF_PROGRAM = (type, ModuleType, FunctionType, BuiltinFunctionType)


class Kept(Generic[Value]):
    """Values by their keys. When they need too much memory together, all are forgotten."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._weight = 0
        self._values: dict[Hashable, Value] = {}

    def get(self, key: Hashable) -> Value | None:
        return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> Value:
        weight = weight_of((key, value), self._most)
        if self._weight + weight > self._most:
            self._values.clear()
            self._weight = 0
        if weight <= self._most:
            self._values[key] = value
            self._weight += weight
        return value

    def found(self, key: Hashable, make: Callable[[], Value]) -> Value:
        known = self.get(key)
        return self.put(key, make()) if known is None else known


def weight_of(value: object, most: int) -> int:
    """Bytes of a value with all that it leads to; what is shared with others counts for each. Above `most` it ends.

    It is counted and not guessed from a text: a plan needs some hundred bytes for each character of its question, and
    far more where few characters ask for many columns or groups.
    """
    seen: set[int] = set()
    waiting = [value]
    weight = 0
    while waiting and weight <= most:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, OF_PROGRAM):
            continue
        seen.add(id(one))
        weight += sys.getsizeof(one)
        waiting.extend(gc.get_referents(one))
    return weight
