"""What the names of a question mean, to the ledger and to the session that asks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from discreet.core.declarations import ENCODING, OTHER_DATABASE
from discreet.core.errors import RefusedShapeError, TouchedDataError
from discreet.core.syntax import Json
from discreet.server.plpy import Row
from discreet.worker import citus
from discreet.worker.acting import acting_role
from discreet.worker.asker import Asker
from discreet.worker.kept import Kept
from discreet.worker.session import Session
from discreet.worker.session_label import held_label
from discreet.worker.trusted import look, trusted

Versions = tuple[int, str | None]


@dataclass(frozen=True)
class Names:
    """What a question names, and the schemas in which names without one are looked for."""

    path: tuple[str, ...]
    relations: tuple[tuple[str | None, str], ...]
    functions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Described:
    """What names mean. `places`: which tables that are, and their parts; all else is in `digest`, too.

    `declared`: a digest of what is declared of the tables, whatever names they have in a question.
    """

    meaning: dict[str, Json]
    places: list[str]
    digest: str
    declared: str = ""

    def at(self, label: int) -> Described:
        return replace(self, digest=f"{self.digest} at {label}", declared=f"{self.declared} at {label}")

    def reaches(self, policy: str) -> bool:
        """Whether a table that the question names, or a view of it reads, is under this policy."""
        protections = (relation["protection"] for relation in self.meaning["relations"])
        return any(protection is not None and protection["policy"] == policy for protection in protections)


TOLD: Kept[dict[str, Json]] = Kept()
DESCRIBED: Kept[Described] = Kept()
ACTING: Kept[int] = Kept()


class Meaning:
    """What names mean now, on which a question is planned."""

    def __init__(self, asker: Asker, names: Names) -> None:
        self.asker, self.names = asker, names
        self._at = versions(asker.session)
        self.described = looked_up(asker, names)

    def still_holds(self) -> bool:
        """Whether names mean what they did."""
        now = versions(self.asker.session)
        if now is not None and now == self._at:
            return True
        if looked_up(self.asker, self.names) != self.described:
            return False
        self._at = now
        return True

    def refuse_changed(self) -> None:
        """Raises where names no longer mean what the question was planned on, once its statements have run.

        A part can join a table, and a schema take the name of another, under the locks of the question: what was read
        is then not what was planned. Whatever was read is locked by now, so no part of it can have left again.
        """
        if not self.still_holds():
            raise TouchedDataError

    def acting(self) -> int:
        """The role that reads the relations."""
        session, relations = self.asker.session, self.described.meaning["relations"]
        now = lasting_versions(self.asker)
        if now is None:
            return acting_role(session, relations)
        return ACTING.found((now, self.described.digest), lambda: acting_role(session, relations))


def looked_up(asker: Asker, names: Names) -> Described:
    """What names mean, to the ledger and to the session."""
    refuse_settings(asker)
    before = lasting_versions(asker)
    key = before, asker.user, names
    described = None if before is None else DESCRIBED.get(key)
    if described is None:
        told = told_by_ledger(asker, names)
        described = without_untrusted(asker.session, told, asker.session.execute(*look(told["relations"])))
        if before is not None and versions(asker.session) == before:
            DESCRIBED.put(key, described)
    if asker.label is None and any(relation["multilevel"] for relation in described.meaning["relations"]):
        asker.label = held_label(asker.session)
    # what is answered at a label is not what is answered at another
    return described if asker.label is None else described.at(asker.label.bits)


def told_by_ledger(asker: Asker, names: Names) -> dict[str, Json]:
    """What names mean, as the ledger sees them."""
    request = {"role": asker.user, "path": names.path, "relations": names.relations, "functions": names.functions}
    now = versions(asker.session)
    if now is None:
        told: dict[str, Json] = asker.ledger("describe", request)
        return told
    # the session's version, too: a definition that it is about to replace is not answered from what was kept
    return TOLD.found((now, asker.user, names), lambda: asker.ledger("describe", request))


def without_untrusted(session: Session, told: dict[str, Json], seen: Iterable[Row]) -> Described:
    """What names mean, without what cannot be trusted; `seen`: what the session says of the relations."""
    places = [relation["place"] for relation in told["relations"]]
    meaning = told | {"relations": trusted(told["relations"], seen)}
    citus.refuse_what_does_not_hold(session, meaning["relations"])
    text = json.dumps(meaning, sort_keys=True)
    declared = json.dumps([sorted(map(declared_of, meaning["relations"])), meaning["datasets"]], sort_keys=True)
    digest, of_declared = (hashlib.sha256(one.encode()).hexdigest() for one in (text, declared))
    return Described(meaning, places, digest, of_declared)


def declared_of(relation: dict[str, Json]) -> str:
    """What is declared and known of a table, by whatever name a question calls it."""
    known = {name: value for name, value in relation.items() if name not in ("asked_schema", "asked_name")}
    if known["protection"] is not None:
        known["protection"] = {name: value for name, value in known["protection"].items() if name != "may_ask"}
    return json.dumps(known, sort_keys=True)


def versions(session: Session) -> Versions | None:
    """Of the catalogs, as the worker and the session know them. None: changes can be elsewhere."""
    if session.facts["remote"] or session.facts["citus"]:
        return None
    return session.worker_catalog, session.catalog


def lasting_versions(asker: Asker) -> Versions | None:
    """The same, where other transactions see what this one does: under an older snapshot they may not."""
    return versions(asker.session) if asker.setting("transaction_isolation") == "read committed" else None


def refuse_settings(asker: Asker) -> None:
    if asker.setting("transaction_isolation") == "serializable":
        raise RefusedShapeError(
            "a question in a SERIALIZABLE transaction would leave locks that tell which rows it read",
            "Ask in READ COMMITTED or REPEATABLE READ.",
        )
    if asker.setting("server_encoding") != ENCODING:
        raise RefusedShapeError(
            "the database is not in UTF8, and a text that cannot be converted to it would end the question",
            f"A DBA can help: {OTHER_DATABASE}",
        )
