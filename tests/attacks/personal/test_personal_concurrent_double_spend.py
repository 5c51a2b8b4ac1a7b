"""Sixteen sessions ask at the same moment about the same people: nobody pays twice from the same epsilon."""

import threading

import psycopg
from tests.databases import Connection
from tests.village import Village

SESSIONS = 16
COUNT = "SELECT count(*) FROM crowd WHERE part < {}"


def test_nobody_is_overspent_and_answers_are_about_those_who_paid(village: Village) -> None:
    """Everybody can pay twice: of all answers, which are as good as exact, two are about each person."""
    rows = "SELECT n, n % 4 FROM generate_series(1, 3000) n"
    village.protect("crowd", "id int PRIMARY KEY, part int", rows, unit_epsilon=80)
    village.admin.execute("SELECT discreet.describe_column('crowd', 'part', 0, 4)")
    start, answers = threading.Barrier(SESSIONS), []

    def work(connection: Connection, part: int) -> None:
        start.wait(60)
        try:
            answers.append(village.ask(COUNT.format(part), 40, connection=connection)[0]["count"])
        except psycopg.Error as error:
            answers.append(error.sqlstate)

    threads = [threading.Thread(target=work, args=(village.connect(), 1 + n % 4), daemon=True) for n in range(SESSIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    counts = [answer for answer in answers if isinstance(answer, int)]
    # a session that did not reach the ledger in time has no answer
    assert set(answers) - set(counts) <= {"DP007", "DP000"}
    left = village.left("crowd")
    assert set(left.values()) <= {0, 40, 80}
    paid = sum((80 - amount) // 40 for amount in left.values())
    if len(counts) == SESSIONS:
        assert sum(counts) == paid == 2 * 3000
    assert sum(counts) <= paid <= 2 * 3000
