"""Decisions depend on public columns and history alone, are durable, and are taken one after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import psycopg
from tests.payroll import Payroll, connected


def questions() -> list[str]:
    random = Random(11)
    made = []
    for _ in range(15):
        low, zips = random.randint(20, 50), ", ".join(f"'zip {random.randint(0, 10)}'" for _ in range(4))
        made.append(f"SELECT sum(salary) FROM hr.employee WHERE age >= {low} OR zip IN ({zips})")
        made.append(f"SELECT gender, avg(bonus) FROM hr.employee WHERE age < {low + 9} GROUP BY gender")
    return made


def test_no_decision_depends_on_a_sensitive_value(payroll: Payroll) -> None:
    """Simulatable: every sensitive value is changed, and every decision stays."""
    endings = [payroll.ending(question) for question in questions()]
    payroll.again()
    payroll.admin.execute(
        "UPDATE hr.employee SET salary = 77, bonus = -bonus * 1000, weight = 'NaN', smoker = NOT smoker;"
        "SELECT discreet.audit_reset('hr.employee', 'other values')"
    )
    assert [payroll.ending(question) for question in questions()] == endings
    assert {"answer", "DP006"} <= set(endings)


def test_of_colliding_questions_at_once_one_is_answered(payroll: Payroll) -> None:
    """Pairs that tell a salary together, asked at the same moment by six sessions."""
    conditions = [f"gender = 'F' OR id = {2 * n + 1}" for n in range(6)]
    sessions = [connected(payroll, "ana" if n % 2 else "bob") for n in range(6)]

    def ask(number: int) -> bool:
        try:
            sessions[number].execute(f"SELECT sum(salary) FROM hr.employee WHERE {conditions[number]}")
        except psycopg.errors.Error as error:
            if error.sqlstate != "DP006":
                raise
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        answered = list(pool.map(ask, range(6)))
    assert sum(answered) == 1
    for session in sessions:
        session.close()


def test_a_cancelled_transaction_has_asked(payroll: Payroll) -> None:
    with connected(payroll) as session:
        session.autocommit = False
        session.execute("SAVEPOINT s")
        session.execute("SELECT sum(salary) FROM hr.employee WHERE gender = 'F'")
        session.execute("ROLLBACK TO s")
        session.rollback()
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE gender = 'F' OR id = 7") == "DP006"


def test_a_long_history_is_put_together_for_new_sessions(payroll: Payroll) -> None:
    for age in range(23, 58, 3):
        for column in ("salary", "bonus"):
            payroll.ending(f"SELECT sum({column}) FROM hr.employee WHERE age <= {age}")
    state = payroll.truth("SELECT * FROM discreet.audit_state('hr.employee')")
    assert payroll.truth("SELECT count(*) FROM discreet._audit_base WHERE relation = 'hr.employee'::regclass") == [(1,)]
    with payroll.database.connect() as late:
        assert late.execute("SELECT * FROM discreet.audit_state('hr.employee')").fetchall() == state
    with connected(payroll, "bob") as late:
        told = late.execute("SELECT discreet.explain('SELECT sum(salary) FROM hr.employee WHERE age <= 23 OR id = 25')")
        assert told.fetchone()[0]["answered"] is False  # type: ignore[index]


def test_rows_without_a_person_and_unknown_conditions_take_no_part(payroll: Payroll) -> None:
    payroll.admin.execute("UPDATE hr.employee SET age = NULL WHERE id <= 20")
    question = "SELECT count(*), sum(salary) FROM hr.employee WHERE NOT (age > 30)"
    assert payroll.ask(question) == payroll.truth(question)
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE NOT (age > 30) OR id = 3") == "DP006"


def test_stored_predicates_are_not_asked_again(payroll: Payroll) -> None:
    """Who was in a set is remembered: that the row is now elsewhere changes nothing about what was told."""
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE zip = 'zip 3'") == "answer"
    payroll.admin.execute("UPDATE hr.employee SET zip = 'zip 4' WHERE zip = 'zip 3'")
    assert payroll.ending("SELECT sum(salary) FROM hr.employee WHERE id % 11 = 3 AND id <> 14") == "DP006"


def test_explain_analyze_of_a_question_is_refused(payroll: Payroll) -> None:
    assert payroll.ending("EXPLAIN ANALYZE SELECT sum(salary) FROM hr.employee") != "answer"
