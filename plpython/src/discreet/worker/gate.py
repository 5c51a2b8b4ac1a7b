"""The way of a question, on the database: parse, resolve, plan, recall, charge, run, release, record."""

from __future__ import annotations

import hashlib
import json
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.core.declarations import ENCODING, OTHER_DATABASE
from discreet.core.errors import (
    DiscreetError,
    DuplicateCursorError,
    ExhaustedBudgetError,
    InvalidParameterError,
    RefusedShapeError,
    TouchedDataError,
)
from discreet.core.verdicts import judges
from discreet.dp.exact import decimal_above
from discreet.dp.price import Price, parse_epsilon
from discreet.gate.accuracy import accuracy
from discreet.gate.column_names import LONGEST_NAME
from discreet.gate.exactness import errors_told, widest_error
from discreet.gate.finish import rows_sql
from discreet.gate.lint import findings
from discreet.gate.measure import Terms, domain_groups, measure
from discreet.gate.parse import function_names, parse
from discreet.gate.plan import plan as plan_of
from discreet.gate.refusal import quoting
from discreet.gate.run import statements
from discreet.gate.schema import named_relations, schema_from_json
from discreet.gate.times import with_moment
from discreet.gate.values import identifier, literal
from discreet.worker import audited, citus, personal
from discreet.worker.acting import acting_role, refuse_unstartable, starts
from discreet.worker.audited import AuditedAsked
from discreet.worker.kept import Kept
from discreet.worker.ledger import call_ledger
from discreet.worker.session import Doing, Finish, Rows, Session, SessionError, Statement, run
from discreet.worker.session_label import SessionLabel, held_label, hold_level, label_of_words
from discreet.worker.totals import as_texts, totals
from discreet.worker.trusted import look, trusted

# a question about unknown keys costs this part of the dataset's delta, unless the policy says how much
DELTA_PART = Fraction(1, 100)
# columns of which a notice says how exact they are
MOST_TOLD = 8

# at the tables of a question, before and after they are locked
MOST_LOOKS = 3


@dataclass(frozen=True)
class Names:
    """What a question names, and the schemas in which names without one are looked for."""

    path: tuple[str, ...]
    relations: tuple[tuple[str | None, str], ...]
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Described:
    """What names mean. `places`: which tables that are, and their parts; all else is in `digest`, too."""

    meaning: dict[str, Any]
    places: list[str]
    digest: str
    weight: int

    def at(self, label: int) -> Described:
        return replace(self, digest=f"{self.digest} at {label}")


@dataclass(frozen=True)
class Asked:
    """A question that was found answerable, and its price; `terms` are those of each grouping set."""

    plan: Any
    epsilon: Fraction
    amount: Fraction
    delta: Fraction
    price: Any
    key: str
    terms: list[Any]
    texts: dict[int, list[str]] = field(default_factory=dict)
    acting: int = 0


def terms_of(plan: Any, price: Any, delta: Fraction) -> list[Any]:
    keys, sets = plan.grouping.keys, plan.grouping.sets
    unknown = sum(any(keys[k].domain is None for k in some) for some in sets)
    return [Terms.of(plan, price, delta / max(unknown, 1), some) for some in sets]


def names_of(tree: Any) -> tuple[tuple[tuple[str | None, str], ...], tuple[str, ...]]:
    return tuple(named_relations(tree)), tuple(sorted(function_names(tree)))


def weight(described: dict[str, Any]) -> int:
    return len(json.dumps(described))


# characters, about; a worker serves a few databases' worth of tools
MOST_KEPT = 16_000_000
NAMED: Kept[tuple[tuple[tuple[str | None, str], ...], tuple[str, ...]]] = Kept(MOST_KEPT)
TOLD: Kept[dict[str, Any]] = Kept(MOST_KEPT)
DESCRIBED: Kept[Described] = Kept(MOST_KEPT)
PLANNED: Kept[Asked] = Kept(MOST_KEPT)
ACTING: Kept[int] = Kept(10_000)


@dataclass(frozen=True)
class Wish:
    """How the asker wants a question answered: at a price, or as exactly as `accuracy` says.

    `noisily`: audited tables as well, which the noisy policy stands in for.
    """

    epsilon: Decimal | None = None
    accuracy: Decimal | None = None
    parameters: tuple[str | None, ...] = ()
    with_error: bool = False
    noisily: bool = False


def wish_of(
    epsilon: Decimal | None, accuracy: Decimal | None, parameters: list[str | None] | None, with_error: bool
) -> Wish:
    if not all(value is None or isinstance(value, str) for value in parameters or ()):
        raise RefusedShapeError("params is not a plain list", "Give one text per parameter: ARRAY['1', 'x'].")
    return Wish(epsilon, accuracy, tuple(parameters or ()), with_error)


class Gate:
    """The way of questions of one session.

    `finish`: makes the SQL that gives the rows of an answer, of a plan. `label`: that of the session, once the question
    was found to be about multilevel tables; the ledger is told of it with everything.
    """

    def __init__(self, session: Session, finish: Callable[[Any], str] = rows_sql) -> None:
        self.session = session
        self.finish_sql = finish
        self.label: SessionLabel | None = None
        self._described_at: tuple[int, str | None] | None = None
        self._planned_on: tuple[Names, Described] | None = None
        self._moment_used = False

    # -- answering

    def answer(
        self,
        sql: str,
        epsilon: Decimal | None,
        parameters: list[str | None] | None,
        fresh: bool = False,
        accuracy: Decimal | None = None,
        with_error: bool = False,
    ) -> Finish:
        """What gives the rows of the answer; what it costs is paid before a row is read."""
        wish = wish_of(epsilon, accuracy, parameters, with_error)
        with self.own_search_path() as path:
            asked, rows = self.released(sql, wish, path, fresh)
        return Finish(self.finish_sql(asked.plan), json.dumps(rows))

    def released(self, sql: str, wish: Wish, path: tuple[str, ...], fresh: bool) -> tuple[Any, list[list[object]]]:
        """A question with its released numbers: from the store, or paid, measured and stored."""
        started = time.monotonic()
        asked = self.refusable(sql, lambda: self.question(sql, wish, path))
        if isinstance(asked, AuditedAsked):
            again = partial(self.released, sql, replace(wish, noisily=True), path, fresh)
            return audited.released(self, sql, asked, again)
        rows = None if fresh else self.recalled(asked)
        paid, failure = rows is None, None
        if rows is None:
            left = self.charged(asked, sql)
            try:
                rows = self.measured(asked)
            except TouchedDataError as error:
                failure = error
        else:
            left = self.ledger("left", {"role": self.session_user(), "dataset": asked.plan.dataset.name})
        self.wait_for_quantum(asked, started)
        if rows is None:
            raise failure or TouchedDataError
        if paid:
            self.stored(asked, rows)
        price = f"epsilon {decimal_text(asked.epsilon)} spent"
        if asked.plan.personal is not None:
            price += " by everybody who is selected and can, for each own row"
        price = price if paid else "answered again from the store, free of charge"
        self.tell(asked, price, left, rows)
        return asked, rows

    def wait_for_quantum(self, asked: Asked, started: float) -> None:
        """Answers and errors leave at the next multiple of the quantum, however long they took; so do their traces."""
        quantum = asked.plan.dataset.response_quantum
        if quantum:
            over = (time.monotonic() - started) % quantum
            self.session.execute(f"SELECT discreet._wait({quantum - over!r})")

    def opened(self, sql: str, epsilon: Decimal | None, cursor: str) -> None:
        """Opens a cursor of this name on the answer, for the rest of the transaction."""

        with self.own_search_path() as path:
            self.refuse_cursor(cursor)  # before the question is charged
            asked, rows = self.released(sql, Wish(epsilon), path, fresh=False)
            held = literal(json.dumps(rows)) + "::pg_catalog.jsonb"
            select = rows_sql(asked.plan).replace("$1", held, 1)
            self.session.execute(f"DECLARE {identifier(cursor)} NO SCROLL CURSOR FOR {select}")

    def refuse_cursor(self, cursor: str) -> None:
        """Refuses a name that no cursor can be opened under now."""
        if not cursor:
            raise InvalidParameterError("cursor_name must not be empty", "Give a name, or leave it out: 'answer'.")
        if len(cursor.encode()) > LONGEST_NAME:
            raise InvalidParameterError(
                f"cursor_name is longer than {LONGEST_NAME} bytes", "PostgreSQL would truncate it: give a shorter one."
            )
        if run(self.session, "SELECT name FROM pg_catalog.pg_cursors WHERE name = :cursor::text", cursor=cursor):
            raise DuplicateCursorError(f'cursor "{cursor}" already exists', "CLOSE it first, or give another name.")

    def columns(self, sql: str) -> list[tuple[str, str]]:
        """Name and type of every column of the answer; nothing is asked."""
        with self.own_search_path() as path:
            asked = self.question(sql, Wish(), path)
            empty = self.session.execute(Statement(rows_sql(asked.plan), ("jsonb",)), ["[]"])
            types = [
                run(self.session, "SELECT pg_catalog.format_type(:type::oid, NULL) AS name", type=oid)[0]["name"]
                for oid in empty.coltypes()
            ]
            return list(zip(asked.plan.output, types, strict=True))

    def lint(self, sql: str) -> list[tuple[str, str, str]]:
        """The refusal, if there is one, or what the asker may not expect."""

        with self.own_search_path() as path:
            try:
                asked = self.question(sql, Wish(), path)
            except DiscreetError as error:
                return [(error.sqlstate, error.message, error.hint or "")]
        return [] if isinstance(asked, AuditedAsked) else findings(asked.plan)

    # -- stages

    def named(self, sql: str, path: tuple[str, ...]) -> Names:
        """What the question names."""
        known = NAMED.get(sql)
        if known is None:
            relations, functions = names_of(self.parsed(sql))
            known = relations, functions
            if not self._moment_used:
                NAMED.put(sql, known, len(sql))
        return Names(path, *known)

    def parsed(self, sql: str) -> Any:
        """The tree of a question."""
        if sql is None:
            raise RefusedShapeError("the question is NULL", "Ask a SELECT.")
        return with_moment(parse(sql), self.moment)

    def resolved(self, sql: str, path: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
        """The tree of a question, and what its names mean: a copy, which the caller may change."""
        return self.parsed(sql), deepcopy(self.looked_up(self.named(sql, path)).meaning)

    def question(self, sql: str, wish: Wish, path: tuple[str, ...]) -> Any:
        """What is asked, with its price.

        The tables are locked when the native statements are checked. What was described before may be another
        transaction's past by then, as a key that it has dropped: so it is described again under the lock.
        """
        for _ in range(MOST_LOOKS):
            names = self.named(sql, path)
            described = self.looked_up(names)
            asked = self.understood(sql, names, described, wish)
            if self.still_means(names, described):
                self._planned_on = names, described
                return asked
        raise RefusedShapeError("the tables of the question are being altered", "Ask again.")

    def understood(self, sql: str, names: Names, described: Described, wish: Wish) -> Any:
        key = described.digest, sql, wish, names, self.setting("discreet.epsilon"), self.session_user()
        asked = PLANNED.get(key)
        if asked is None:
            asked = self.planned(sql, names, described, wish)
            if isinstance(asked, AuditedAsked):
                return asked
            if not self._moment_used:
                PLANNED.put(key, asked, described.weight + len(sql))
        return self.checked(asked, described)

    def planned(self, sql: str, names: Names, described: Described, wish: Wish) -> Any:
        """The question with its price, by text and catalog alone."""
        schema = schema_from_json(described.meaning)
        for view in schema.views.values():
            with_moment(view.select, self.moment)
        in_views = {name for view in schema.views.values() for name in function_names(view.select)}
        of_views = Names(names.path, (), tuple(sorted(in_views)))
        harmless = frozenset([*described.meaning["harmless"], *(self.told(of_views)["harmless"] if in_views else ())])
        tree = self.parsed(sql)
        if schema.reaches("audited"):
            if not wish.noisily:
                again = partial(self.question, sql, replace(wish, noisily=True), names.path)
                with quoting(sql):
                    return audited.question(self, tree, schema, harmless, wish.parameters, described, again)
            schema = audited.under_noise(schema)
        with quoting(sql):
            plan = plan_of(tree, schema, harmless, wish.parameters)
        return self.priced(plan, described, wish)

    # -- what names mean

    def told(self, names: Names) -> dict[str, Any]:
        """What names mean, as the ledger sees them."""
        request = {
            "role": self.session_user(),
            "path": names.path,
            "relations": names.relations,
            "functions": names.functions,
        }
        versions = self.versions()
        if versions is None:
            told: dict[str, Any] = self.ledger("describe", request)
            return told
        # the session's version, too: a definition that it is about to replace is not answered from what was kept
        key = versions, self.session_user(), names
        return TOLD.found(key, lambda: self.ledger("describe", request), weight)

    def looked_up(self, names: Names) -> Described:
        """What names mean, to the ledger and to the session."""
        self.refuse_settings()
        versions = self.versions()
        # another transaction may have another snapshot
        lasting = versions is not None and self.setting("transaction_isolation") == "read committed"
        key = versions, self.session_user(), names
        described = DESCRIBED.get(key) if lasting else None
        if described is None:
            told = self.told(names)
            described = self.described(told, self.session.execute(*look(told["relations"])))
            if lasting and self.versions() == versions:
                DESCRIBED.put(key, described, described.weight)
        if self.label is None and any(relation["multilevel"] for relation in described.meaning["relations"]):
            self.label = held_label(self.session)
        self._described_at = versions
        # what is answered at a label is not what is answered at another
        return described if self.label is None else described.at(self.label.bits)

    def described(self, told: dict[str, Any], seen: Iterable[Any]) -> Described:
        """What names mean, without what cannot be trusted; `seen`: what the session says of the relations."""
        places = [relation["place"] for relation in told["relations"]]
        meaning = told | {"relations": trusted(told["relations"], seen)}
        citus.refuse_what_does_not_hold(self.session, meaning["relations"])
        text = json.dumps(meaning, sort_keys=True)
        return Described(meaning, places, hashlib.sha256(text.encode()).hexdigest(), len(text))

    def versions(self) -> tuple[int, str | None] | None:
        """Of the catalogs, as the worker and the session know them. None: changes can be elsewhere."""
        if self.session.facts["remote"] or self.session.facts["citus"]:
            return None
        return self.session.worker_catalog, self.session.catalog

    def still_means(self, names: Names, described: Described) -> bool:
        """Whether names mean what they did when they were looked up last."""
        versions = self.versions()
        return (versions is not None and versions == self._described_at) or self.looked_up(names) == described

    def refuse_changed(self) -> None:
        """Raises where names no longer mean what the question was planned on, once its statements have run.

        A part can join a table, and a schema take the name of another, under the locks of the question: what was read
        is then not what was planned. Whatever was read is locked by now, so no part of it can have left again.
        """
        assert self._planned_on is not None
        if not self.still_means(*self._planned_on):
            raise TouchedDataError

    def refuse_settings(self) -> None:
        if self.setting("transaction_isolation") == "serializable":
            raise RefusedShapeError(
                "a question in a SERIALIZABLE transaction would leave locks that tell which rows it read",
                "Ask in READ COMMITTED or REPEATABLE READ.",
            )
        if self.setting("server_encoding") != ENCODING:
            raise RefusedShapeError(
                "the database is not in UTF8, and a text that cannot be converted to it would end the question",
                f"A DBA can help: {OTHER_DATABASE}",
            )

    def acting(self, described: Described) -> int:
        """The role that reads the relations."""
        relations = described.meaning["relations"]
        versions = self.versions()
        if versions is None or self.setting("transaction_isolation") != "read committed":
            return acting_role(self.session, relations)
        key = versions, described.digest
        return ACTING.found(key, lambda: acting_role(self.session, relations), lambda _: 1)

    # -- the price

    def priced(self, plan: Any, described: Described, wish: Wish) -> Asked:
        """A plan with its price."""
        worth = self.worth(plan, wish)
        price = price_of(plan, worth) if plan.sharing else None
        delta = self.delta(plan)
        sets = len(plan.grouping.sets)
        amount = plan.own_amount + (price.amount if price else 0)
        fingerprint = json.dumps(
            [plan.answer_sql, plan.key(), decimal_text(worth), wish.parameters, described.digest], default=str
        )
        key = hashlib.sha256(fingerprint.encode()).hexdigest()
        if wish.with_error:  # the same question, of which more is shown
            plan = plan.with_errors()
        epsilon = plan.own_epsilon + worth
        return Asked(plan, epsilon * sets, amount * sets, delta, price, key, terms_of(plan, price, delta))

    def worth(self, plan: Any, wish: Wish) -> Fraction:
        """Epsilon per grouping set, for what names none of its own: what is asked for within the cap, or the session's
        wish lowered to it.
        """

        sets, own = len(plan.grouping.sets), plan.own_epsilon
        cap = plan.source.limits.max_epsilon
        if wish.epsilon is not None and wish.accuracy is not None:
            raise RefusedShapeError("epsilon and accuracy are both given", "One follows from the other: give one.")
        if wish.accuracy is not None and own:
            raise RefusedShapeError(
                "accuracy is asked for, and an aggregate names its own epsilon", "One follows from the other: give one."
            )
        if not plan.sharing:
            worth = Fraction(0)
        elif wish.accuracy is not None:
            worth = self.worth_of_accuracy(plan, wish.accuracy)
        elif wish.epsilon is not None:
            worth = parse_epsilon(wish.epsilon)
        else:
            worth = parse_epsilon(self.setting("discreet.epsilon"))
            worth = worth if cap is None else min(worth, cap / sets - own)
        if cap is not None and (worth + own) * sets > cap:
            raise RefusedShapeError(
                f"epsilon {decimal_text((worth + own) * sets)} is more than the {decimal_text(cap)}"
                " that one question may cost",
                "Give less.",
            )
        if plan.sharing and worth <= 0:
            raise RefusedShapeError(
                f"no epsilon is left for what names none, of the {decimal_text(cap)} that one question may cost",
                "Give less.",
            )
        return worth

    def worth_of_accuracy(self, plan: Any, accuracy: Decimal) -> Fraction:
        """The smallest epsilon, to two digits, at which every column whose half-width is known keeps to `accuracy`."""

        if not accuracy.is_finite() or accuracy <= 0:
            raise RefusedShapeError(f"accuracy {accuracy} is not above 0", "It is a half-width: 10 means ±10.")

        def exact_enough(worth: Fraction) -> bool:
            price = price_of(plan, worth)
            error = widest_error(plan, [Terms.of(plan, price, Fraction(0), keys) for keys in plan.grouping.sets])
            if error is None:
                raise RefusedShapeError("how exact this is, is not known before it is answered", "Give an epsilon.")
            return error <= Fraction(accuracy)

        powers = [Fraction(10) ** power for power in range(-6, 3)]
        digits = [Fraction(digit, 100) * power for power in powers for digit in range(10, 100)]
        found = bisect_left(digits, True, key=exact_enough)
        if found == len(digits) or digits[found] > 100:
            raise RefusedShapeError(f"accuracy {accuracy} cannot be bought", "Ask for less exact numbers.")
        return digits[found]

    def delta(self, plan: Any) -> Fraction:
        """What unknown keys cost: once per grouping set that has some."""
        unknown = [keys for keys in plan.grouping.sets if any(plan.grouping.keys[k].domain is None for k in keys)]
        if not unknown:
            return Fraction(0)
        single: Fraction | None = plan.source.limits.max_delta
        if single is None:
            single = Fraction(plan.dataset.delta_limit) * DELTA_PART
        if single == 0:
            raise RefusedShapeError(
                f"this question needs delta for groups that are not declared; dataset {plan.dataset.name} has none",
                "A curator can declare the groups:"
                " SELECT discreet.describe_column(table, column, categories => ARRAY[…]);"
                " a new dataset can have delta: discreet.create_dataset(name, epsilon, delta).",
            )
        return single * len(unknown)

    def statements(self, asked: Asked, seed: int) -> list[Any]:

        return [statement for keys in asked.plan.grouping.sets for statement in statements(asked.plan, keys, seed)]

    def checked(self, asked: Asked, described: Described) -> Asked:
        """The question, which the server has analysed: errors of types and names come before the charge."""
        plan = asked.plan
        if plan.personal is not None:
            personal.refuse_other_isolation(self.setting("transaction_isolation"))
        asked = replace(asked, acting=self.acting(described))
        native = [sql for statement in self.statements(asked, 0) for sql in as_texts(statement)]
        if plan.personal is not None:
            native.append(plan.personal.selection)
        domains = {place: domain_texts(key) for place, key in enumerate(plan.grouping.keys) if key.domain is not None}
        found = self.check(native, asked, list(domains.values()))
        listed = ([row["text"] for row in rows] for rows in found)
        asked = replace(
            asked, texts={place: list(dict.fromkeys(texts)) for place, texts in zip(domains, listed, strict=True)}
        )
        for keys, terms in zip(plan.grouping.sets, asked.terms, strict=True):
            if domain_groups(plan, keys, asked.texts) is None:
                terms.threshold()
            for measurement in plan.measurements:
                terms.check(measurement)
        return asked

    def check(self, native: list[str], asked: Any, before: list[Statement]) -> list[Rows]:
        """Lets the server analyse native statements, which locks their tables, start them in the name of the owner, and
        put an answer without rows together: LIMIT -1 fails there already. Gives the rows of the statements before.
        """
        first = [(statement, ()) for statement in before]
        analysed = [(Statement(sql, doing=Doing.ANALYSE), ()) for sql in native]
        started = starts(asked.acting, native)
        finish = Statement(self.finish_sql(asked.plan), ("jsonb",)), ["[]"]
        try:
            found = self.session.execute_all([*first, *analysed, *started, finish])
        except SessionError as error:
            if not judges(error):
                raise
            found = error.before
            at_start = len(first) + len(analysed) <= len(found) < len(first) + len(analysed) + len(started)
            if at_start:
                refuse_unstartable(self.session, error)
            # ln(count(*)) over an answer fails where that has no rows
            at_finish = len(found) == len(first) + len(analysed) + len(started)
            if not (at_finish and len(asked.plan.levels) > 1 and of_values(error)):
                raise RefusedShapeError(
                    f"PostgreSQL does not understand the question: {error}", "Check types and names."
                ) from None
        return found[: len(first)]

    def recalled(self, asked: Asked) -> list[list[object]] | None:
        request = {"role": self.session_user(), "key": asked.key, "dataset": asked.plan.dataset.name}
        found = self.ledger("recall", request)
        return None if found is None else list(found)

    def due(self, asked: Asked) -> dict[str, Any]:
        """What a question takes from the limits of its dataset; under policy 'personal', from those of the role."""
        personal = asked.plan.personal is not None
        return {
            "dataset": asked.plan.dataset.name,
            "amount": decimal_text(asked.epsilon if personal else asked.amount),
            "delta": decimal_text(Fraction(0) if personal else asked.delta),
            "personal": personal,
            "label": None if self.label is None else self.label.bits,
        }

    def refuse_shortage(self, dues: list[dict[str, Any]]) -> None:
        """Refuses what the limits do not leave now; the charge itself looks again."""
        short = self.ledger("shortage", {"role": self.session_user(), "dues": dues})
        if short["message"] is not None:
            raise ExhaustedBudgetError(short["message"], short["hint"])

    def charged(self, asked: Asked, sql: str) -> dict[str, Any]:
        request = {
            "role": self.session_user(),
            "dataset": asked.plan.dataset.name,
            "epsilon": decimal_text(asked.epsilon),
            "amount": decimal_text(asked.amount),
            "delta": decimal_text(asked.delta),
            "question": sql[:8000],
            "details": {
                "measurements": len(asked.plan.measurements),
                "grouping_sets": len(asked.plan.grouping.sets),
            },
        }
        operation = "charge_question" if asked.plan.personal is None else "charge_personal"
        left: dict[str, Any] = self.ledger(operation, request)
        return left

    def measured(self, asked: Asked) -> list[list[object]]:
        """Runs and releases. Whatever goes wrong from here on may depend on the data, and is told to the log only."""

        rows: list[list[object]] = []
        sets = asked.plan.grouping.sets
        try:
            of_sets: Iterator[Any]
            if asked.plan.personal is None:
                of_sets = (totals(self.session, asked.plan, keys, asked.acting) for keys in sets)
            else:
                of_sets = iter(personal.totals_of_payers(self.session, asked.plan, asked.epsilon, asked.acting))
            every = list(of_sets)
            self.refuse_changed()
            for keys, terms, found in zip(sets, asked.terms, every, strict=True):
                known = domain_groups(asked.plan, keys, asked.texts)
                rows += measure(asked.plan, terms, known, found)
        except Exception as error:
            self.session.log(f"discreet: {type(error).__name__} after the data was touched: {error}")
            raise TouchedDataError from None
        return rows

    def stored(self, asked: Asked, rows: list[list[object]]) -> None:

        exact = [found.told() for found in accuracy(asked.plan, rows)]
        self.ledger("store", {"key": asked.key, "dataset": asked.plan.dataset.name, "answer": rows, "accuracy": exact})

    # -- around it

    def tell(self, asked: Asked, paid: str, left: dict[str, Any], rows: list[list[object]]) -> None:
        """What was paid, what is left, and the 95 % error of each noisy column, from released numbers."""

        told = errors_told(asked.plan, asked.terms, rows)
        if len(told) > MOST_TOLD:
            told = [*told[:MOST_TOLD], f"{len(told) - MOST_TOLD} more columns: see discreet.explain()"]
        dataset = asked.plan.dataset
        unit = "epsilon" if dataset.accounting == "pure" else "rho"
        where = "" if self.label is None else f" at label {self.label.text}"
        for_all = (
            f", for dataset {dataset.name}{where} {left['left_for_dataset']}" if asked.plan.personal is None else ""
        )
        self.session.notice(
            f"{paid}; {unit} left for you {left['left_for_role']}{for_all}"
            + (f"; 95 % error: {', '.join(told)}" if told else "")
        )

    def refusable(self, sql: str, ask: Any) -> Any:
        """Writes a refusal down before it is raised."""
        try:
            return ask()
        except DiscreetError as error:
            if error.sqlstate.startswith("DP"):
                request: dict[str, Any] = {
                    "role": self.session_user(),
                    "code": error.sqlstate,
                    "message": error.message,
                    "question": (sql or "")[:8000],
                }
                if self.label is None:  # what a session writes of what it has read elsewhere has its label, too
                    request["label"] = label_of_words(self.session)
                self.ledger("refused", request)
            raise

    def ledger(self, operation: str, request: dict[str, Any]) -> Any:
        """What the ledger answers; what it writes is committed when this returns, its refusals among it."""
        if self.label is not None:
            request = request | {"label": self.label.bits}
        return call_ledger(self.session, operation, request)

    def session_user(self) -> str:
        return str(self.session.facts["user"])

    def moment(self) -> datetime:
        """When the transaction began."""
        self._moment_used = True
        return datetime.fromisoformat(str(self.session.facts["now"]))

    def setting(self, name: str) -> str:
        return str(self.session.facts[name])

    def caller_is_curator(self) -> bool:
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
        yield tuple(self.session_user() if name == "$user" else name for name in named)
        if self.label is not None:
            hold_level(self.session, self.setting("discreet.level"))


def listed_names(path: str) -> list[str]:
    """The names of a list of identifiers, such as search_path is."""
    found = re.findall(r'"((?:[^"]|"")+)"|([^\s,"]+)', path)
    return [quoted.replace('""', '"') if quoted else plain.lower() for quoted, plain in found]


def price_of(plan: Any, worth: Fraction) -> Any:
    """What an epsilon is in the currency of the dataset."""

    return Price.of(worth, plan.dataset.accounting)


def domain_texts(key: Any) -> Statement:
    """The known values of a key, as the server writes them."""
    listed = ", ".join(f"({entry})::pg_catalog.text" for entry in key.canonical_domain)
    return Statement(f"SELECT pg_catalog.unnest(ARRAY[{listed}]) AS text")


def of_values(error: Exception) -> bool:
    """An error that other values would not lead to; those of LIMIT and OFFSET are constants."""
    state = str(getattr(error, "sqlstate", None))
    return state.startswith("22") and state not in ("2201W", "2201X")


def decimal_text(number: Fraction, digits: int = 28) -> str:
    """A decimal that is not less than the number."""

    return format(decimal_above(number, digits), "f")
