"""COPY reads and writes whole tables, past conditions and defaults."""

import pytest
from tests.attacks.mls.levels import refusal
from tests.databases import Connection


@pytest.mark.parametrize("source", ["employee_mls", "employee"])
def test_no_table_can_be_copied_out(low: Connection, source: str) -> None:
    assert refusal(low, f"COPY {source} TO STDOUT")[0] in ("42501", "42809")


def test_what_is_copied_out_is_what_the_session_sees(low: Connection) -> None:
    with low.cursor().copy("COPY (SELECT name, name_label, salary, perf, tc FROM employee) TO STDOUT") as out:
        assert list(out.rows()) == [("Smith", "U", None, None, "U")]


def test_what_is_copied_in_has_the_label_of_the_session(low: Connection, middle: Connection) -> None:
    with middle.cursor().copy("COPY employee (name, salary) FROM STDIN") as lines:
        lines.write("Grey\t7\nWhite\t8\n")
    assert low.execute("SELECT name FROM employee").fetchall() == [("Smith",)]
    written = middle.execute("SELECT name, name_label, salary_label FROM employee WHERE salary IN (7, 8) ORDER BY 1")
    assert written.fetchall() == [("Grey", "C", "C"), ("White", "C", "C")]


@pytest.mark.parametrize("label", ["U", "S"])
def test_labels_cannot_be_copied_in(middle: Connection, label: str) -> None:
    with (
        pytest.raises(Exception, match="only trusted sessions give labels"),
        middle.cursor().copy("COPY employee (name, salary, salary_label) FROM STDIN") as lines,
    ):
        lines.write(f"Grey\t7\t{label}\n")
    assert middle.execute("SELECT count(*) FROM employee WHERE name = 'Grey'").fetchone() == (0,)


def test_a_copied_key_that_only_higher_rows_have_is_free(low: Connection) -> None:
    with low.cursor().copy("COPY employee (name) FROM STDIN") as lines:
        lines.write("Brown\n")
    assert low.execute("SELECT name_label FROM employee WHERE name = 'Brown'").fetchall() == [("U",)]
