"""What a policy is to the gate: an object for one question, with a method for each stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Json
from discreet.gate.finish import Answered, rows_sql
from discreet.gate.together import Rows
from discreet.gate.wish import Wish
from discreet.worker.meaning import Meaning, Names


@dataclass(frozen=True)
class Asking:
    """What is asked for. `text`: as the log shows it; `finish`: makes the SQL that gives the rows of the answer."""

    text: str
    wish: Wish = field(default_factory=Wish)
    finish: Callable[[Answered], str] = rows_sql


@dataclass(frozen=True)
class Charge:
    """What the ledger is to take: an operation and its request. `due`: what that takes from which limits."""

    operation: str
    request: dict[str, Json]
    due: dict[str, Json]


class DeclinedError(Exception):
    """The policy does not answer a question which another policy may answer instead."""

    def __init__(self, refusal: DiscreetError) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class Policy(Protocol):
    """A question under the policy of its tables. The methods are called in this order; each knows what came before.

    There is none for policy 'public': such tables only stand beside others, and a question without people is refused.
    """

    @property
    def quantum(self) -> float | None:
        """The time grid on which answers leave."""

    def admit(self) -> None:
        """Refuses what cannot be answered, by text and catalog. Locks the tables."""

    def price(self) -> Charge | None:
        """What is to be paid. None: nothing."""

    def run(self) -> None:
        """Lets the session read its rows."""

    def decide(self) -> None:
        """Makes of what was read what may leave, or denies it."""

    def record(self, left: Json) -> Rows | None:
        """Writes down, tells, and gives what leaves; `left`: what the charge left. None: it is to be decided again."""


class TextPolicy(Policy, Protocol):
    """A policy for questions that are written in SQL, which can be looked at without being answered."""

    @property
    def plan(self) -> Answered:
        """The columns of the answer."""

    @property
    def may_decline(self) -> bool:
        """Whether another policy may answer instead."""

    def explained(self) -> dict[str, Json]:
        """What every role that may ask is told of a question that was admitted."""

    def explained_to_curators(self) -> dict[str, Json]:
        """What curators are told, too."""

    def as_text(self, told: dict[str, Json]) -> str:
        """The same as one readable text."""

    def findings(self) -> list[tuple[str, str, str]]:
        """What the asker may not expect: code, finding, hint."""


PolicyOf = TypeVar("PolicyOf", bound=Policy, covariant=True)


class Question(Protocol[PolicyOf]):
    """What is asked, before it is known what its names mean."""

    @property
    def text(self) -> str:
        """As the log shows it."""

    def names(self) -> Names:
        """What it names."""

    def under(self, meaning: Meaning) -> PolicyOf:
        """The question under the policy of its tables."""
