"""The label at which a question about multilevel tables is asked.

It is that of the session, which has read at it from then on, and is held as the session's wish until the question is
answered: a clearance that is raised meanwhile changes nothing, one that is taken away is an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.errors import InsufficientPrivilegeError, NoAccessError
from discreet.core.verdicts import judges
from discreet.worker.session import Session, kept

LABEL = "SELECT bits, discreet._label(bits) AS text, session_user AS role FROM discreet._session_label() AS bits"
WRITTEN = "SELECT discreet._label_bits(discreet._label(NULL)) AS bits"
LEVEL = "SELECT pg_catalog.set_config('discreet.level', $1, true)"
INSUFFICIENT_PRIVILEGE = "42501"
# dominates all others
HIGHEST = 2**62 - 1


@dataclass(frozen=True)
class SessionLabel:
    bits: int
    text: str


def hold_level(session: Session, level: str) -> None:
    session.execute(kept(LEVEL, "text"), [level])


def held_label(session: Session) -> SessionLabel:
    """The label of the session, held as its wish."""
    try:
        row = session.execute(kept(LABEL))[0]
    except session.SPIError as error:
        if getattr(error, "sqlstate", None) != INSUFFICIENT_PRIVILEGE:
            raise
        raise InsufficientPrivilegeError(str(error), "SET discreet.level to another label, or connect anew.") from None
    if row["bits"] is None:
        raise NoAccessError(
            f"role {row['role']} has no clearance, and multilevel tables show it nothing",
            "The security officer gives one with discreet.mls_clear().",
        )
    hold_level(session, row["text"])
    return SessionLabel(int(row["bits"]), str(row["text"]))


def label_of_words(session: Session) -> int | None:
    """The label of what the session writes: NULL without a clearance. What the session reads does not change it."""
    try:
        bits = session.execute(kept(WRITTEN))[0]["bits"]
    except session.SPIError as error:
        if not judges(error):
            raise
        return HIGHEST  # a wish that the session cannot have
    return None if bits is None else int(bits)
