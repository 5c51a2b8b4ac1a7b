"""discreet.synthesize: from a request to tables, by the way of a question: checked, charged, counted, released.

The tables are made before the charge, in the transaction of the session, and the process that fits is started: a right
that is missing, or a name that is taken, costs nothing. Whatever fails later takes them back, and the charge stays.
"""

from __future__ import annotations

from discreet.core.errors import DuplicateObjectError, RefusedShapeError
from discreet.core.syntax import Json
from discreet.core.verdicts import judges
from discreet.dp.exact import decimal_text
from discreet.gate.schema import schema_from_json
from discreet.gate.together import Rows
from discreet.synthesis.counting import counting, looking
from discreet.synthesis.plan import SynthesisPlan
from discreet.worker.acting import refuse_unstartable, starts
from discreet.worker.asker import LONGEST_QUESTION, Asker
from discreet.worker.fitting import FittingProcess
from discreet.worker.gate import admitted, released
from discreet.worker.meaning import Meaning, Names
from discreet.worker.policy import Charge
from discreet.worker.session import Doing, Session, SessionError, Statement, run
from discreet.worker.suggest_bounds import name_of
from discreet.worker.synthesis_making import WRITE, Making
from discreet.worker.synthesis_planning import Planning
from discreet.worker.synthesis_request import Request

CLOSED = "SELECT discreet._closed_key(:relation::pg_catalog.regclass) AS key"


def refuse_closed(session: Session, relation: str) -> None:
    """The server may hold the keys of sealed columns: who publishes what is made of them must have them, too."""
    key = run(session, CLOSED, relation=relation)[0]["key"]
    if key is not None:
        raise RefusedShapeError(
            f'{relation} has columns that are sealed under key "{key}", which is not open',
            f"Who publishes them opens it first: SELECT discreet.open_key('{key}', …).",
        )


def synthesized(session: Session, request: Request) -> dict[str, Json]:
    """Makes the tables; what was measured, and how exact it is."""
    asker = Asker(session)
    with asker.own_search_path() as path:
        with asker.refusals_written_down(request.text()):
            policy = admitted(asker, SynthesisQuestion(asker, path, request))
        try:
            ((told,),) = released(asker, policy)
        finally:
            policy.close()
    assert isinstance(told, dict)
    return told


class SynthesisQuestion:
    """For synthetic tables in the place of others."""

    def __init__(self, asker: Asker, path: tuple[str, ...], request: Request) -> None:
        self.request, self.text, self._path = request, request.text(), path
        for relation in request.relations:
            refuse_closed(asker.session, relation)
        self._names = tuple(name_of(asker.session, relation) for relation in request.relations)

    def names(self) -> Names:
        return Names(self._path, self._names)

    def under(self, meaning: Meaning) -> Synthesis:
        return Synthesis(meaning, self.request, self._names)


class Synthesis:
    """Noisy marginals, of which a model is made; its rows are written into tables of the asker."""

    acting: int
    caller: int
    making: Making

    def __init__(self, meaning: Meaning, request: Request, names: tuple[tuple[str, str], ...]) -> None:
        self.process: FittingProcess | None = None
        self.meaning, self.request, self._names = meaning, request, names
        self.asker, self.session = meaning.asker, meaning.asker.session
        self.plan = self.planned()

    @property
    def quantum(self) -> float | None:
        return self.plan.dataset.response_quantum

    def close(self) -> None:
        """Ends the process, whatever ended the question."""
        if self.process is not None:
            self.process.close()

    def planned(self) -> SynthesisPlan:
        schema = schema_from_json(self.meaning.described.meaning)
        return Planning(self.session, self.request).plan_of(schema, self._names)

    def admit(self) -> None:
        """Lets the server analyse what will be run, which locks the tables, and start it in the name of the owner."""
        self.acting = self.meaning.acting()
        native = list(counting(self.plan, {}, 0).values()) + list(looking(self.plan, 0).values())
        analysed = [(Statement(sql, doing=Doing.ANALYSE), ()) for sql in native]
        try:
            self.session.execute_all([*analysed, *starts(self.acting, native)])
        except SessionError as error:
            if judges(error):
                refuse_unstartable(self.session, error)
            raise
        if self.planned() != self.plan:  # columns and constraints, under the locks
            raise RefusedShapeError("the tables are being altered", "Ask again.")
        if any(relation["multilevel"] for relation in self.meaning.described.meaning["relations"]):
            raise RefusedShapeError(
                "multilevel tables cannot be synthesised", "A synthetic table would carry rows of one label to others."
            )

    def price(self) -> Charge:
        """The tables and the process are there before anything is paid."""
        self.caller = int(self.session.execute("SELECT discreet._caller()::pg_catalog.oid AS role")[0]["role"])
        self.make_tables()
        self.process = FittingProcess(self.session)
        plan, request = self.plan, self.request
        self.making = Making(
            self.asker, self.process, plan, self.acting, self.caller, request.rows, request.most_mb
        )  # fmt: skip
        pure = plan.dataset.accounting == "pure"
        taken = {
            "dataset": plan.dataset.name,
            "amount": decimal_text(plan.epsilon if pure else plan.price.amount),
            "delta": decimal_text(plan.delta),
        }
        told = {
            "role": self.asker.user,
            "epsilon": decimal_text(plan.epsilon),
            "question": request.text()[:LONGEST_QUESTION],
            "details": {"synthesized": [table.target.written for table in plan.tables]},
        }
        return Charge("charge_question", taken | told, taken)

    def make_tables(self) -> None:
        """Makes the tables, empty, as the role that asks."""
        for table in self.plan.tables:
            try:
                self.session.execute(WRITE, [self.caller, table.target.create_sql(), []])
            except SessionError as error:
                if judges(error) and error.sqlstate == "42P07":
                    raise DuplicateObjectError(
                        f"there is a relation {table.target.written} already", "Drop it, or give another name."
                    ) from None
                raise

    def run(self) -> None:
        self.making.count()
        with self.asker.touching_data():
            self.meaning.refuse_changed()
        self.asker.wait_for_quantum(self.quantum)

    def decide(self) -> None:
        self.making.fit()

    def record(self, left: Json) -> Rows:
        told = self.making.write()
        self.session.notice(
            f"epsilon {decimal_text(self.plan.epsilon)} spent; left for you {left['left_for_role']},"
            f" for dataset {self.plan.dataset.name} {left['left_for_dataset']}"
        )
        return [[told]]
