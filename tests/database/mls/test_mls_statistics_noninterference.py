"""Noninterference of statistics: what is asked, refused and spent at a label is noticed by none that is not above.

A random history of askers and writers is played as a whole, and for each observer once more without the acts of those
whom it does not dominate. All that the others are told must be the same: answers, notices with what is left, refusals,
explanations, budgets, charges. At the price of these questions a number is moved by noise with probability below 1e-40.
One subject works at U, by the role of the asker at S.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pytest
from psycopg import sql
from tests.database.mls.askers import EXACT, Askers, Told, told
from tests.database.mls.subjects import Subjects
from tests.databases import Connection

HISTORIES, MORE_HISTORIES = 5, 200
ACTS = 40
DATASET_LIMIT, TEAM_LIMIT = 5 * EXACT, 3 * EXACT

# subject: its label, the clearance of its role
ASKERS = {"U": ("U", "U"), "C": ("C", "C"), "S": ("S", "S"), "C:NATO": ("C:NATO", "C:NATO"), "S at U": ("U", "S")}
DOMINATED = {"U": {"U"}, "C": {"U", "C"}, "S": {"U", "C", "S"}, "C:NATO": {"U", "C", "C:NATO"}}
COUNTS = [f"SELECT count(*) FROM staff{condition}" for condition in ("", " WHERE dept = ''a''", " WHERE pay > 20")]
REFUSED = ["SELECT count(*) FROM staff WHERE name = ''ann''", "SELECT pay FROM staff", "SELECT count(*) FROM nowhere"]
# each kind as often as another
ASKED = {
    "answers": [f"SELECT * FROM discreet.query_json('{question}', {EXACT})" for question in COUNTS],
    "fresh answers": [
        f"SELECT * FROM discreet.query_json('{question}', {EXACT}, fresh => true)" for question in COUNTS
    ],
    "plain SQL": [question.replace("''", "'") for question in COUNTS],
    "explanations": [f"SELECT discreet.explain('{question}', {EXACT})" for question in COUNTS],
    "refusals": [f"SELECT * FROM discreet.query_json('{question}')" for question in REFUSED],
    "budgets": ["SELECT * FROM discreet.budget_status"],
    "charges": ["SELECT id, role, dataset, epsilon, delta, question, details, label FROM discreet.charges"],
    "refusals seen": ["SELECT role, code, message, question, label FROM discreet.refusals"],
    "plans": ["EXPLAIN ANALYZE SELECT * FROM discreet.charges"],
}
WRITTEN = [
    "INSERT INTO staff (name, dept, pay) VALUES ('ann', 'a', 10)",
    "INSERT INTO staff (name, dept, pay) VALUES ('bob', 'b', 50)",
    "UPDATE staff SET pay = 90",
    "DELETE FROM staff WHERE name = 'bob'",
]

ONE_LEDGER = """
    CREATE FUNCTION spend_everywhere() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE discreet._label_spent s SET amount_spent = NEW.amount_spent
        WHERE (s.dataset, s.role) = (NEW.dataset, NEW.role) AND s.label <> NEW.label;
        RETURN NULL;
    END $$;
    CREATE TRIGGER spend_everywhere AFTER UPDATE ON discreet._label_spent FOR EACH ROW
    WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION spend_everywhere();
"""
CHARGES_WITHOUT_LABELS = """
    CREATE OR REPLACE VIEW discreet.charges WITH (security_barrier) AS
    SELECT c.id, c.at, c.role, c.dataset, c.epsilon, c.delta, c.question, c.details, c.hash, c.amount,
           discreet._label(c.label) AS label, NULL::text[] AS periods
    FROM discreet._charge c WHERE c.role = session_user
"""
REFUSALS_WITHOUT_LABELS = """
    CREATE FUNCTION forget_label() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.label := NULL; RETURN NEW; END $$;
    CREATE TRIGGER forget_label BEFORE INSERT ON discreet._refusal FOR EACH ROW EXECUTE FUNCTION forget_label();
"""


MET = (
    "at label C:NATO", "answered again from the store", "is exhausted", "singles out", "EXPLAIN ANALYZE would",
    "'stored': True", "'stored': False",
)  # fmt: skip


@dataclass(frozen=True)
class Act:
    subject: str
    label: str
    writes: bool
    statement: str


class Stage:
    """A protected table, on which histories are played from nothing."""

    def __init__(self, subjects: Subjects) -> None:
        self.admin = subjects.admin
        self.met = ""
        askers = Askers(subjects)
        askers.protect()
        team = subjects._make_role("team", options="NOLOGIN")
        self.admin.execute("UPDATE discreet._budget SET amount_limit = %s", [DATASET_LIMIT])
        self.admin.execute("SELECT discreet.grant_budget('public.staff', %s, %s::numeric)", [team, TEAM_LIMIT])
        self._askers: dict[str, Connection] = {}
        for subject, (label, clearance) in ASKERS.items():
            session = askers.another(clearance)
            session.execute(f"SET discreet.epsilon = {EXACT}; SET discreet.level = '{label}'")
            self.admin.execute(
                sql.SQL("GRANT {} TO {}").format(sql.Identifier(team), sql.Identifier(askers.role(clearance)))
            )
            self._askers[subject] = session
        self._writers = {label: subjects.at(label) for label in DOMINATED}

    def play(self, acts: list[Act]) -> list[list[Told]]:
        self.admin.execute("DELETE FROM staff_mls; DELETE FROM discreet._label_spent; DELETE FROM discreet._charge")
        self.admin.execute("DELETE FROM discreet._refusal; DELETE FROM discreet._answer")
        answers = []
        for act in acts:
            session = self._writers[act.label] if act.writes else self._askers[act.subject]
            answers.append(sorted(told(session, act.statement), key=repr))
        return answers

    def interference(self, history: list[Act]) -> str | None:
        """What is noticed of acts that are not dominated."""
        whole = list(zip(history, self.play(history), strict=True))
        self.met += repr(whole)
        for observer, dominated in DOMINATED.items():
            kept = [act for act in history if act.label in dominated]
            expected = [answer for act, answer in whole if act.label in dominated]
            for act, alone, among in zip(kept, self.play(kept), expected, strict=True):
                if alone != among:
                    return f"{observer}: {act.subject} is told {among}, alone {alone}: {act.statement}"
        return None


def histories(seed: int) -> Iterator[list[Act]]:
    chance = Random(seed)
    while True:
        acts = []
        for _ in range(ACTS):
            if chance.random() < 0.2:
                label = chance.choice(list(DOMINATED))
                acts.append(Act(label, label, True, chance.choice(WRITTEN)))
            else:
                subject = chance.choice(list(ASKERS))
                acts.append(Act(subject, ASKERS[subject][0], False, chance.choice(ASKED[chance.choice(list(ASKED))])))
        yield acts


@pytest.fixture
def stage(subjects: Subjects) -> Stage:
    return Stage(subjects)


def test_nothing_is_noticed_of_what_is_asked_above(stage: Stage, more: bool) -> None:
    played = histories(1)
    for _ in range(MORE_HISTORIES if more else HISTORIES):
        assert stage.interference(next(played)) is None
    # else they would have shown nothing
    for words in MET:
        assert words in stage.met


SPEND, SPEND_AGAIN, REFUSE = ASKED["answers"][0], ASKED["fresh answers"][0], ASKED["refusals"][0]
STATUS, CHARGES, REFUSALS = ASKED["budgets"][0], ASKED["charges"][0], ASKED["refusals seen"][0]


@pytest.mark.parametrize(
    ("mutant", "above", "below"),
    [
        (ONE_LEDGER, [SPEND, SPEND_AGAIN], [SPEND, SPEND_AGAIN, STATUS]),
        (CHARGES_WITHOUT_LABELS, [SPEND], [CHARGES]),
        (REFUSALS_WITHOUT_LABELS, [REFUSE], [REFUSALS]),
    ],
    ids=["ledger", "charges", "refusals"],
)
def test_wrong_designs_are_found(stage: Stage, mutant: str, above: list[str], below: list[str]) -> None:
    history = [Act("S at U", "U", False, SPEND)] + [Act("S", "S", False, statement) for statement in above]
    history += [Act("S at U", "U", False, statement) for statement in below]
    assert stage.interference(history) is None
    stage.admin.execute(mutant)
    assert stage.interference(history) is not None
