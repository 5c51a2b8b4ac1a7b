"""What a gate worker keeps from one question to the next: what was read of the catalogs, and the plans made from it.

Versions of the catalogs (extension/core_catalog.c) are part of the keys, so nothing is found again once they changed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by their keys. When they become too heavy together, all are forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._values: dict[Hashable, Value] = {}

    def get(self, key: Hashable) -> Value | None:
        return self._values.get(key)

    def put(self, key: Hashable, value: Value, weight: int) -> Value:
        if self._weight + weight > self._most:
            self._values.clear()
            self._weight = 0
        if weight <= self._most:
            self._values[key] = value
            self._weight += weight
        return value

    def found(self, key: Hashable, make: Callable[[], Value], weigh: Callable[[Value], int]) -> Value:
        known = self.get(key)
        if known is None:
            known = make()
            self.put(key, known, weigh(known))
        return known
