"""What an attack is here: tries of one kind in one setting, of which some succeed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

import psycopg

# Refusals are those of discreet before it reads data, and of PostgreSQL for lack of a right. Anything else is a mistake
# of the attack, or worse, and ends the laboratory: an attack that was never tried must not count as refused.
REFUSALS = frozenset(["DP001", "DP002", "DP003", "DP004", "DP005", "DP006", "DP008", "42501"])


@contextmanager
def until_refused(*also: str) -> Iterator[None]:
    """What is inside may end with a refusal, or with one of these further SQLSTATEs, which the attack provokes."""
    try:
        yield
    except psycopg.Error as error:
        if error.sqlstate not in REFUSALS.union(also):
            raise


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
        """A refusal that reaches the attacker ends the try, unless the attack makes something of it."""
        with until_refused():
            return self.attempt(setting)
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
