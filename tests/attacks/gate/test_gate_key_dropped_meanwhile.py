"""The owner of a table drops its key and adds rows of one person, while a question waits for the table."""

import pytest
from tests.attacks.target import Target, in_thread
from tests.databases import Connection

QUESTION = "SELECT discreet.query_json('SELECT count(*) AS n FROM extra.once', 0.1, fresh => true)"
LOADS = {"plain": "COPY extra.once FROM STDIN", "frozen": "COPY extra.once FROM STDIN (FREEZE)"}


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
@pytest.mark.parametrize("load", LOADS)
def test_a_person_counts_once(target: Target, load: str, isolation: str) -> None:
    target.admin.execute(
        "CREATE TABLE extra.once (id int CONSTRAINT once_key PRIMARY KEY); INSERT INTO extra.once VALUES (1);"
        "SELECT discreet.protect('extra.once', 'id', dataset => 'people'), discreet.grant_budget('people', 'blind', 1)"
    )
    blind = target.connect("blind")
    blind.execute(f"BEGIN ISOLATION LEVEL {isolation}; SELECT FROM pg_class LIMIT 1")
    owner: Connection = target.database.connect(autocommit=False)
    owner.execute("ALTER TABLE extra.once DROP CONSTRAINT once_key")
    if load == "frozen":
        owner.execute("TRUNCATE extra.once")
    with owner.cursor().copy(LOADS[load]) as copy:
        copy.write("1\n" * 5000)
    answers: list[object] = []
    thread = in_thread(lambda: answers.extend(blind.execute(QUESTION).fetchall()))
    target.wait_for("EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'extra.once'::regclass)")
    owner.commit()
    thread.join(60)
    ((answer,),) = answers  # type: ignore[misc]
    # noise of scale 10: off by more than 1000 with less than 1e-40
    assert int(answer["n"]) < 1000  # type: ignore[has-type]
