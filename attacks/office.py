"""Where questions are attacked: the same people behind five doors, and one of them, whose salary is the secret.

plain      a function that answers any aggregate, exactly, and gives no rows
naive      the same with Laplace noise of scale 100 on every number, drawn afresh each time
noisy, audited, personal    the policies of discreet, each with what it allows in all: epsilon 1, or groups of 10

Before each try another salary is drawn, and nothing has been asked. The attacker knows everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from decimal import ROUND_DOWN, Decimal
from secrets import randbelow
from typing import Any

import psycopg
from dev.cluster import Cluster

from attacks.attack import Attack, Ending, until_refused

DOORS = ("plain", "naive", "noisy", "audited", "personal")
POLICIES = ("noisy", "audited", "personal")
PEOPLE, LEAST_GROUP = 200, 10
LOWEST, BITS = 20_000, 16
HIGHEST = LOWEST + 2**BITS - 1
NEAR = 50  # a guess within this many is a success; by chance one of 650 is

VICTIM = 7


def born(person: int) -> date:
    return date(1950, 1, 1) + timedelta(days=97 * person)


BY_KEY = f"p.id = {VICTIM}"
BY_BIRTHDAY = f"p.dob = date '{born(VICTIM)}'"

COLUMNS = """
    id int PRIMARY KEY, name text NOT NULL, dob date NOT NULL, gender text NOT NULL, dept text NOT NULL,
    floor int NOT NULL, room int NOT NULL, salary int NOT NULL, UNIQUE (floor, room)
"""
ROWS = f"""
    SELECT n, 'name ' || n, date '1950-01-01' + 97 * n, CASE WHEN n % 2 = 0 THEN 'F' ELSE 'M' END, 'dept ' || n % 5,
           n / 20, n % 20, {LOWEST} + n * 7919 % {2**BITS} FROM generate_series(1, {PEOPLE}) n
"""
ROLES = """
    CREATE ROLE lab_owner;
    CREATE ROLE mallory LOGIN IN ROLE discreet_analyst;
    CREATE ROLE eve LOGIN IN ROLE discreet_analyst;
    CREATE ROLE lab_low LOGIN;
    CREATE ROLE lab_high LOGIN;
"""
BUILD = f"""
    CREATE SCHEMA lab; GRANT USAGE ON SCHEMA lab TO PUBLIC;
    CREATE SCHEMA extra; GRANT ALL ON SCHEMA extra TO PUBLIC;
    CREATE TABLE lab.plain ({COLUMNS}); INSERT INTO lab.plain {ROWS};
    CREATE TABLE lab.noisy ({COLUMNS}); INSERT INTO lab.noisy {ROWS};
    CREATE TABLE lab.audited ({COLUMNS}); INSERT INTO lab.audited {ROWS};
    CREATE TABLE lab.seat (floor int, room int, chosen boolean);
    INSERT INTO lab.seat SELECT floor, room, id = {VICTIM} FROM lab.plain;
    GRANT SELECT ON lab.seat TO PUBLIC;
    SELECT discreet.protect('lab.seat', NULL, policy => 'public');
    GRANT SELECT ON lab.plain TO lab_owner;

    CREATE FUNCTION lab.ask(aggregate text, condition text, joined text) RETURNS float8
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
    DECLARE exact float8;
    BEGIN
        EXECUTE format('SELECT (%s)::float8 FROM lab.plain p %s WHERE %s', aggregate, joined, condition) INTO exact;
        RETURN exact;
    END $$;
    ALTER FUNCTION lab.ask OWNER TO lab_owner;
    CREATE FUNCTION lab.laplace(scale float8) RETURNS float8 LANGUAGE sql VOLATILE
    AS $$ SELECT scale * (ln(1 - random()) - ln(1 - random())) $$;
    CREATE FUNCTION lab.noisy_ask(aggregate text, condition text, joined text) RETURNS float8 LANGUAGE sql VOLATILE
    AS $$ SELECT lab.ask(aggregate, condition, joined) + lab.laplace(100) $$;
    CREATE FUNCTION lab.keys(key text, condition text) RETURNS TABLE (shown text, number float8)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
    BEGIN
        RETURN QUERY EXECUTE format('SELECT (%s)::text, count(*)::float8 FROM lab.plain p WHERE %s GROUP BY 1',
                                    key, condition);
    END $$;
    ALTER FUNCTION lab.keys OWNER TO lab_owner;

    SELECT discreet.protect('lab.noisy', 'id', epsilon => 1, delta => 0.000001);
    SELECT discreet.protect('lab.audited', 'id', policy => 'audited', min_group => {LEAST_GROUP});
    SELECT discreet.describe_column('lab.noisy', 'salary', {LOWEST}, {HIGHEST});
    SELECT discreet.describe_column('lab.noisy', c, 0, 1000) FROM unnest('{{floor,room}}'::name[]) c;
    SELECT discreet.describe_column('lab.audited', c, visibility => 'public')
    FROM unnest('{{id,name,dob,gender,dept,floor,room}}'::name[]) c;
    SELECT discreet.grant_budget('lab.noisy', r, 1, 0.000001), discreet.grant_budget('lab.audited', r, 1)
    FROM unnest('{{mallory,eve}}'::regrole[]) r;
"""
# budgets of people cannot be given anew: they get a table and a dataset of their own for every try
PERSONAL = f"""
    DROP TABLE IF EXISTS lab.personal;
    CREATE TABLE lab.personal ({COLUMNS}); INSERT INTO lab.personal {ROWS};
    SELECT discreet.create_dataset('people {{number}}', 1);
    SELECT discreet.protect('lab.personal', 'id', 'people {{number}}', policy => 'personal', unit_epsilon => 1);
    SELECT discreet.describe_column('lab.personal', 'salary', {LOWEST}, {HIGHEST});
    SELECT discreet.describe_column('lab.personal', c, 0, 1000) FROM unnest('{{{{floor,room}}}}'::name[]) c;
    SELECT discreet.grant_budget('people {{number}}', r, 100) FROM unnest('{{{{mallory,eve}}}}'::regrole[]) r;
"""
FORGET = {
    "noisy": """UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0;
                TRUNCATE discreet._charge, discreet._answer, discreet._refusal""",
    "audited": "SELECT discreet.audit_reset('lab.audited', 'another try')",
}

Session = psycopg.Connection[Any]


class Door:
    """What an attacker can ask in one setting, and the secret behind it."""

    def __init__(self, office: Office, setting: str, secret: int) -> None:
        self.office, self.setting, self.secret = office, setting, secret
        self.table = "lab.plain" if setting == "naive" else f"lab.{setting}"
        self.repeats = 400 if setting == "naive" else 1

    @property
    def session(self) -> Session:
        return self.office.session("mallory")

    def share(self, questions: int) -> None:
        """The budget is to be enough for that many questions."""
        price = (Decimal(1) / questions).quantize(Decimal("0.00001"), ROUND_DOWN)
        self.session.execute(f"SET discreet.epsilon = {price}")

    def statement(self, aggregate: str, where: str = "true", joined: str = "", repeats: int = 1) -> str:
        """The question as this setting wants it, in SQL."""
        if self.setting in POLICIES:
            return f"SELECT {aggregate} FROM {self.table} p {joined} WHERE {where}"
        function = "lab.ask" if self.setting == "plain" else "lab.noisy_ask"
        call = f"{function}($q${aggregate}$q$, $q${where}$q$, $q${joined}$q$)"
        return f"SELECT {call}" if repeats == 1 else f"SELECT avg({call}) FROM generate_series(1, {repeats})"

    def ask(self, aggregate: str, where: str = "true", joined: str = "", repeats: int | None = None) -> float | None:
        """One number; where noise is drawn anew for nothing, the mean of many. Refusals are thrown."""
        text = self.statement(aggregate, where, joined, min(repeats or self.repeats, self.repeats))
        row = self.session.execute(text.encode()).fetchone()
        return None if row is None or row[0] is None else float(row[0])

    def total(self, where: str, joined: str = "") -> float:
        return self.ask("sum(p.salary)", where, joined) or 0.0

    def combined(self, *terms: tuple[int, str]) -> float:
        """A sum of sums with their signs."""
        self.share(len(terms))
        return sum(sign * self.total(where) for sign, where in terms)


Guess = Callable[[Door, str], float]


class Office:
    """The people, their doors, and the sessions of attackers."""

    def __init__(self, cluster: Cluster, database: str) -> None:
        self.cluster, self.database = cluster, database
        self.admin: Session = self.connect("postgres")
        self.admin.execute(f"SET client_min_messages = warning; {BUILD}".encode())
        self.number = self.turn = 0
        self.sessions: dict[str, Session] = {}

    def connect(self, role: str) -> Session:
        session = psycopg.connect(self.cluster.dsn(self.database, role), autocommit=True)
        session.prepare_threshold = None
        return session

    def session(self, role: str) -> Session:
        """The session of a role, or a new one where an attack has broken it."""
        kept = self.sessions.get(role)
        if kept is None or kept.closed:
            kept = self.sessions[role] = self.connect(role)
        return kept

    def door(self, setting: str) -> Door:
        """Another secret, about which nothing has been asked."""
        for session in self.sessions.values():
            if not session.closed:
                session.rollback()
        secret = LOWEST + randbelow(2**BITS)
        if setting == "personal":
            self.number += 1
            self.admin.execute(PERSONAL.format(number=self.number).encode())
        door = Door(self, setting, secret)
        self.admin.execute(f"UPDATE {door.table} SET salary = {secret} WHERE id = {VICTIM}".encode())
        if setting in FORGET:
            self.admin.execute(FORGET[setting].encode())
        return door

    def close(self) -> None:
        for session in (self.admin, *self.sessions.values()):
            session.close()

    def attack(self, name: str, guess: Guess, most: int = 1000, **missing: str) -> Attack:
        """An attack on the salary: by the key and, where that is refused, by the birthday, which is unique."""

        def attempt(setting: str) -> Ending:
            door = self.door(setting)
            for who in (BY_KEY, BY_BIRTHDAY):
                with until_refused():
                    found = guess(door, who)
                    return Ending.LEARNED if abs(found - door.secret) <= NEAR else Ending.WRONG
            return Ending.REFUSED

        return Attack(name, attempt, missing, most)


def searched(at_least: Callable[[int], bool]) -> float:
    """The salary, by halving: `at_least` tells whether it is that much."""
    low, high = LOWEST, HIGHEST
    while low < high:
        middle = (low + high + 1) // 2
        if at_least(middle):
            low = middle
        else:
            high = middle - 1
    return float(low)
