"""explain_text(), and EXPLAIN of a question in plain SQL: one readable text, which costs nothing."""

from __future__ import annotations

from tests.database.gate.conftest import Asker

BY_DEPT = "SELECT dept, count(*) AS n, avg(salary) AS mean FROM hr.employee GROUP BY dept"


def text(asker: Asker, question: str, epsilon: str = "1") -> str:
    row = asker.connection.execute("SELECT discreet.explain_text(%s, %s::numeric)", [question, epsilon]).fetchone()
    assert row is not None
    return str(row[0])


def test_a_question_is_explained_in_sentences(asker: Asker) -> None:
    told = asker.explain(BY_DEPT, 1)
    errors = {column["column"]: column for column in told["outputs"]}
    assert text(asker, BY_DEPT).splitlines() == [
        "Price: epsilon 1 of dataset staff",
        "Measured:",
        "  number of rows in each group",
        "  number of values of salary in each group",
        "  sum, from the middle of the bounds of salary in each group",
        "Error with 95 %:",
        "  dept: exact",
        f"  n: ±{errors['n']['error_95']}",
        f"  mean: {errors['mean']['why']}",
        "Groups:",
        "  by dept: declared categories: every group is shown, also without people",
        "Not covered:",
        "  values of dept outside its categories left out",
        "  values of salary clamped to 0..200000 (NaN and infinity left out)",
        "Better:",
        "  twice the epsilon halves the error: SET discreet.epsilon, or epsilon => in discreet.query()",
    ]
    assert asker.charges() == []


def test_what_would_make_it_better_is_what_to_type(asker: Asker) -> None:
    lines = text(asker, "SELECT zip, count(*) FROM hr.employee GROUP BY zip").splitlines()
    assert (
        "  declare categories of zip, so that its groups need no threshold: "
        "SELECT discreet.describe_column('hr.employee', 'zip', categories => ARRAY[…]);" in lines
    )
    for rows in ("clinic.visit", "clinic.patient p JOIN clinic.visit v ON v.patient_id = p.id"):
        lines = text(asker, f"SELECT count(*) FROM {rows}").splitlines()
        assert (
            "  max_rows is 5: where people have more rows, a curator can count them by "
            "SELECT discreet.alter_protection('clinic.visit', max_rows => n); noise grows with it" in lines
        )


def test_a_refusal_is_explained_too(asker: Asker) -> None:
    lines = text(asker, "SELECT sum(zip) FROM hr.employee").splitlines()
    assert lines[0].startswith("Refused (DP001): ")


def test_what_is_stored_costs_nothing(asker: Asker) -> None:
    asker.json(BY_DEPT, 1)
    assert text(asker, BY_DEPT).startswith("Price: nothing, dataset staff: it was measured before\n")
    assert text(asker, "SELECT DISTINCT dept FROM hr.employee").startswith(
        "Price: nothing, dataset staff: the text of the question answers it\n"
    )


def test_explain_in_plain_sql_says_the_same(asker: Asker) -> None:
    asker.plain("SET discreet.epsilon = 1")
    rows = [str(line) for (line,) in asker.plain(f"EXPLAIN {BY_DEPT}")]
    assert rows[-len(text(asker, BY_DEPT).splitlines()) :] == text(asker, BY_DEPT).splitlines()
    ((plan,),) = asker.plain(f"EXPLAIN (FORMAT json) {BY_DEPT}")
    assert plan[1]["Question"] == text(asker, BY_DEPT)
    assert asker.charges() == []
    asker.plain("RESET discreet.epsilon")
