"""The same question asked often, to average the noise away."""

from statistics import fmean

from tests.attacks.gate.asking import COUNT, FRESH, ask
from tests.attacks.target import PEOPLE, Target, ask_until_refused
from tests.databases import Connection


def test_averaging_finds_the_truth_behind_naive_noise(target: Target) -> None:
    """Laplace noise of scale 10: the mean of 20,000 is off by more than 1 with probability below 1e-11."""
    uniform = "SELECT 2 * random() - 1 AS u FROM generate_series(1, 20000)"
    noisy = f"SELECT (10 * sign(u) * -ln(1 - abs(u)))::float8 FROM ({uniform}) n"
    answers = [PEOPLE + noise for (noise,) in target.admin.execute(noisy).fetchall()]
    assert abs(fmean(answers) - PEOPLE) < 1


def test_the_same_question_has_one_answer(gated: Target, blind: Connection) -> None:
    with gated.costs("0.001"):
        answers = {str(ask(blind, COUNT)) for _ in range(50)}
    assert len(answers) == 1


def test_a_fresh_answer_is_paid_every_time(gated: Target, blind: Connection) -> None:
    assert ask_until_refused(blind, FRESH) == 10
    assert gated.spent() == 1
