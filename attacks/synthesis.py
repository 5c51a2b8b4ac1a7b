"""Synthetic tables: what is written is attacked without the database, by an attacker who knows all other people.

Four people have a combination that is theirs alone, and each of them is in the table or not. A try succeeds when all
four are guessed.
"""

from __future__ import annotations

from secrets import randbelow

from attacks.attack import Attack, Ending, Family
from attacks.office import Office

SETTINGS = ("resampled", "Bayes net", "discreet")
PEOPLE, WRITTEN, SUSPECTS = 60, 1000, 4

BUILD = f"""
    CREATE SCHEMA synthesis; SET search_path = synthesis, public;
    CREATE TABLE person (id int PRIMARY KEY, town text NOT NULL, work text NOT NULL);
    INSERT INTO person SELECT n, 't' || n % 3, 'w' || n % 5 % 3 FROM generate_series(1, {PEOPLE}) n;
    SELECT discreet.create_dataset('synthesis', 1000);
    SELECT discreet.protect('synthesis.person', 'id', dataset => 'synthesis');
    SELECT discreet.describe_column('synthesis.person', 'town', categories => '{{t0,t1,t2,r1,r2,r3,r4}}');
    SELECT discreet.describe_column('synthesis.person', 'work', categories => '{{w0,w1,w2,r1,r2,r3,r4}}');
    SELECT discreet.grant_budget('synthesis', 'postgres', 1000);
"""
SOMEBODY = "(SELECT {} FROM person WHERE n > 0{} ORDER BY random() LIMIT 1)"
WRITE = {
    "resampled": f"""
        CREATE TABLE written AS SELECT (r).town, (r).work
        FROM (SELECT {SOMEBODY.format("person", "")} AS r FROM generate_series(1, {WRITTEN}) n) t
    """,
    "Bayes net": f"""
        CREATE TABLE written AS SELECT town, {SOMEBODY.format("work", " AND person.town = t.town")} AS work
        FROM (SELECT n, {SOMEBODY.format("town", "")} AS town FROM generate_series(1, {WRITTEN}) n) t
    """,
    "discreet": f"SELECT discreet.synthesize('synthesis.person', 'synthesis.written', 1, rows => {WRITTEN})",
}
# a row of a person who is there is expected so often
EXPECTED = WRITTEN / (PEOPLE + SUSPECTS)


class Publisher:
    """Writes synthetic tables, and looks at them as an attacker would."""

    def __init__(self, office: Office) -> None:
        self.admin = office.admin
        self.admin.execute(f"SET client_min_messages = warning; {BUILD}".encode())

    def membership(self, setting: str) -> Ending:
        there = [bool(randbelow(2)) for _ in range(SUSPECTS)]
        self.admin.execute(f"DELETE FROM person WHERE id > {PEOPLE}; DROP TABLE IF EXISTS written".encode())
        for number, present in enumerate(there, 1):
            if present:
                row = f"({PEOPLE + number}, 'r{number}', 'r{number}')"
                self.admin.execute(f"INSERT INTO person VALUES {row}".encode())
        self.admin.execute(WRITE[setting].encode())
        seen = dict(self.admin.execute("SELECT town, count(*) FROM written WHERE town = work GROUP BY town").fetchall())
        guessed = [int(str(seen.get(f"r{number}", 0))) > EXPECTED / 2 for number in range(1, SUSPECTS + 1)]
        return Ending.LEARNED if guessed == there else Ending.WRONG


def attacks(office: Office) -> Family:
    publisher = Publisher(office)
    name = "membership: is a person with a rare combination in the table that a synthetic one was made of?"
    return Family(
        "Synthetic tables",
        "Which of four people are there. By chance one try of 16 succeeds, under epsilon 1 at most 29 %.",
        SETTINGS,
        (Attack(name, publisher.membership),),
    )
