"""The table of all messages: a question for each, and nothing that refuses without one."""

from __future__ import annotations

import pytest
from dev.cluster import ROOT
from dev.reference import refusals as refusals_page
from tests.corpus.messages import NOT_ASKED, Refusal, not_asked, places, refusals

from discreet.gate.hints import GENERAL
from discreet.gate.refusal import VERB

PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
ALL = list(refusals())


def test_every_place_that_refuses_has_a_question() -> None:
    left = not_asked()
    without = {written: found for written, found in left.items() if found[0].why_not_asked is None}
    assert not without
    # and what is said not to have one, has none
    assert {found[0].words for found in left.values()} >= set(NOT_ASKED)
    assert len({place.written for place in places()}) > 240


@pytest.mark.parametrize("refusal", ALL, ids=lambda refusal: refusal.question[:80])
def test_a_message_is_a_sentence_with_a_hint_that_says_what_to_do(refusal: Refusal) -> None:
    assert VERB.search(refusal.message)
    assert refusal.hint
    assert "docs/" not in refusal.hint
    assert not refusal.message.endswith(".")


def test_few_hints_say_only_that_it_cannot_be_asked() -> None:
    general = {refusal.message.partition(" (in: ")[0] for refusal in ALL if refusal.hint == GENERAL}
    assert len(general) <= 5, general


def test_the_reference_has_them_all() -> None:
    assert refusals_page() in PAGE
