"""The laboratory of `make attacks`: what succeeds on plain tables never does where discreet refuses or hides it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest
from attacks.__main__ import FAMILIES, PAGE, laboratory, office
from attacks.attack import REFUSALS, Attack, Ending, Family, Missing, Outcome
from attacks.office import POLICIES, Office
from dev.cluster import ROOT, Cluster

from attacks import page, reconstruction
from discreet.core.codes import CODES


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with laboratory() as running:
        yield running


@pytest.fixture
def people(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Office]:
    with office(cluster, re.sub(r"\W", "_", request.node.name.lower())[-50:]) as opened:
        yield opened


def learned(family: Family, setting: str) -> dict[str, int]:
    """Successes of one try of each attack."""
    outcomes = {attack.name: attack.measured(setting, 1) for attack in family.attacks}
    return {name: outcome.successes for name, outcome in outcomes.items() if isinstance(outcome, Outcome)}


def refused(family: Family, setting: str) -> set[str]:
    """Attacks that end without a guess."""
    outcomes = {attack.name: attack.measured(setting, 1) for attack in family.attacks}
    return {name for name, outcome in outcomes.items() if outcome == Outcome(1, 0, 1)}


def test_trackers_find_the_salary_on_a_plain_table_and_the_audit_denies_them(people: Office) -> None:
    family = FAMILIES["trackers"](people)
    names = {attack.name for attack in family.attacks}
    assert learned(family, "plain") == dict.fromkeys(names, 1)
    assert refused(family, "audited") == names
    by_key = {"columns that are unique only together", "linkage with a public list"}
    assert refused(family, "noisy") == by_key


def test_code_carries_the_salary_out_of_a_plain_table_and_is_refused_by_every_policy(people: Office) -> None:
    family = FAMILIES["code"](people)
    names = {attack.name for attack in family.attacks}
    assert learned(family, "plain") == dict.fromkeys(names, 1)
    for policy in POLICIES:
        assert refused(family, policy) == names


def test_naive_budgets_are_cheated_and_those_of_discreet_are_not(people: Office) -> None:
    family = FAMILIES["budget"](people)
    for attack in family.attacks:
        if attack.name in ("answer seen, then ROLLBACK", "plpgsql EXCEPTION", "several colluding roles"):
            assert attack.measured("naive", 1) == Outcome(1, 1)
            assert attack.measured("noisy", 1) == attack.measured("audited", 1) == Outcome(1, 0, 1)
            assert attack.measured("personal", 1) == Outcome(1, 0)


def test_messages_pass_row_security_and_not_a_multilevel_table(people: Office) -> None:
    family = FAMILIES["levels"](people)
    leak = {"leaky functions and operators in predicates": 0}  # against which row security helps
    assert learned(family, "row security") == dict.fromkeys([attack.name for attack in family.attacks], 1) | leak
    assert set(learned(family, "multilevel").values()) == {0}


def test_exact_counts_tell_every_bit_both_ways(people: Office) -> None:
    """A guess at random finds 38 of 40 bits with probability below 1e-9."""
    (line,) = reconstruction.measured(people, people=40, noises=(0,), budgets=())
    assert line.exhaustive.right == line.exhaustive.people
    assert line.random.right >= 38


def test_a_fit_finds_what_was_counted() -> None:
    _, sets = reconstruction.all_subsets(5)
    bits = np.array([True, False, False, True, True])
    assert (reconstruction.best_fit(sets, sets @ bits.astype(int)) == bits).all()
    assert (reconstruction.least_squares(sets, sets @ bits.astype(int)) == bits).all()


def test_refusals_are_those_of_discreet_before_it_reads_and_lack_of_a_right() -> None:
    assert set(CODES) - {"DP000", "DP007"} | {"42501"} == REFUSALS


@pytest.mark.parametrize("sqlstate", ["42601", "42883", "XX000", "57P01", "DP000", "DP007"])
def test_an_error_that_is_no_refusal_ends_the_laboratory(people: Office, sqlstate: str) -> None:
    """A misspelt attack, or a server that broke, would else count as refused."""
    session = people.session("mallory")

    def guess(door: object, who: str) -> float:
        session.execute(f"DO $$BEGIN RAISE SQLSTATE '{sqlstate}'; END$$".encode())
        return 0.0

    for attack in (people.attack("one", guess), Attack("two", lambda setting: Ending(guess(None, setting)))):
        with pytest.raises(psycopg.Error):
            attack.measured("plain", 1)


def test_a_refusal_ends_a_try_and_what_is_missing_says_why() -> None:
    def attempt(setting: str) -> Ending:
        if setting == "shut":
            raise psycopg.errors.InsufficientPrivilege
        return Ending.LEARNED if setting == "open" else Ending.WRONG

    attack = Attack("one", attempt, {"absent": "there is none"}, most=3)
    family = Family("Some", "About.", ("open", "shut", "wrong", "absent"), (attack,))
    cells = {"one": {setting: attack.measured(setting, 5) for setting in family.settings}}
    assert cells["one"]["open"] == Outcome(3, 3)
    assert cells["one"]["absent"] == Missing("there is none")
    written = page.section(family, cells)
    assert "| one    | 100 % of 3 | 0 % of 3, refused | 0 % of 3 | -      |" in written
    assert "\\- absent: there is none." in written


def test_every_attack_of_the_page_is_in_the_threat_model() -> None:
    threats = {row["attack"] for row in page.ROW.finditer((ROOT / "docs" / "threats.md").read_text())}
    shown = PAGE.read_text()
    rows = [line.split("|")[1].strip() for line in shown.splitlines() if line.startswith("| ") and " % of " in line]
    assert len(rows) > 70
    assert set(rows) <= threats
