"""A question that is written in SQL: what it names, and the policy that it is answered under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime

from discreet.core.errors import RefusedShapeError
from discreet.core.syntax import Node
from discreet.core.verdicts import judges
from discreet.gate.constants import with_constants
from discreet.gate.listing import Listed, PublicKey, as_categories, keys_sql, wanted
from discreet.gate.parse import function_names, parse
from discreet.gate.plan import Plan, plan
from discreet.gate.pricing import Asked, priced
from discreet.gate.question import Context
from discreet.gate.refusal import quoting
from discreet.gate.schema import named_relations, schema_from_json
from discreet.gate.times import with_moment
from discreet.worker.acting import run_as
from discreet.worker.asker import Asker
from discreet.worker.audited import Audited, under_noise
from discreet.worker.kept import Kept
from discreet.worker.meaning import Meaning, Names, told_by_ledger
from discreet.worker.nested import Nested
from discreet.worker.noisy import Noisy
from discreet.worker.personal import with_noise
from discreet.worker.policy import Asking, TextPolicy
from discreet.worker.session import SessionError, run

WANTED: Kept[tuple[PublicKey, ...]] = Kept()
NAMED: Kept[tuple[tuple[tuple[str | None, str], ...], tuple[str, ...]]] = Kept()
PLANNED: Kept[Asked] = Kept()


class TextQuestion:
    """A SELECT. `path`: the schemas in which names without one are looked for."""

    def __init__(self, asker: Asker, path: tuple[str, ...], asking: Asking) -> None:
        self.asker, self.path, self.asking = asker, path, asking
        # keys of public tables that tell groups; what is declared, and the plan, without these
        self._listed: Listed = {}
        self._declared: str | None = None
        self._plan: tuple[Meaning, Plan] | None = None
        self._clock_read = False
        self._moment_read = False

    @property
    def text(self) -> str:
        return self.asking.text

    def noisily(self) -> TextQuestion:
        """The same question, to be answered by the noisy policy."""
        return TextQuestion(self.asker, self.path, replace(self.asking, wish=replace(self.asking.wish, noisily=True)))

    def names(self) -> Names:
        known = NAMED.get(self.text)
        if known is None:
            tree = self.tree()
            known = tuple(named_relations(tree)), tuple(sorted(function_names(tree)))
            if not self._clock_read:
                NAMED.put(self.text, known)
        return Names(self.path, *known)

    def under(self, meaning: Meaning) -> TextPolicy:
        if meaning.described.reaches("audited") and self.asking.wish.sample is not None:
            raise RefusedShapeError("tables under policy 'audited' are not answered from a sample", "Leave sample out.")
        if meaning.described.reaches("audited") and not self.asking.wish.noisily:
            tree, context = self.tree(), self.context(meaning)
            return Audited(meaning, self.asking, tree, context, self.as_of())
        meaning = self.with_public_keys(meaning)
        asked = self.priced(meaning)
        outer = with_noise(meaning, self.asking, asked)
        if not asked.inner:
            return outer
        wish = self.asking.wish.shared(len(asked.inner)).plainly()
        inner = [with_noise(meaning, Asking(self.text, wish), one) for one in asked.inner]
        return Nested(outer, inner, self.noisy)

    def noisy(self, meaning: Meaning, released: tuple[str | None, ...]) -> Noisy:
        """The question with the answers of those within it in their place."""
        asking = self.asking
        wish = replace(asking.wish.shared(len(released)), released=released)
        question = TextQuestion(self.asker, self.path, replace(asking, wish=wish))
        question._listed, question._declared = self._listed, self._declared
        return with_noise(meaning, question.asking, question.priced(meaning))

    def with_public_keys(self, meaning: Meaning) -> Meaning:
        """The meaning of the names, and of public tables whose keys are groups of the question. The keys are read."""
        self._listed, self._declared, self._plan = {}, None, None
        keys = self.public_keys(meaning)
        if not keys or self.asking.wish.released is not None:
            return meaning
        tables = tuple(dict.fromkeys((schema, name) for schema, name, _ in keys))
        relations = tuple(dict.fromkeys((*meaning.names.relations, *tables)))
        wider = Meaning(self.asker, replace(meaning.names, relations=relations))
        try:
            acting = wider.acting()
        except RefusedShapeError:  # the question can be asked without
            return meaning
        schema = schema_from_json(wider.described.meaning)
        found: dict[PublicKey, tuple[str, tuple[str, ...]]] = {}
        for key in keys:
            public = schema.relations.get(key[:2])
            sql = None if public is None else keys_sql(key, public)
            values = None if sql is None else as_categories(run_as(self.asker.session, acting, sql))
            if public is not None and values is not None:
                found[key] = public.columns[key[2]].type_name, values
        if not found:
            return meaning
        self._listed, self._declared = found, meaning.described.declared
        return wider

    def public_keys(self, meaning: Meaning) -> tuple[PublicKey, ...]:
        described = meaning.described
        columns = (column for relation in described.meaning["relations"] for column in relation["columns"])
        if not any(column["listed_by"] for column in columns):
            return ()
        key = described.digest, self.text, self.asking.wish, meaning.names
        found = WANTED.get(key)
        if found is None:
            planned, context = self.planned(meaning)
            self._plan = meaning, planned
            plans = (planned, *planned.subquestions)
            found = tuple(dict.fromkeys(one for plan in plans for one in wanted(plan, context.schema)))
            if not self._clock_read:
                WANTED.put(key, found)
        return found

    def priced(self, meaning: Meaning) -> Asked:
        """The question with its price, by text and catalog, and the keys of public tables."""
        described, wish, usual = meaning.described, self.asking.wish, self.asker.setting("discreet.epsilon")
        opened, listed = self.opened(meaning), tuple(sorted(self._listed.items()))
        favour, told = self.asker.favour, (tuple(opened.items()), listed)
        key = described.digest, self.text, wish, meaning.names, usual, favour, self.asker.user, *told
        asked = PLANNED.get(key)
        if asked is None:
            planned = self._plan[1] if self._plan is not None and self._plan[0] is meaning else None
            if planned is None:
                planned, _ = self.planned(meaning, opened)
            declared = self._declared or described.declared
            asked = priced(replace(planned, as_of=self.as_of()), declared, wish, usual, favour)
            if not self._clock_read and wish.released is None:
                PLANNED.put(key, asked)
        return asked

    def planned(self, meaning: Meaning, opened: dict[str, tuple[date, ...]] | None = None) -> tuple[Plan, Context]:
        context, tree, wish = self.context(meaning), self.tree(), self.asking.wish
        schema = context.schema.with_opened(self.opened(meaning) if opened is None else opened).with_values(
            self._listed
        )
        context = replace(context, schema=under_noise(schema) if wish.noisily else schema)
        with quoting(self.text):
            found = plan(tree, context.schema, context.harmless, context.parameters, wish.released)
        return found, context

    def opened(self, meaning: Meaning) -> dict[str, tuple[date, ...]]:
        """What the ledger knows of the periods of datasets that have some. Time opens more."""
        found = {}
        for dataset in meaning.described.meaning["datasets"]:
            if dataset["period"] is not None:
                days = self.asker.ledger("opened", {"dataset": dataset["dataset"]})
                found[dataset["dataset"]] = tuple(map(date.fromisoformat, days))
        return found

    def context(self, meaning: Meaning) -> Context:
        """What the question is read with."""
        schema = schema_from_json(meaning.described.meaning)
        for view in schema.views.values():
            with_moment(view.select, self.moment, self.moved is not None)
        in_views = {name for view in schema.views.values() for name in function_names(view.select)}
        of_views = Names(self.path, (), tuple(sorted(in_views)))
        told = told_by_ledger(self.asker, of_views)["harmless"] if in_views else ()
        harmless = frozenset([*meaning.described.meaning["harmless"], *told])
        return Context(schema, harmless, self.asking.wish.parameters)

    def tree(self) -> Node:
        if self.text is None:
            raise RefusedShapeError("the question is NULL", "Ask a SELECT.")
        return with_constants(with_moment(parse(self.text), self.moment, self.moved is not None), self.computed)

    @property
    def moved(self) -> datetime | None:
        """What the asker wants to be taken for now(), if it is another moment."""
        return self.asking.wish.as_of or self.asker.clock

    def moment(self) -> datetime:
        """When the transaction began, or a step before it. What depends on it is not kept."""
        self._clock_read = self._moment_read = True
        return self.moved or self.asker.now

    def as_of(self) -> datetime | None:
        """What was taken for now(), if that is another moment. Of plain SQL, parameters have been made of it."""
        if self._moment_read:
            return self.moved
        return self.asking.wish.as_of if self.asking.wish.parameters else None

    def computed(self, expressions: Sequence[str]) -> list[tuple[str | None, str | None]]:
        """Types and values of constants, by PostgreSQL. They may change with the clock, so nothing is kept."""
        self._clock_read = True
        try:
            found = run(self.asker.session, "SELECT discreet._constants(:sql::text[]) AS found", sql=list(expressions))
        except SessionError as error:
            if not judges(error):
                raise
            if error.sqlstate.startswith("42"):  # a name that PostgreSQL does not know: the gate says it better
                return [(None, None)] if len(expressions) == 1 else [self.computed([one])[0] for one in expressions]
            raise RefusedShapeError(f"a constant of the question has no value: {error}", "Write another one.") from None
        texts = found[0]["found"]
        return list(zip(texts[::2], texts[1::2], strict=True))
