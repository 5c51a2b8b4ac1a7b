"""The epsilon of finite mechanisms, from first principles: ratios of probabilities that anybody can write down."""

from __future__ import annotations

import math
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import DiscreetError
from discreet.local.epsilon import mechanism_epsilon, rr_epsilon

Matrix = list[list[float]]


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-14, abs=1e-300)


def response(truth: float, choices: int = 2) -> Matrix:
    other = (1 - truth) / (choices - 1)
    return [[truth if output == given_ else other for output in range(choices)] for given_ in range(choices)]


def two_reports(first: Matrix, second: Matrix) -> Matrix:
    return [[a * b for a in ours for b in theirs] for ours, theirs in zip(first, second, strict=True)]


def afterwards(mechanism: Matrix, processing: Matrix) -> Matrix:
    columns = list(zip(*processing, strict=True))
    return [[sum(p * q for p, q in zip(row, column, strict=True)) for column in columns] for row in mechanism]


def test_a_fair_coin_that_decides_whether_to_tell_the_truth_is_worth_ln_3() -> None:
    # heads: the truth; tails: a second coin decides: 1/2 + 1/4 against 1/4
    assert mechanism_epsilon([[0.75, 0.25], [0.25, 0.75]]) == close(math.log(3))
    assert rr_epsilon(0.75, 2) == close(math.log(3))


@pytest.mark.parametrize("bias", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("second", [0.2, 0.5, 0.7])
def test_biased_coins(bias: float, second: float) -> None:
    # truth with probability bias, else yes with probability second
    yes, no = bias + (1 - bias) * second, (1 - bias) * second
    matrix = [[yes, 1 - yes], [no, 1 - no]]
    expected = max(math.log(yes / no), math.log((1 - no) / (1 - yes)))
    assert mechanism_epsilon(matrix) == pytest.approx(expected, rel=1e-12)


def test_three_inputs_to_two_outputs() -> None:
    # the worst pair of inputs decides, for the worse of the two outputs
    matrix = [[0.5, 0.5], [0.8, 0.2], [0.9, 0.1]]
    assert mechanism_epsilon(matrix) == close(math.log(5))
    assert mechanism_epsilon([matrix[0], matrix[1]]) == close(math.log(2.5))


@pytest.mark.parametrize("choices", [2, 3, 7, 100])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_response_among_many(choices: int, epsilon: float) -> None:
    truth = math.exp(epsilon) / (math.exp(epsilon) + choices - 1)
    assert mechanism_epsilon(response(truth, choices)) == pytest.approx(epsilon, rel=1e-9)
    assert rr_epsilon(truth, choices) == pytest.approx(epsilon, rel=1e-9)


def test_whoever_lies_more_often_than_not_tells_as_much() -> None:
    assert rr_epsilon(0.25, 2) == rr_epsilon(0.75, 2)
    assert rr_epsilon(0.2, 5) == 0
    assert mechanism_epsilon(response(0.1, 3)) == close(math.log(4.5))


def test_certain_answers_are_not_private_and_constant_ones_tell_nothing() -> None:
    assert rr_epsilon(1, 2) == rr_epsilon(0, 2) == rr_epsilon(1, 5) == math.inf
    assert mechanism_epsilon([[1, 0], [0.5, 0.5]]) == math.inf
    assert mechanism_epsilon([[0.3, 0.7, 0], [0.3, 0.7, 0]]) == 0
    assert mechanism_epsilon([[0.2, 0.8]]) == 0


def test_two_reports_about_the_same_truth_cost_both_epsilons() -> None:
    both = two_reports(response(0.75), response(0.9))
    assert mechanism_epsilon(both) == pytest.approx(math.log(3) + math.log(9), rel=1e-12)


shares = st.integers(1, 50)


def stochastic(inputs: int, outputs: int) -> st.SearchStrategy[Matrix]:
    row = st.lists(shares, min_size=outputs, max_size=outputs).map(lambda row: [each / sum(row) for each in row])
    return st.lists(row, min_size=inputs, max_size=inputs)


@given(stochastic(3, 4), stochastic(4, 3))
def test_nothing_that_is_done_afterwards_tells_more(mechanism: Matrix, processing: Matrix) -> None:
    assert mechanism_epsilon(afterwards(mechanism, processing)) <= mechanism_epsilon(mechanism) * (1 + 1e-9) + 1e-12


@given(stochastic(3, 4))
def test_the_bound_holds_for_every_set_of_outputs_and_is_met_by_one(mechanism: Matrix) -> None:
    events = list(chain.from_iterable(combinations(range(4), size) for size in (1, 2, 3)))
    seen = max(
        math.log(sum(one[output] for output in event) / sum(other[output] for output in event))
        for one in mechanism
        for other in mechanism
        for event in events
    )
    assert mechanism_epsilon(mechanism) == pytest.approx(seen, rel=1e-9, abs=1e-12)


@given(st.floats(1e-9, 1 - 1e-9), st.integers(2, 1000))
def test_rounding_is_up(p: float, n: int) -> None:
    from decimal import Decimal, localcontext

    with localcontext(prec=60):
        truth = Decimal(repr(p))
        exact = abs((truth * (n - 1) / (1 - truth)).ln())
        found = Decimal(rr_epsilon(p, n))
        assert exact <= found <= exact * (1 + Decimal("1e-15"))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([], "two dimensions"),
        ([0.5, 0.5], "two dimensions"),
        ([[]], "two dimensions"),
        ([[0.5, 0.4]], "row 1 of the matrix adds up to 0.9, not to 1"),
        ([[0.5, 0.5], [0.5, 0.5001]], "row 2"),
        ([[1.5, -0.5]], "from 0 to 1"),
        ([[float("nan"), 1.0]], "finite"),
        ([[float("inf"), 0.0]], "finite"),
        ([[None, 1.0]], "must not be NULL"),
    ],
)
def test_what_is_no_matrix_of_probabilities_is_refused(matrix: Matrix, message: str) -> None:
    with pytest.raises(DiscreetError, match=message):
        mechanism_epsilon(matrix)


@pytest.mark.parametrize(("p", "n"), [(-0.1, 2), (1.1, 2), (float("nan"), 2), (0.5, 1), (0.5, 0)])
def test_what_is_no_response_is_refused(p: float, n: int) -> None:
    with pytest.raises(DiscreetError):
        rr_epsilon(p, n)


def test_opendp_comes_to_the_same_epsilon() -> None:
    from opendp.measurements import make_randomized_response, make_randomized_response_bool
    from opendp.mod import enable_features

    enable_features("contrib")
    for truth in (0.55, 0.75, 0.99):
        assert make_randomized_response_bool(prob=truth).map(1) == pytest.approx(rr_epsilon(truth, 2), rel=1e-12)
        for choices in (3, 10):
            theirs = make_randomized_response({str(n) for n in range(choices)}, prob=truth).map(1)
            assert theirs == pytest.approx(rr_epsilon(truth, choices), rel=1e-12)
