"""Random subsets (Dinur and Nissim 2003): the sums of 500 random sets, solved by least squares, tell every value."""

from random import Random
from typing import Any

import numpy as np
from tests.payroll import LEAST, AuditedDoor, Door, Payroll, PlainDoor

# so few that 500 questions know them all many times over
MEMBERS, SETS = 40, 500


def solved(door: Door) -> tuple[Any, Any]:
    """The answered sets as rows of a matrix, and what least squares makes of the answers."""
    random, rows, sums = Random(5), [], []
    for _ in range(SETS):
        chosen = random.sample(range(1, MEMBERS + 1), MEMBERS // 2)
        total = door.total(f"id IN ({', '.join(map(str, chosen))})")
        if total is not None:
            rows.append([number in chosen for number in range(1, MEMBERS + 1)])
            sums.append(float(total))
    matrix = np.array(rows, dtype=float)
    return matrix, np.linalg.lstsq(matrix, np.array(sums), rcond=None)[0]


def right(payroll: Payroll, guesses: Any) -> int:
    salaries = [float(salary) for (salary,) in payroll.truth("SELECT salary FROM hr.employee ORDER BY id")]
    return sum(abs(guess - salary) < 1 for guess, salary in zip(guesses, salaries, strict=True))


def fewer_people(payroll: Payroll) -> None:
    payroll.admin.execute(f"DELETE FROM hr.employee WHERE id > {MEMBERS}")


def test_sums_without_an_audit_tell_every_salary(payroll: Payroll) -> None:
    fewer_people(payroll)
    _, guesses = solved(PlainDoor(payroll))
    assert right(payroll, guesses) == MEMBERS


def test_under_the_audit_no_salary_is_determined(payroll: Payroll) -> None:
    """Nor can values of fewer people than the least group be told apart from others that fit all answers."""
    fewer_people(payroll)
    matrix, guesses = solved(AuditedDoor(payroll))
    rank = np.linalg.matrix_rank(matrix)
    assert 2 <= rank <= MEMBERS - LEAST
    for person in range(MEMBERS):
        others = np.delete(matrix, person, axis=1)
        assert np.linalg.matrix_rank(others) == rank
    assert right(payroll, guesses) == 0
