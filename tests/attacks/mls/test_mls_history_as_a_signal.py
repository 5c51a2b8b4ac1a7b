"""A history that all labels share tells below what is written above: by its numbers, its chain, a wait for its end."""

from __future__ import annotations

from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection, Row

WRITES = [
    "INSERT INTO employee (name, salary) VALUES ('Hidden', 1)",
    "UPDATE employee SET perf = 'secret' WHERE name = 'Smith'",
    "DELETE FROM employee WHERE name = 'Hidden'",
]
CHAIN = "SELECT id, entries FROM discreet._history_link WHERE label = discreet._label_bits('U') ORDER BY id"
HISTORY = """
    SELECT role, label, act, version, borrowed FROM discreet.mls_history('employee', '{"name": "Smith"}')
    UNION ALL SELECT role, label, act, version, borrowed FROM discreet.mls_history('employee', '{"name": "Hidden"}')
"""


def test_one_chain_for_all_labels_tells(levels: Levels) -> None:
    """The log of denied writes has one: an auditor below notices that events are missing."""
    levels.admin.execute("GRANT discreet_auditor TO mls_low")
    try:
        low = levels.at("low")
        low.execute("INSERT INTO employee (name) VALUES ('Rossi')")
        for _ in range(2):
            assert refusal(levels.at("high"), "DELETE FROM employee WHERE name = 'Rossi'")[0] == "42501"
        assert refusal(low, "INSERT INTO employee (name, name_label) VALUES ('x', 'S')")[0] == "42501"
        seen = low.execute("SELECT id FROM discreet.mls_log ORDER BY id").fetchall()
        missing = len(levels.admin.execute("SELECT FROM discreet.mls_log").fetchall()) - len(seen)
        assert missing >= 2
        assert int(str(seen[-1][0])) > len(seen)
    finally:
        levels.admin.execute("REVOKE discreet_auditor FROM mls_low")


def test_chains_of_labels_tell_nothing_of_each_other(levels: Levels) -> None:
    def written(happens: bool) -> tuple[list[Row], list[object]]:
        levels.reset()
        low, high = levels.at("low"), levels.at("high")
        before = levels.admin.execute(CHAIN).fetchall()
        for number in range(3):
            if happens:
                for statement in WRITES:
                    high.execute(statement)
            low.execute("UPDATE employee SET perf = %s WHERE name = 'Smith'", [str(number)])
        after = levels.admin.execute(CHAIN).fetchall()
        assert [number for number, _ in after] == list(range(1, len(after) + 1))
        added = [entries for _, entries in after[len(before) :]]
        return [row[1:] for row in low.execute(HISTORY).fetchall()][-3:], added

    assert written(False) == written(True)


def test_a_commit_below_does_not_wait_for_a_writer_above(levels: Levels) -> None:
    low, high = levels.at("low"), levels.at("high")
    high.execute("BEGIN")
    for statement in WRITES:
        high.execute(statement)
    low.execute("SET lock_timeout = 1")
    low.execute("INSERT INTO employee (name) VALUES ('Rossi')")
    low.execute("UPDATE employee SET perf = 'Good'")
    high.execute("COMMIT")


def test_nobody_reads_or_forges_entries(levels: Levels, low: Connection) -> None:
    for statement in (
        "SELECT * FROM discreet._history",
        "SELECT * FROM discreet._history_link",
        "SELECT * FROM discreet._verify_history()",
        "DELETE FROM discreet._history",
        "SELECT discreet._history_place(ROW(1), ARRAY['name'])",
        "SELECT discreet.mls_keep_history('employee', false)",
        f"EXPLAIN (ANALYZE, BUFFERS) {HISTORY}",
        """EXPLAIN ANALYZE SELECT discreet.mls_uplevel('employee', '{"name": "Smith"}', 'perf', 'U')""",
    ):
        assert refusal(low, statement)[0] == "42501"
    low.execute("CREATE TEMPORARY TABLE mine (_label bigint, name text)")
    forged = (
        "CREATE TRIGGER forged AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION discreet._history_note('x', 'name')"
    )
    assert refusal(low, forged)[0] == "42501"
