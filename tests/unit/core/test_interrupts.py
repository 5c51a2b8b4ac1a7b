"""A cancel is noticed between two steps of Python, and never within PL/Python's own code."""

from __future__ import annotations

import pytest

from discreet.server.interrupts import Watch, function_begins, undisturbed


@pytest.fixture(autouse=True)
def cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancel is pending."""

    def check() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "check", staticmethod(check))


def under_way() -> int:
    return Watch.calls


def test_a_call_of_plpython_is_under_way_until_it_returns_and_then_the_cancel_is_noticed() -> None:
    seen: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        undisturbed(lambda: seen.append(under_way()))()
    assert seen == [1]
    assert under_way() == 0


def test_an_error_of_postgresql_comes_before_the_cancel() -> None:
    def fails() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        undisturbed(fails)()
    assert under_way() == 0


def test_a_function_within_a_statement_of_another_can_be_cancelled() -> None:
    seen: list[int] = []

    def statement() -> None:
        with function_begins():
            seen.append(under_way())
        seen.append(under_way())

    with pytest.raises(KeyboardInterrupt):
        undisturbed(statement)()
    assert seen == [0, 1]
