"""The model that multilevel tables are tested against: the tables of the specification, and noninterference itself."""

from __future__ import annotations

import pytest
from tests.database.mls.mls_histories import OBSERVERS, Act, Histories, retained
from tests.database.mls.mls_model import Multilevel, RefusedError, Shown, label

U, C, S = label("U"), label("C"), label("S")


@pytest.fixture
def staff() -> Multilevel:
    model = Multilevel()
    model.load(S, "Smith", U, {"salary": (40000, C), "perf": ("Fair", S)})
    model.load(S, "Brown", C, {"salary": (80000, S), "perf": ("Good", C)})
    return model


def rows(model: Multilevel, at: str) -> list[Shown]:
    return sorted((seen.shown for seen in model.rows(label(at))), key=repr, reverse=True)


def update(model: Multilevel, at: str, key: str, **cells: str | int | None) -> None:
    for seen in model.rows(label(at)):
        if seen.values["name"] == key:
            model.update(label(at), seen, dict(cells))


def test_each_label_sees_its_own_reality(staff: Multilevel) -> None:
    smith = ("Smith", "U", 40000, "C")
    assert rows(staff, "S") == [(*smith, "Fair", "S", "S"), ("Brown", "C", 80000, "S", "Good", "C", "S")]
    assert rows(staff, "C") == [(*smith, None, "C", "C"), ("Brown", "C", None, "C", "Good", "C", "C")]
    assert rows(staff, "U") == [("Smith", "U", None, "U", None, "U", "U")]


def test_updates_polyinstantiate(staff: Multilevel) -> None:
    update(staff, "C", "Smith", perf="Great")
    update(staff, "S", "Brown", perf="Bad")
    great = ("Smith", "U", 40000, "C", "Great", "C", "C")
    assert rows(staff, "C") == [great, ("Brown", "C", None, "C", "Good", "C", "C")]
    assert rows(staff, "S") == [
        great,
        ("Smith", "U", 40000, "C", "Fair", "S", "S"),
        ("Brown", "C", 80000, "S", "Good", "C", "S"),
        ("Brown", "C", 80000, "S", "Bad", "S", "S"),
    ]


def test_a_key_that_is_not_seen_is_free(staff: Multilevel) -> None:
    staff.insert(U, "Brown", {})
    with pytest.raises(RefusedError):
        staff.insert(C, "Brown", {})
    assert [row[:2] for row in rows(staff, "S")] == [("Smith", "U"), ("Brown", "U"), ("Brown", "C")]


def test_a_deleted_row_is_kept_for_those_who_borrow_from_it(staff: Multilevel) -> None:
    (smith,) = staff.rows(U)
    staff.delete(U, smith)
    assert rows(staff, "U") == []
    assert ("Smith", "U", 40000, "C", None, "C", "C") in rows(staff, "C")


def told(history: list[Act]) -> tuple[list[tuple[Act, object]], Multilevel]:
    model = Multilevel()
    return [(act, act.expected(model)) for act in history], model


def test_nothing_that_is_not_dominated_is_noticed_in_the_model() -> None:
    """Otherwise the meaning itself would leak, however well it were implemented."""
    for seed in range(30):
        history = Histories(seed).draw()
        full, state = told(history)
        for observer in OBSERVERS:
            noticed = [(act, answer) for act, answer in full if observer.dominates(act.subject)]
            purged, left = told(retained(history, observer))
            assert noticed == purged
            assert rows(state, str(observer)) == rows(left, str(observer))


def test_histories_do_what_they_are_for() -> None:
    """Refused, empty and many-rowed statements, several versions of an entity, tombstones: all occur often."""
    kinds = {"refused": 0, "none": 0, "some": 0, "versions": 0, "tombstones": 0, "incomparable": 0}
    for seed in range(50):
        answers, state = told(Histories(seed).draw())
        for _, several in answers:
            for answer in several:  # type: ignore[attr-defined]
                kinds["refused" if answer is None else "some" if answer[0] else "none"] += 1
        for entity in state.entities:
            live = entity.live(label("S:NATO,CRYPTO"))
            kinds["versions"] += len(live) > 1
            kinds["incomparable"] += any(not a.dominates(b) and not b.dominates(a) for a in live for b in live)
            kinds["tombstones"] += any(row.dead for row in entity.rows.values())
    assert min(kinds.values()) >= 15, kinds
