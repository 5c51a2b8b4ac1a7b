"""Responses are drawn with the probabilities that are promised, and estimates are unbiased with the error they state.

Each check has a false-alarm probability of at most 1e-8, the whole file less than 1e-6.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator

import numpy as np
import pytest
from dev.cluster import Cluster
from tests.databases import Connection, created
from tests.statistical.dp.dp_evidence import proportion_bounds

FALSE_ALARM = 1e-8
DRAWS = 200_000


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[Connection]:
    with created(cluster, "coins", template) as database:
        yield database.connect()


def counts(server: Connection, expression: str, draws: int = DRAWS) -> dict[object, int]:
    """How often each outcome came."""
    rows = server.execute(
        f"SELECT outcome, count(*) FROM (SELECT {expression} AS outcome FROM generate_series(1, {draws})) drawn"
        " GROUP BY outcome"
    ).fetchall()
    return {outcome: int(str(count)) for outcome, count in rows}


def fits(found: dict[object, int], expected: dict[object, float]) -> bool:
    """Whether all the counts can come from these probabilities, but for FALSE_ALARM."""
    assert set(found) <= set(expected)
    assert sum(expected.values()) == pytest.approx(1)
    hits = np.array([found.get(outcome, 0) for outcome in expected])
    lower, upper = proportion_bounds(hits, int(hits.sum()), FALSE_ALARM)
    probabilities = np.array(list(expected.values()))
    return bool(((lower <= probabilities) & (probabilities <= upper)).all())


def truth(epsilon: float, choices: int = 2) -> float:
    return math.exp(epsilon) / (math.exp(epsilon) + choices - 1)


def kept_bits(shown: str, epsilon: float, true_bit: int) -> float:
    """The probability of a row of bits, if every one is tossed at half of epsilon."""
    kept = truth(epsilon / 2)
    return math.prod(kept if (bit == "1") == (place == true_bit) else 1 - kept for place, bit in enumerate(shown))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("value", [True, False])
def test_a_yes_or_no(server: Connection, epsilon: float, value: bool) -> None:
    found = counts(server, f"discreet.rr({value}, {epsilon})")
    assert fits(found, {value: truth(epsilon), not value: 1 - truth(epsilon)})


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_one_of_five_values(server: Connection, epsilon: float, place: int) -> None:
    found = counts(server, f"discreet.rr('{'abcde'[place]}', '{{a,b,c,d,e}}', {epsilon})")
    other = (1 - truth(epsilon, 5)) / 4
    assert fits(found, {letter: truth(epsilon, 5) if letter == "abcde"[place] else other for letter in "abcde"})


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_bits_are_tossed_one_by_one(server: Connection, epsilon: float) -> None:
    found = counts(server, f"discreet.rr_bits('b', '{{a,b,c,d}}', {epsilon})::text")
    patterns = [f"{number:04b}" for number in range(16)]
    assert fits(found, {pattern: kept_bits(pattern, epsilon, 1) for pattern in patterns})


def test_bits_in_all_words_of_a_long_row_are_tossed_alike(server: Connection) -> None:
    domain = "ARRAY(SELECT n::text FROM generate_series(1, 150) n)"
    for place in (0, 63, 64, 127, 149):
        found = counts(server, f"get_bit(discreet.rr_bits('64', {domain}, 2), {place})", 30_000)
        kept = truth(1.0)
        assert fits(found, {1: kept if place == 63 else 1 - kept, 0: 1 - kept if place == 63 else kept})


def sketch_cell(number: int, value: str, width: int) -> int:
    digest = hashlib.sha256(bytes([number // 16]) + value.encode()).digest()
    return int.from_bytes(digest[2 * (number % 16) :][:2], "big") & (width - 1)


def test_a_sketch_takes_each_hash_alike_and_tosses_each_bit(server: Connection) -> None:
    rows = server.execute("SELECT discreet.cms_encode('😀', 3, 4, 16) FROM generate_series(1, 50000)").fetchall()
    reports = [bytes(report) for (report,) in rows if isinstance(report, bytes)]
    assert len(reports) == 50_000
    numbers = [int.from_bytes(report[:2], "big") for report in reports]
    assert fits({number: numbers.count(number) for number in range(4)}, dict.fromkeys(range(4), 0.25))
    kept = truth(1.5)
    for number in range(4):
        bits = [int.from_bytes(report[2:], "little") for report in reports if report[1] == number]
        for cell in range(16):
            ones = sum(row >> cell & 1 for row in bits)
            expected = kept if cell == sketch_cell(number, "😀", 16) else 1 - kept
            assert fits({1: ones, 0: len(bits) - ones}, {1: expected, 0: 1 - expected})


def test_a_wrong_epsilon_is_noticed(server: Connection) -> None:
    assert not fits(counts(server, "discreet.rr(true, 1)"), {True: truth(1.1), False: 1 - truth(1.1)})


def test_opendp_draws_from_the_same_distribution() -> None:
    """The coins of the server are native; OpenDP's, at the same probability, are their yardstick."""
    from opendp.measurements import make_randomized_response, make_randomized_response_bool
    from opendp.mod import enable_features

    enable_features("contrib")
    coin = make_randomized_response_bool(prob=truth(1.0))
    assert coin.map(1) == pytest.approx(1.0, rel=1e-12)
    drawn = [coin(True) for _ in range(5_000)]
    assert fits({True: drawn.count(True), False: drawn.count(False)}, {True: truth(1.0), False: 1 - truth(1.0)})
    letters = make_randomized_response(set("abcde"), prob=truth(1.0, 5))
    drawn = [letters("c") for _ in range(5_000)]
    other = (1 - truth(1.0, 5)) / 4
    found = {letter: drawn.count(letter) for letter in "abcde"}
    assert fits(found, {letter: truth(1.0, 5) if letter == "c" else other for letter in "abcde"})  # type: ignore[arg-type]


def bound(people: int, gain: float) -> float:
    """How far an estimate, a mean of independent reports divided by gain, is off at most, by Hoeffding's inequality."""
    return math.sqrt(math.log(2 / FALSE_ALARM) / (2 * people)) / gain


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_the_share_of_yes_is_unbiased(server: Connection, epsilon: float) -> None:
    found = server.execute(
        f"SELECT discreet.rr_estimate(discreet.rr(n % 10 < 3, {epsilon}), {epsilon}) FROM generate_series(1, {DRAWS}) n"
    ).fetchall()[0][0]
    assert abs(float(str(found)) - 0.3) <= bound(DRAWS, 2 * truth(epsilon) - 1)


def shares(server: Connection, question: str) -> dict[str, tuple[float, float]]:
    found = server.execute(question).fetchall()[0][0]
    assert isinstance(found, dict)
    return {str(name): (each["share"], each["stderr"]) for name, each in found.items()}


# half of the people hold a, a third b, a sixth c, nobody d
LETTER = "CASE WHEN n % 6 < 3 THEN 'a' WHEN n % 6 < 5 THEN 'b' ELSE 'c' END"
HELD = {"a": 1 / 2, "b": 1 / 3, "c": 1 / 6, "d": 0.0}
PEOPLE = DRAWS - DRAWS % 6


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("mechanism", ["rr", "rr_bits"])
def test_shares_of_values_are_unbiased(server: Connection, mechanism: str, epsilon: float) -> None:
    found = shares(
        server,
        f"SELECT discreet.{mechanism}_frequencies(discreet.{mechanism}({LETTER}, '{{a,b,c,d}}', {epsilon}),"
        f" '{{a,b,c,d}}', {epsilon}) FROM generate_series(1, {PEOPLE}) n",
    )
    many = truth(epsilon, 4) - (1 - truth(epsilon, 4)) / 3
    gain = many if mechanism == "rr" else 2 * truth(epsilon / 2) - 1
    for letter, share in HELD.items():
        assert abs(found[letter][0] - share) <= bound(PEOPLE, gain)


def test_shares_of_words_are_unbiased_but_for_collisions(server: Connection) -> None:
    """With hashes known, the mean is the share plus what the words put into each other's cells by chance."""
    hashes, width, epsilon, people = 64, 64, 3.0, 60_000
    found = shares(
        server,
        f"SELECT discreet.cms_estimate(discreet.cms_encode({LETTER}, {epsilon}, {hashes}, {width}), '{{a,b,c,d}}',"
        f" {epsilon}) FROM generate_series(1, {people}) n",
    )
    gain = (2 * truth(epsilon / 2) - 1) * (1 - 1 / width)
    for letter, share in HELD.items():
        cells = {word: [sketch_cell(number, word, width) for number in range(hashes)] for word in HELD}
        met = {
            word: sum(mine == theirs for mine, theirs in zip(cells[letter], cells[word], strict=True)) / hashes
            for word in HELD
            if word != letter
        }
        expected = share + sum(HELD[word] * (part - 1 / width) / (1 - 1 / width) for word, part in met.items())
        assert abs(found[letter][0] - expected) <= bound(people, gain)


def test_standard_errors_cover_19_of_20_estimates(server: Connection) -> None:
    """People are drawn, too: each is a yes with a probability of 0.3, by a coin of the server."""
    held = math.log(0.7 / 0.3)
    rows = server.execute(
        f"""
        SELECT discreet.rr_estimate(discreet.rr(discreet.rr(false, {held}), 1), 1) AS share,
               discreet.rr_stderr(discreet.rr(discreet.rr(false, {held}), 1), 1) AS error
        FROM generate_series(1, 400000) n GROUP BY n % 2000
        """
    ).fetchall()
    # both columns draw for themselves: the errors of one stand for those of the other
    estimates = np.array([[float(str(share)), float(str(error))] for share, error in rows])
    covered = int((np.abs(estimates[:, 0] - 0.3) <= 1.96 * estimates[:, 1]).sum())
    _, upper = proportion_bounds(np.array([covered]), len(rows), FALSE_ALARM)
    assert upper[0] >= 0.95
    reported = 0.3 * truth(1) + 0.7 * (1 - truth(1))
    expected = math.sqrt(reported * (1 - reported) / 200) / (2 * truth(1) - 1)
    assert float(np.sqrt((estimates[:, 1] ** 2).mean())) == pytest.approx(expected, rel=0.02)
