"""A statement that was prepared, and planned, at one label and is executed at another."""

from tests.attacks.mls.levels import Levels, refusal

READ = "PREPARE reading AS SELECT name, salary, tc FROM employee ORDER BY name"
ALL_OF_IT = [("Brown", 80000, "S"), ("Smith", 40000, "S")]


def test_a_prepared_statement_reads_at_the_label_of_each_execution(levels: Levels) -> None:
    session = levels.at("high")
    session.execute(f"SET plan_cache_mode = force_generic_plan; SET discreet.level = 'U'; {READ}")
    for _ in range(8):
        assert session.execute("EXECUTE reading").fetchall() == [("Smith", None, "U")]
    session.execute("SET discreet.level = 'C'")
    assert session.execute("EXECUTE reading").fetchall() == [("Brown", None, "C"), ("Smith", 40000, "C")]
    session.execute("SET discreet.level = 'S'")
    assert session.execute("EXECUTE reading").fetchall() == ALL_OF_IT
    assert refusal(session, "SET discreet.level = 'U'")[0] == "42501"


def test_a_prepared_write_writes_at_the_label_of_each_execution(levels: Levels) -> None:
    session = levels.at("high")
    session.execute("SET discreet.level = 'U'; PREPARE writing (text) AS INSERT INTO employee (name) VALUES ($1)")
    session.execute("EXECUTE writing ('one'); SET discreet.level = 'S'")
    session.execute("EXECUTE writing ('two')")
    labels = session.execute("SELECT name, name_label FROM employee WHERE name IN ('one', 'two') ORDER BY 1").fetchall()
    assert labels == [("one", "U"), ("two", "S")]
