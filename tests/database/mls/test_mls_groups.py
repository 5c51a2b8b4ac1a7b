"""Groups of labels on the database: what C and views make of them is what the rules say."""

from __future__ import annotations

from itertools import product

import pytest
from tests.database.mls.mls_histories import Histories
from tests.database.mls.mls_model import GROUPS, LEVELS, Label, label
from tests.database.mls.mls_playing import Stage, as_expected
from tests.database.mls.subjects import Subjects, refused
from tests.database.mls.test_mls_noninterference import deviation, interference

TREE = '{"EU": {"FR": {}}, "US": {}}'
SESSIONS = ["", "EU", "FR", "US", "-"]
NAMED = ["", "EU", "FR", "US", "EU,US", "FR,US", "-"]
OBSERVERS = [label(f"{level}::{group}" if group else level) for level in LEVELS for group in SESSIONS]
SUBJECTS = [label(text) for text in ("U", "C", "S", "C::EU", "C::FR", "S::US", "S::EU", "S::-", "S:NATO:EU")]
HISTORIES, MORE_HISTORIES = 25, 500
OFFICERS_HISTORIES, MORE_OFFICERS_HISTORIES = 10, 300


def written(group: str, level: str = "S", inside: str = "") -> str:
    return f"{level}:{inside}:{group}" if group else level


@pytest.fixture
def grouped(subjects: Subjects) -> Subjects:
    subjects.admin.execute(
        "SELECT discreet.mls_define(ARRAY['U', 'C', 'S'], ARRAY['NATO', 'CRYPTO'], %s::jsonb)", [TREE]
    )
    return subjects


def test_bitsets_of_the_database_are_those_of_the_rules(grouped: Subjects) -> None:
    """Dominance, upper bounds and texts, of every pair of labels."""
    labels = [
        label(written(group, level, inside))
        for level, inside, group in product(("U", "S"), ("", "NATO"), NAMED)
        if group or not inside
    ]
    assert list(GROUPS) == ["EU", "FR", "US"]
    rows = grouped.admin.execute(
        """
        SELECT a, b, discreet._label(discreet._label_bits(a)),
               (discreet._label_bits(b) & ~discreet._label_bits(a)) = 0,
               discreet._label(discreet._label_bits(a) | discreet._label_bits(b))
        FROM unnest(%s::text[]) a, unnest(%s::text[]) b
        """,
        [list(map(str, labels)), list(map(str, labels))],
    ).fetchall()
    assert len(rows) == len(labels) ** 2
    for one, other, text, dominates, bound in rows:
        high, low = label(str(one)), label(str(other))
        assert text == str(high)
        assert dominates == high.dominates(low)
        both = Label(
            max(high.level, low.level), high.compartments | low.compartments, high.readers & low.readers
        )  # fmt: skip
        assert bound == str(both)


def test_any_one_group_of_a_label_suffices_to_read(grouped: Subjects) -> None:
    grouped.make_table("CREATE TABLE memo (id int PRIMARY KEY, body text)", "memo", ["id"])
    officer = grouped.trusted("S::-")
    for number, group in enumerate(NAMED):
        officer.execute(
            "INSERT INTO memo (id, id_label, body, body_label) VALUES (%s, 'U', 'x', %s)", [number, written(group)]
        )
    readable = {
        group: {row[0] for row in grouped.seen(written(group), "memo", "id, body") if row[1] is not None}
        for group in SESSIONS
    }
    assert readable == {
        "": {0},
        "EU": {0, 1, 2, 4, 5},
        "FR": {0, 2, 5},
        "US": {0, 3, 4, 5},
        "-": set(range(len(NAMED))),
    }
    assert (1, "S::EU") in grouped.seen("S::EU", "memo", "id, tc")


def test_what_is_written_has_the_group_of_the_session(grouped: Subjects) -> None:
    grouped.make_table("CREATE TABLE memo (id int PRIMARY KEY, body text)", "memo", ["id"])
    grouped.at("C::FR").execute("INSERT INTO memo (id, body) VALUES (1, 'x')")
    row = (1, "C::FR", "x", "C::FR", "C::FR")
    assert [grouped.seen(at, "memo") for at in ("C", "C::FR", "S::EU", "S::US")] == [[], [row], [row], []]
    grouped.at("S::EU").execute("UPDATE memo SET body = 'y'")
    assert grouped.seen("S::EU", "memo", "body, tc") == [("x", "C::FR"), ("y", "S::EU")]
    assert grouped.seen("C::FR", "memo", "body, tc") == [("x", "C::FR")]


def test_a_session_has_one_group(grouped: Subjects) -> None:
    role = grouped.role("S::EU")
    for text in ("S::EU,US", "U:NATO:FR,US"):
        error = refused(grouped.admin, "SELECT discreet.mls_clear(%s::regrole, %s)", role, text)
        assert "names several groups, and a session has one" in str(error)
    session = grouped.at("S::EU")
    assert "names several groups" in str(refused(session, "SET discreet.level = 'C::EU,US'"))
    for text in ("S::US", "S::-", "S"):
        change = f"SET discreet.level = '{text}'"
        if text == "S":
            session.execute(change)
        else:
            assert "is not below the clearance" in str(refused(session, change))
    session.execute("SET discreet.level = 'C::FR'")
    grouped.admin.execute("SELECT discreet.mls_clear(%s::regrole, 'S::EU', write_from => 'C::FR')", [role])
    shown = "SELECT label, write_from FROM discreet.clearances WHERE role = %s::regrole"
    assert grouped.admin.execute(shown, [role]).fetchall() == [("S::EU", "C::FR")]


def test_groups_in_use_stay_and_can_be_added_to_labels_without(subjects: Subjects) -> None:
    admin = subjects.admin
    subjects.role("S:NATO")
    define = "SELECT discreet.mls_define(ARRAY['U', 'C', 'S'], ARRAY['NATO', 'CRYPTO'], %s::jsonb)"
    admin.execute(define, [TREE])
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'C', 'S', 'TS'], ARRAY['NATO', 'CRYPTO', 'X'])")
    assert admin.execute("SELECT discreet._label(discreet._label_bits('TS:X:EU'))").fetchall() == [("TS:X:EU",)]
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'C', 'S', 'TS'], ARRAY['NATO', 'CRYPTO', 'X'], %s)", [TREE])
    for tree in ('{"EU": {"FR": {}}}', '{"EU": {"FR": {}}, "US": {}, "JP": {}}', "{}"):
        error = refused(admin, define.replace("'S']", "'S', 'TS']").replace("O']", "O', 'X']"), tree)
        assert "would change their meaning" in str(error)
    logged = "SELECT details -> 'groups' FROM discreet.mls_log WHERE act = 'mls_define' ORDER BY id DESC LIMIT 1"
    assert admin.execute(logged).fetchall() == [([["EU", None], ["FR", 0], ["US", None]],)]


@pytest.mark.parametrize(
    ("groups", "error"),
    [
        ("7", "not given as a tree"),
        ('{"EU": 1}', "not given as a tree"),
        ('["EU", "EU"]', "named twice"),
        ('{"EU": {"EU": {}}}', "named twice"),
        ('["-"]', "is no name for a group"),
        ('["a,b"]', "is no name for a group"),
        (str([f"g{n}" for n in range(45)]).replace("'", '"'), "2 compartments and 45 groups do not fit"),
        (str([f"g{n}" for n in range(500)]).replace("'", '"'), "too many"),
        ("[" * 100 + "]" * 100, "not a name"),
    ],
)
def test_trees_that_cannot_be_are_refused(subjects: Subjects, groups: str, error: str) -> None:
    define = "SELECT discreet.mls_define(ARRAY['U', 'C', 'S'], ARRAY['NATO', 'CRYPTO'], %s::jsonb)"
    assert error in str(refused(subjects.admin, define, groups))


def test_no_subject_notices_what_it_does_not_dominate(grouped: Subjects, more: bool) -> None:
    """Random histories at labels with groups, against the model and without higher acts."""
    stage = Stage(grouped, observers=OBSERVERS, actors=SUBJECTS)
    for seed in range(MORE_HISTORIES if more else HISTORIES):
        whole, left = stage.runs(Histories(seed, subjects=SUBJECTS).draw())
        assert deviation(whole, OBSERVERS) is None, f"seed {seed}"
        assert interference(whole, left, OBSERVERS) is None, f"seed {seed}"


def test_trusted_acts_are_what_the_model_says(grouped: Subjects, more: bool) -> None:
    officer = label("S::EU")
    above = [observer for observer in OBSERVERS if observer.dominates(officer)]
    stage = Stage(grouped, downgraders=(officer,), observers=OBSERVERS, actors=SUBJECTS)
    done = 0
    for seed in range(MORE_OFFICERS_HISTORIES if more else OFFICERS_HISTORIES):
        whole, left = stage.runs(Histories(seed, officer, relabels=True, subjects=SUBJECTS).draw())
        done += sum(act.trusted and as_expected(told[0]) is not None for act, told in whole.answers)
        assert deviation(whole, OBSERVERS) is None, f"seed {seed}"
        assert interference(whole, left, above) is None, f"seed {seed}"
    assert done > OFFICERS_HISTORIES


def test_labels_of_other_systems(grouped: Subjects) -> None:
    """Read and written by every role; a table moves by a column of texts."""
    session = grouped.at("U")
    query = "SELECT discreet.mls_import(%s, %s), discreet.mls_export(discreet.mls_import(%s, %s), %s)"
    for text, form, other, label_text, back in (
        ("S&NATO&(EU|US)", "accumulo", "oracle", "S:NATO:EU,US", "S:NATO:EU,US"),
        ("C::FR", "oracle", "accumulo", "C::FR", "C&FR"),
        ("", "accumulo", "oracle", "U", "U"),
    ):
        assert session.execute(query, [text, form, text, form, other]).fetchall() == [(label_text, back)]
    assert session.execute("SELECT discreet.mls_import(NULL, 'oracle')").fetchall() == [(None,)]
    error = refused(session, "SELECT discreet.mls_import('NATO|CRYPTO', 'accumulo')")
    assert "cannot be expressed as a label" in str(error)
    admin = grouped.admin
    admin.execute("CREATE TABLE moved (id int PRIMARY KEY, body text, visibility text)")
    admin.execute("INSERT INTO moved VALUES (1, 'a', 'S&(EU|US)'), (2, 'b', ''), (3, 'c', 'C&FR')")
    admin.execute("UPDATE moved SET visibility = discreet.mls_import(visibility, 'accumulo')")
    admin.execute("""SELECT discreet.mls_table('moved', ARRAY['id'], labels => '{"*": "U", "body": "(visibility)"}')""")
    grouped.grant("moved", grouped.role("S::EU"))
    assert grouped.seen("S::EU", "moved", "id, body_label") == [(1, "S::EU,US"), (2, "U"), (3, "C::FR")]
    assert admin.execute("SELECT discreet.mls_clear(%s::regrole, NULL)", [grouped.role("S::EU")])
