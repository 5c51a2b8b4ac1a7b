"""What an attack is here: tries of one kind in one setting, of which some succeed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import psycopg


class Ending(Enum):
    """How one try ends: the secret is learned, a wrong one is believed, or none is had: a question is refused."""

    LEARNED = "learned"
    WRONG = "wrong"
    REFUSED = "refused"


@dataclass(frozen=True)
class Outcome:
    """What was measured: of `tries`, how many succeeded, and how many ended with a refusal."""

    tries: int
    successes: int
    refusals: int = 0

    def __post_init__(self) -> None:
        assert 0 <= self.successes <= self.tries
        assert 0 <= self.refusals <= self.tries - self.successes

    def shown(self) -> str:
        rate = f"{100 * self.successes / self.tries:.0f} % of {self.tries}"
        return f"{rate}, refused" if self.refusals == self.tries else rate


@dataclass(frozen=True)
class Missing:
    """Why an attack was not tried in a setting."""

    reason: str


@dataclass(frozen=True)
class Attack:
    """An attack by its name in docs/threats.md.

    `attempt` is one try in the setting of that name, on a secret that was drawn for it. What it is not for is in
    `missing`, by the setting's name.
    """

    name: str
    attempt: Callable[[str], Ending]
    missing: Mapping[str, str] = field(default_factory=dict)
    most: int = 1000  # tries of what takes long

    def measured(self, setting: str, tries: int) -> Outcome | Missing:
        if setting in self.missing:
            return Missing(self.missing[setting])
        tries = min(tries, self.most)
        endings = [self.ending(setting) for _ in range(tries)]
        return Outcome(tries, endings.count(Ending.LEARNED), endings.count(Ending.REFUSED))

    def ending(self, setting: str) -> Ending:
        """An error that reaches the attacker is a refusal, unless the attack makes something of it."""
        try:
            return self.attempt(setting)
        except psycopg.Error:
            return Ending.REFUSED


@dataclass(frozen=True)
class Count:
    """An attack that tells how many people of a whole table it finds."""

    name: str
    count: Callable[[str], Outcome]
    missing: Mapping[str, str] = field(default_factory=dict)

    def measured(self, setting: str, tries: int) -> Outcome | Missing:
        return Missing(self.missing[setting]) if setting in self.missing else self.count(setting)


@dataclass(frozen=True)
class Family:
    """Attacks on the same settings: a section of the page."""

    name: str
    about: str
    settings: tuple[str, ...]
    attacks: tuple[Attack | Count, ...]
