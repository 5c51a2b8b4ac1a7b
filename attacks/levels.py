"""Levels: a high session, or its mere presence, tells a low one something.

A message of eight bits is to pass from high to low. High does what the channel says where a bit is set, low looks, and
a try succeeds when all bits arrive; by chance one of 256 does. Settings: a view that shows low rows, row security, and
a multilevel table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from secrets import randbits

import psycopg

from attacks.attack import Attack, Ending, Family, until_refused
from attacks.office import Office, Session

SETTINGS = ("view", "row security", "multilevel")
BITS = 8

BUILD = """
    CREATE SCHEMA levels; GRANT USAGE ON SCHEMA levels TO PUBLIC;
    CREATE SCHEMA leaks; GRANT ALL ON SCHEMA leaks TO PUBLIC;
    SELECT discreet.mls_define(ARRAY['U', 'S']);
    SELECT discreet.mls_clear('lab_low', 'U'), discreet.mls_clear('lab_high', 'S');

    CREATE TABLE levels.behind (name text PRIMARY KEY, note text, label text DEFAULT 'U', id serial);
    CREATE VIEW levels.view AS SELECT * FROM levels.behind WHERE label = 'U' OR current_user = 'lab_high';
    CREATE TABLE levels.view_child (name text REFERENCES levels.behind);

    CREATE TABLE levels.secured (name text PRIMARY KEY, note text, label text DEFAULT 'U', id serial);
    ALTER TABLE levels.secured ENABLE ROW LEVEL SECURITY;
    CREATE POLICY labels ON levels.secured USING (label = 'U' OR current_user = 'lab_high');
    CREATE TABLE levels.secured_child (name text REFERENCES levels.secured);

    CREATE TABLE levels.multilevel (name text PRIMARY KEY, note text, id serial);
    CREATE TABLE levels.multilevel_child (number serial PRIMARY KEY, name text);
    GRANT ALL ON ALL TABLES IN SCHEMA levels TO lab_low, lab_high;
    GRANT ALL ON ALL SEQUENCES IN SCHEMA levels TO lab_low, lab_high;
    SELECT discreet.mls_table('levels.multilevel', ARRAY['name']),
           discreet.mls_table('levels.multilevel_child', ARRAY['number']);
    SELECT discreet.mls_reference('levels.multilevel_child', ARRAY['name'], 'levels.multilevel');

    CREATE FUNCTION leaks.tell(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0000001 AS
        $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;
"""
TABLES = {"view": "levels.view", "row security": "levels.secured", "multilevel": "levels.multilevel"}
CHILDREN = {name: f"{table}_child" for name, table in TABLES.items()}


@dataclass(frozen=True)
class Scene:
    """One bit under way: its own rows, named after it."""

    setting: str
    low: Session
    high: Session
    key: str

    @property
    def table(self) -> str:
        return TABLES[self.setting]

    def hide(self) -> None:
        """High writes a row that low does not see."""
        label = "" if self.setting == "multilevel" else ", label"
        value = "" if self.setting == "multilevel" else ", 'S'"
        self.high.execute(f"INSERT INTO {self.table} (name{label}) VALUES ('{self.key}'{value})".encode())

    def fails(self, statement: str, *codes: str) -> bool:
        """Whether low's statement ends with one of these SQLSTATEs, which carry the bit."""
        try:
            self.low.execute(statement.encode())
        except psycopg.Error as error:
            if error.sqlstate not in codes:
                raise
            return True
        return False


# by which low tells that high was there
DUPLICATE = ("23505", "55P03")
MISSING_PARENT = ("23503",)
WAITED = ("55P03",)
CONCURRENT = ("40001",)
# statements that multilevel tables, or views, do not know
NOT_SUPPORTED = ("0A000", "42809")

Act = Callable[[Scene], object]


def nothing(scene: Scene) -> None:
    pass


def insert(scene: Scene) -> None:
    scene.low.execute(f"INSERT INTO {scene.table} (name) VALUES ('{scene.key}')".encode())


def duplicate(scene: Scene) -> bool:
    return scene.fails(f"INSERT INTO {scene.table} (name) VALUES ('{scene.key}')", *DUPLICATE)


def referenced(scene: Scene) -> bool:
    return not scene.fails(f"INSERT INTO {CHILDREN[scene.setting]} (name) VALUES ('{scene.key}')", *MISSING_PARENT)


def conflicting(scene: Scene) -> bool:
    """Nothing is inserted, and no error: a conflict."""
    with until_refused(*NOT_SUPPORTED):
        done = scene.low.execute(
            f"INSERT INTO {scene.table} (name) VALUES ('{scene.key}') ON CONFLICT DO NOTHING".encode()
        )
        return done.rowcount == 0
    return False


def number(scene: Scene, name: str) -> int:
    row = scene.low.execute(
        f"INSERT INTO {scene.table} (name) VALUES ('{scene.key} {name}') RETURNING id".encode()
    ).fetchone()
    assert row is not None
    return int(row[0])


def counted(scene: Scene) -> bool:
    """Two rows later the number is two higher, unless another session has drawn one."""
    (before,) = scene.low.execute(f"SELECT id FROM {scene.table} WHERE name = '{scene.key} a'".encode()).fetchone() or (
        0,
    )
    return number(scene, "b") - before == 2


def leaked(scene: Scene) -> bool:
    seen: list[str | None] = []
    scene.low.add_notice_handler(lambda notice: seen.append(notice.message_primary))
    scene.low.execute(f"SELECT * FROM {scene.table} WHERE leaks.tell(name)".encode())
    return scene.key in seen


def lock(scene: Scene) -> None:
    scene.high.execute(f"BEGIN; SELECT * FROM {scene.table} WHERE name = '{scene.key}' FOR UPDATE".encode())


def waits(scene: Scene) -> bool:
    scene.low.execute("SET lock_timeout = '50ms'")
    return scene.fails(f"UPDATE {scene.table} SET note = 'x' WHERE name = '{scene.key}'", *WAITED)


def lock_table(scene: Scene) -> None:
    scene.high.execute(f"BEGIN; LOCK {scene.table} IN ACCESS EXCLUSIVE MODE".encode())


def hide_and_wait(scene: Scene) -> None:
    scene.high.execute("BEGIN")
    scene.hide()


def waits_for_key(scene: Scene) -> bool:
    scene.low.execute("SET lock_timeout = '50ms'")
    return duplicate(scene)


def truncate(scene: Scene) -> None:
    scene.high.execute(f"TRUNCATE {scene.table} CASCADE".encode())


def snapshot(scene: Scene) -> None:
    insert(scene)
    scene.low.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")


def update(scene: Scene) -> None:
    scene.high.execute(f"UPDATE {scene.table} SET note = 'high' WHERE name = '{scene.key}'".encode())


def serialization(scene: Scene) -> bool:
    return scene.fails(f"UPDATE {scene.table} SET note = 'low' WHERE name = '{scene.key}'", *CONCURRENT)


def delete(scene: Scene) -> None:
    scene.high.execute(f"DELETE FROM {scene.table} WHERE name = '{scene.key}'".encode())


def gone(scene: Scene) -> bool:
    return not scene.low.execute(f"SELECT 1 FROM {scene.table} WHERE name = '{scene.key}'".encode()).fetchall()


def attacks(office: Office) -> Family:
    office.admin.execute(f"SET client_min_messages = warning; {BUILD}".encode())

    def channel(name: str, before: Act, by_high: Act, by_low: Callable[[Scene], bool]) -> Attack:
        def passes(setting: str, key: str, bit: bool) -> bool:
            low, high = office.connect("lab_low"), office.connect("lab_high")
            try:
                scene = Scene(setting, low, high, key)
                before(scene)
                if bit:
                    # where high is refused, the bit is not sent
                    with until_refused(*NOT_SUPPORTED):
                        by_high(scene)
                return by_low(scene) == bit
            finally:
                low.close()
                high.close()

        def attempt(setting: str) -> Ending:
            office.turn += 1
            bits = (
                randbits(BITS) | 1 << BITS
            )  # one bit is set, so that a dead channel does not pass for a message of zeros
            arrived = [passes(setting, f"{office.turn}-{place}", bool(bits >> place & 1)) for place in range(BITS + 1)]
            return Ending.LEARNED if all(arrived) else Ending.WRONG

        return Attack(name, attempt)

    return Family(
        "Levels",
        f"A message of {BITS} bits, from a high session to a low one.",
        SETTINGS,
        (
            channel("FOR UPDATE on low rows by a high session", insert, lock, waits),
            channel("LOCK by a high session", insert, lock_table, waits),
            channel("row locks and deadlocks with higher rows", nothing, hide_and_wait, waits_for_key),
            channel("TRUNCATE", insert, truncate, gone),
            channel("serialization failures", snapshot, update, serialization),
            channel("tombstones", insert, delete, gone),
            channel("duplicate-key probing", nothing, Scene.hide, duplicate),
            channel("foreign-key probing", nothing, Scene.hide, referenced),
            channel("sequences", lambda scene: number(scene, "a"), Scene.hide, counted),
            channel("ON CONFLICT", nothing, Scene.hide, conflicting),
            channel("leaky functions and operators in predicates", nothing, Scene.hide, leaked),
        ),
    )  # fmt: skip
