"""Who asks: the session with its settings and label, and the ledger in its name."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from discreet.core.errors import DiscreetError, ExhaustedBudgetError, TouchedDataError
from discreet.core.syntax import Json
from discreet.worker.ledger import call_ledger
from discreet.worker.session import Session
from discreet.worker.session_label import SessionLabel, hold_level, label_of_words

# characters of a question that the log keeps
LONGEST_QUESTION = 8000


class Asker:
    """The asker of one question.

    `label`: that of the session, once the question was found to be about multilevel tables; the ledger is told of it
    with everything.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.label: SessionLabel | None = None
        self._started = time.monotonic()

    @property
    def user(self) -> str:
        return str(self.session.facts["user"])

    @property
    def now(self) -> datetime:
        """When the transaction began."""
        return datetime.fromisoformat(self.setting("now"))

    @property
    def clock(self) -> datetime | None:
        """The step of discreet.round_time in which that was, if the session wishes for steps."""
        moved = self.session.facts.get("clock")
        return None if moved is None else datetime.fromisoformat(moved)

    @property
    def wants_errors(self) -> bool:
        """Whether the session wishes for a column of errors beside each noisy one."""
        return self.session.facts.get("discreet.with_error") is not None

    @property
    def favour(self) -> tuple[str, ...]:
        """Columns or aggregates that the session wishes to be more exact than others."""
        return tuple(listed_names(self.setting("discreet.favour")))

    def setting(self, name: str) -> str:
        return str(self.session.facts[name])

    def is_curator(self) -> bool:
        rows = self.session.execute(
            "SELECT pg_catalog.pg_has_role(discreet._caller(), 'discreet_curator', 'MEMBER') AS yes"
        )
        return bool(rows[0]["yes"])

    @contextmanager
    def own_search_path(self) -> Iterator[tuple[str, ...]]:
        """The schemas that the asker searches; within a call of the gate the session itself searches pg_catalog only.

        A label is held for the question, and given back; an error takes it back by itself.
        """
        # not current_schemas(): the function runs as its owner, whom "$user" would mean
        named = listed_names(self.setting("search_path"))
        yield tuple(self.user if name == "$user" else name for name in named)
        if self.label is not None:
            hold_level(self.session, self.setting("discreet.level"))

    # -- the ledger

    def ledger(self, operation: str, request: dict[str, Json]) -> Json:
        """What the ledger answers; what it writes is committed when this returns, its refusals among it."""
        if self.label is not None:
            request = request | {"label": self.label.bits}
        return call_ledger(self.session, operation, request)

    @contextmanager
    def refusals_written_down(self, question: str) -> Iterator[None]:
        """A refusal is written down before the asker sees it."""
        try:
            yield
        except DiscreetError as error:
            if error.sqlstate.startswith("DP"):
                request: dict[str, Json] = {
                    "role": self.user,
                    "code": error.sqlstate,
                    "message": error.message,
                    "question": (question or "")[:LONGEST_QUESTION],
                }
                if self.label is None:  # what a session writes of what it has read elsewhere has its label, too
                    request["label"] = label_of_words(self.session)
                self.ledger("refused", request)
            raise

    def refuse_shortage(self, dues: list[dict[str, Json]]) -> None:
        """Refuses what the limits do not leave now; the charge itself looks again."""
        short = self.ledger("shortage", {"role": self.user, "dues": dues})
        if short["message"] is not None:
            raise ExhaustedBudgetError(short["message"], short["hint"])

    # -- once data are read

    @contextmanager
    def touching_data(self, passing: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Whatever goes wrong within may depend on the data, and is told to the log only; but for what is `passing`."""
        try:
            yield
        except passing:
            raise
        except Exception as error:
            self.session.log(f"discreet: {type(error).__name__} after the data was touched: {error}")
            raise TouchedDataError from None

    def wait_for_quantum(self, quantum: float | None) -> None:
        """Answers and errors leave at the next multiple of the quantum, however long they took; so do their traces."""
        if quantum:
            over = (time.monotonic() - self._started) % quantum
            self.session.execute(f"SELECT discreet._wait({quantum - over!r})")


def listed_names(path: str) -> list[str]:
    """The names of a list of identifiers, such as search_path is."""
    found = re.findall(r'"((?:[^"]|"")+)"|([^\s,"]+)', path)
    return [quoted.replace('""', '"') if quoted else plain.lower() for quoted, plain in found]
