"""The same question asked often, to average the noise away."""

from contextlib import suppress
from statistics import fmean

import psycopg
import pytest
from tests.attacks.gate.asking import COUNT, FRESH, ask
from tests.attacks.target import PEOPLE, Target, ask_until_refused
from tests.databases import Connection


def test_averaging_finds_the_truth_behind_naive_noise(target: Target) -> None:
    """Laplace noise of scale 10: the mean of 20,000 is off by more than 1 with probability below 1e-11."""
    uniform = "SELECT 2 * random() - 1 AS u FROM generate_series(1, 20000)"
    noisy = f"SELECT (10 * sign(u) * -ln(1 - abs(u)))::float8 FROM ({uniform}) n"
    answers = [PEOPLE + noise for (noise,) in target.admin.execute(noisy).fetchall()]  # type: ignore[operator]
    assert abs(fmean(answers) - PEOPLE) < 1


def test_the_same_question_has_one_answer(gated: Target, blind: Connection) -> None:
    with gated.costs("0.001"):
        answers = {str(ask(blind, COUNT)) for _ in range(50)}
    assert len(answers) == 1


@pytest.mark.parametrize(
    "way", ["SELECT count( * ) from hr.person", "(SELECT COUNT(*) AS count FROM ONLY hr.person p)"]
)
def test_other_words_are_the_same_question_or_are_paid(gated: Target, blind: Connection, way: str) -> None:
    with gated.costs("0.001"):
        first = ask(blind, COUNT)
    before = gated.spent()
    assert ask(blind, way) == first or gated.spent() != before


@pytest.mark.parametrize("where", ["salary + 0 >= 0", "NOT salary < 0", "smoker OR NOT smoker", "dept = dept"])
def test_padding_that_is_always_true_is_paid(gated: Target, blind: Connection, where: str) -> None:
    ask(blind, COUNT)
    with gated.costs("0.001"):
        ask(blind, f"{COUNT} WHERE {where}")


@pytest.mark.parametrize(
    "loop",
    [
        f"SELECT ({FRESH}) FROM generate_series(1, 100)",
        f"WITH a AS ({FRESH}) SELECT FROM a x, a y, generate_series(1, 100) n WHERE n < ({FRESH}->>'count')::int",
        f"SELECT q FROM generate_series(1, 100) n, LATERAL ({FRESH.replace('0.1', '0.1 + n * 0')}) q",
        f"DO $$BEGIN FOR n IN 1..100 LOOP PERFORM ({FRESH}); END LOOP; END$$",
    ],
)
def test_one_call_site_run_often_is_paid_every_time_or_gives_one_answer(
    gated: Target, blind: Connection, loop: str
) -> None:
    seen = []
    with suppress(psycopg.Error):
        seen = blind.execute(loop).fetchall()
    charges = gated.charges()
    assert isinstance(charges, int)
    assert len(set(map(str, seen))) <= charges <= 10


def test_a_prepared_statement_in_a_loop_is_paid_every_time(gated: Target, blind: Connection) -> None:
    blind.execute(f"PREPARE often AS {FRESH}")
    assert ask_until_refused(blind, "EXECUTE often") == 10
    assert gated.spent() == 1
