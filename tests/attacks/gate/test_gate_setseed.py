"""setseed() makes random() known, and with it naive noise and naive sampling."""

from tests.attacks.gate.asking import COUNT, NAIVE_GATE, ask, assert_refused
from tests.attacks.target import Target
from tests.databases import Connection

BY_DAY = "SELECT extract(dow FROM day), count(*) FROM hr.visit GROUP BY 1"


def test_naive_noise_is_known_beforehand(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    attacker = target.connect("blind")
    asked = f"SELECT setseed(0.5), extra.noisy('{COUNT}')"
    answers = {row[1] for _ in range(3) for row in attacker.execute(asked).fetchall()}
    noise = attacker.execute("SELECT setseed(0.5), 1000 * ln(random() + 1e-9)").fetchall()[0][1]
    assert len(answers) == 1
    assert round(answers.pop() - noise) == 1000


def test_noise_does_not_follow_the_seed(gated: Target, blind: Connection) -> None:
    """At epsilon 0.02 two answers are equal with probability below 0.01: all six with below 1e-10."""
    answers = set()
    for _ in range(6):
        blind.execute("SELECT setseed(0.5)")
        answers.add(str(ask(blind, COUNT, "0.02", fresh=True)))
    assert len(answers) > 1


def test_the_choice_of_groups_does_not_follow_the_seed(gated: Target, blind: Connection) -> None:
    """Whoever is in several groups is counted in one, chosen by a secret: seven counts, all equal again and again."""
    answers = set()
    for _ in range(4):
        blind.execute("SELECT setseed(0.5)")
        answers.add(str(ask(blind, BY_DAY, "0.1", fresh=True)))
    assert len(answers) == 4


def test_a_question_cannot_set_the_seed(blind: Connection) -> None:
    assert_refused(blind, "setseed(0.5)")
