"""rr_column: what is written is never stored, and a person's response is drawn once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.database.ops.test_dump_and_restore import Move, each_way
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

PEOPLE = 2000


@pytest.fixture
def poll(carol: Connection) -> Connection:
    """Table hr.poll, in which everybody's answers are randomised; the truth of all is yes, and dept a."""
    carol.execute(
        """
        CREATE TABLE hr.poll (id int PRIMARY KEY, smoker boolean, dept text, mood hr.mood, free text);
        SELECT discreet.rr_column('hr.poll', 'smoker', 0.5);
        SELECT discreet.rr_column('hr.poll', 'dept', 0.5, '{a,b,"c, d"}');
        SELECT discreet.rr_column('hr.poll', 'mood', 0.5);
        """
    )
    return carol


INSERT = "INSERT INTO hr.poll SELECT n, true, 'a', 'glad' FROM generate_series(1, %s) n"
RESPONSES = "SELECT id, smoker, dept, mood FROM hr.poll ORDER BY id"


def test_responses_are_random_and_of_the_domain(poll: Connection) -> None:
    poll.execute(INSERT, [PEOPLE])
    seen = poll.execute("SELECT smoker, dept, mood, count(*) FROM hr.poll GROUP BY 1, 2, 3").fetchall()
    # at this epsilon the rarest has a probability of 0.03: one is missing with less than 1e-25
    assert len(seen) == 2 * 3 * 2


@pytest.mark.parametrize(
    "again",
    [
        "DELETE FROM hr.poll; " + INSERT.replace("%s", str(PEOPLE)),
        "TRUNCATE hr.poll; " + INSERT.replace("%s", str(PEOPLE)),
        "UPDATE hr.poll SET smoker = true, dept = 'a', mood = 'glad'",
        "UPDATE hr.poll SET smoker = false, dept = 'b', mood = 'sad'",
        "UPDATE hr.poll SET free = 'x'",
        INSERT.replace("%s", str(PEOPLE)) + " ON CONFLICT (id) DO UPDATE"
        " SET smoker = excluded.smoker, dept = excluded.dept, mood = excluded.mood",
        "ALTER TABLE hr.poll RENAME smoker TO x; ALTER TABLE hr.poll RENAME id TO y; UPDATE hr.poll SET x = true;"
        " ALTER TABLE hr.poll RENAME x TO smoker; ALTER TABLE hr.poll RENAME y TO id",
    ],
)
def test_a_person_keeps_the_first_response(poll: Connection, again: str) -> None:
    poll.execute(INSERT, [PEOPLE])
    first = poll.execute(RESPONSES).fetchall()
    poll.execute(again)
    assert poll.execute(RESPONSES).fetchall() == first


def test_many_rows_of_a_person_have_one_response(carol: Connection) -> None:
    carol.execute(
        """
        CREATE TABLE hr.visit (person text, ill boolean);
        SELECT discreet.rr_column('hr.visit', 'ill', 1, unit => 'person');
        INSERT INTO hr.visit SELECT 'p' || n % 100, true FROM generate_series(1, 2000) n;
        """
    )
    shown = carol.execute(
        "SELECT person, count(DISTINCT ill) FROM hr.visit GROUP BY person HAVING count(DISTINCT ill) > 1"
    )
    assert shown.fetchall() == []
    # all 100 alike: with less than 0.74 to the power of 100
    assert len(carol.execute("SELECT DISTINCT ill FROM hr.visit").fetchall()) == 2


def test_nothing_in_the_database_tells_the_truth_of_one_who_lied(poll: Connection, admin: Connection) -> None:
    """Two truths that happen to get the same response leave the same rows behind, hash of the person included."""
    poll.execute("INSERT INTO hr.poll SELECT n, n % 2 = 0, 'a', 'glad' FROM generate_series(1, 200) n")
    kept = admin.execute(
        "SELECT DISTINCT r.response, p.smoker FROM discreet._response r"
        " JOIN discreet._response_column c ON c.id = r.id AND c.domain = '{f,t}'"
        " JOIN hr.poll p ON sha256(c.salt || convert_to(p.id::text, 'UTF8')) = r.person ORDER BY 1"
    ).fetchall()
    assert kept == [(0, False), (1, True)]
    columns = admin.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'discreet._response'::regclass AND attnum > 0"
        " ORDER BY attnum"
    ).fetchall()
    assert columns == [("id",), ("person",), ("response",)]


def test_what_is_returned_and_what_triggers_see_is_the_response(poll: Connection) -> None:
    poll.execute(
        """
        CREATE TABLE hr.seen (id int, smoker boolean, twice boolean);
        ALTER TABLE hr.poll ADD twice boolean GENERATED ALWAYS AS (smoker) STORED;
        CREATE FUNCTION hr.watch() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO hr.seen VALUES (NEW.id, NEW.smoker); RETURN NEW; END $$;
        CREATE TRIGGER a_watch BEFORE INSERT ON hr.poll FOR EACH ROW EXECUTE FUNCTION hr.watch();
        CREATE TRIGGER watch AFTER INSERT ON hr.poll FOR EACH ROW EXECUTE FUNCTION hr.watch();
        """
    )
    returned = poll.execute(INSERT.replace("%s", "500") + " RETURNING id, smoker").fetchall()
    assert returned == poll.execute("SELECT id, smoker FROM hr.poll ORDER BY id").fetchall()
    assert poll.execute("SELECT FROM hr.poll WHERE twice <> smoker").fetchall() == []
    differing = "SELECT FROM hr.seen JOIN hr.poll USING (id) WHERE seen.smoker <> poll.smoker"
    assert poll.execute(differing).fetchall() == []
    assert poll.execute("SELECT count(*) FROM hr.seen").fetchall() == [(1000,)]


def test_a_trigger_that_would_see_the_truth_is_named(poll: Connection) -> None:
    poll.execute(
        """
        CREATE FUNCTION hr.watch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TABLE hr.other (id int PRIMARY KEY, yes boolean);
        CREATE TRIGGER "!first" BEFORE INSERT ON hr.other FOR EACH ROW EXECUTE FUNCTION hr.watch();
        """
    )
    with refused("22023", "would see the truth before it is randomised: !first", "rename it"):
        poll.execute("SELECT discreet.rr_column('hr.other', 'yes', 1)")


def test_copy_stores_responses(poll: Connection) -> None:
    with poll.cursor().copy("COPY hr.poll (id, smoker, dept, mood) FROM STDIN") as copy:
        for n in range(PEOPLE):
            copy.write_row((n, True, "a", "glad"))
    lied = poll.execute("SELECT count(*) FROM hr.poll WHERE NOT smoker").fetchall()[0][0]
    # 2000 draws of probability 0.3775: outside of these bounds with less than 1e-9
    assert 600 < int(str(lied)) < 910


def test_a_role_that_may_only_insert_needs_nothing_else(
    poll: Connection, database: Database, make_role: MakeRole
) -> None:
    app = make_role("app")
    poll.execute(f"GRANT USAGE ON SCHEMA hr TO {app}; GRANT INSERT ON hr.poll TO {app}")
    database.connect(app).execute(INSERT, [10])
    assert poll.execute("SELECT count(*) FROM hr.poll").fetchall() == [(10,)]


@pytest.mark.parametrize(
    ("row", "sqlstate", "message"),
    [
        ("1, NULL, 'a', 'glad'", "23502", 'column "smoker" must not be NULL'),
        ("1, true, 'secret', 'glad'", "23514", 'the value of column "dept" is none of its domain'),
        ("1, true, 'A', 'glad'", "23514", 'the value of column "dept" is none of its domain'),
    ],
)
def test_what_cannot_be_randomised_is_refused_and_not_repeated(
    poll: Connection, row: str, sqlstate: str, message: str
) -> None:
    with pytest.raises(Exception, match=message) as caught:
        poll.execute(f"INSERT INTO hr.poll VALUES ({row})")
    assert getattr(caught.value, "sqlstate", None) == sqlstate
    assert "secret" not in str(caught.value)


def test_a_row_without_a_person_is_refused(carol: Connection) -> None:
    carol.execute("CREATE TABLE hr.visit (person int, ill boolean)")
    carol.execute("SELECT discreet.rr_column('hr.visit', 'ill', 1, unit => 'person')")
    with refused("23502", 'column "person" must not be NULL', "must be known who it is"):
        carol.execute("INSERT INTO hr.visit VALUES (NULL, true)")


def test_a_row_that_gets_another_person_takes_its_response_along(poll: Connection) -> None:
    poll.execute(INSERT, [PEOPLE])
    first = poll.execute("SELECT smoker, dept, mood FROM hr.poll ORDER BY id").fetchall()
    poll.execute("UPDATE hr.poll SET id = id + 100000")
    assert poll.execute("SELECT smoker, dept, mood FROM hr.poll ORDER BY id").fetchall() == first
    poll.execute("UPDATE hr.poll SET smoker = true, dept = 'a', mood = 'glad'")
    assert poll.execute("SELECT smoker, dept, mood FROM hr.poll ORDER BY id").fetchall() == first


def test_two_sessions_that_write_the_same_person_get_one_response(database: Database, poll: Connection) -> None:
    poll.execute("CREATE TABLE hr.visit (person int, ill boolean)")
    poll.execute("SELECT discreet.rr_column('hr.visit', 'ill', 1, unit => 'person')")
    sessions = [database.connect() for _ in range(4)]
    together = threading.Barrier(len(sessions))

    def write(session: Connection) -> None:
        together.wait()
        for person in range(100):
            session.execute("INSERT INTO hr.visit VALUES (%s, true)", [person])

    threads = [threading.Thread(target=write, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert poll.execute("SELECT count(*), count(DISTINCT (person, ill)) FROM hr.visit").fetchall() == [(400, 100)]


def test_partitions_present_and_to_come_are_covered(carol: Connection) -> None:
    carol.execute(
        """
        CREATE TABLE hr.visit (gone int, person int, ill boolean) PARTITION BY RANGE (person);
        CREATE TABLE hr.visit_1 PARTITION OF hr.visit FOR VALUES FROM (1) TO (1001);
        ALTER TABLE hr.visit DROP gone;
        SELECT discreet.rr_column('hr.visit', 'ill', 1, unit => 'person');
        CREATE TABLE hr.visit_2 PARTITION OF hr.visit FOR VALUES FROM (1001) TO (2001);
        CREATE TABLE hr.visit_3 (ill boolean, person int);
        ALTER TABLE hr.visit ATTACH PARTITION hr.visit_3 FOR VALUES FROM (2001) TO (3001);
        INSERT INTO hr.visit SELECT n, true FROM generate_series(1, 2500) n;
        INSERT INTO hr.visit_3 (person, ill) SELECT n, true FROM generate_series(2501, 3000) n;
        """
    )
    lied = carol.execute("SELECT tableoid::regclass::text, count(*) FROM hr.visit WHERE NOT ill GROUP BY 1 ORDER BY 1")
    # 1000 draws each of probability 0.2689: outside of these bounds with less than 1e-8
    counts = [(name, 180 < int(str(count)) < 360) for name, count in lied.fetchall()]
    assert counts == [("hr.visit_1", True), ("hr.visit_2", True), ("hr.visit_3", True)]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("(id int, yes boolean) PARTITION BY LIST (yes)", "decides on the partition"),
        (
            "(id int, place int, yes boolean) PARTITION BY LIST (place);"
            " CREATE TABLE hr.odd_1 PARTITION OF hr.odd FOR VALUES IN (1) PARTITION BY LIST (yes)",
            "decides on the partition",
        ),
        ("(id int PRIMARY KEY, no boolean, yes boolean GENERATED ALWAYS AS (no) STORED)", "generated"),
        ("(id int PRIMARY KEY, yes hr.answer)", "domain type"),
        ("(id numeric PRIMARY KEY, yes boolean)", "cannot name the person"),
        ("(id int, yes boolean)", "it is not known which column of hr.odd names the person"),
        ("(yes boolean) INHERITS (hr.person)", "inherits"),
    ],
)
def test_a_table_on_which_it_would_not_hold_is_refused(carol: Connection, made: str, message: str) -> None:
    carol.execute("CREATE DOMAIN hr.answer AS boolean CHECK (value IS NOT NULL)")
    carol.execute(f"CREATE TABLE hr.odd {made}")
    unit = "id" if "partition" in message or "inherits" in message else None
    with pytest.raises(Exception, match=message):
        carol.execute("SELECT discreet.rr_column('hr.odd', 'yes', 1, unit => %s::text)", [unit])


def test_a_table_with_rows_holds_the_truth_already(carol: Connection) -> None:
    with refused("42809", "hr.person has rows, which hold the truth", "Make a new table"):
        carol.execute("SELECT discreet.rr_column('hr.person', 'smoker', 1)")


def test_the_unit_is_that_of_the_protected_table(carol: Connection) -> None:
    carol.execute(
        """
        CREATE TABLE hr.visit (visit int PRIMARY KEY, person int, ill boolean);
        SELECT discreet.protect('hr.visit', 'person', epsilon => 1, max_rows => 1);
        SELECT discreet.rr_column('hr.visit', 'ill', 1);
        """
    )
    shown = carol.execute("SELECT relation::text, column_name, unit, epsilon, domain FROM discreet.response_columns")
    assert shown.fetchall() == [("hr.visit", "ill", "person", 1.0, ["f", "t"])]


def test_quoted_and_unicode_names(carol: Connection) -> None:
    carol.execute(
        """
        CREATE TABLE hr."Odd ""poll" ("The Person" text PRIMARY KEY, "Wie geht's?" text);
        SELECT discreet.rr_column('hr."Odd ""poll"', 'Wie geht''s?', 1, ARRAY['schön', 'it''s ok', '']);
        INSERT INTO hr."Odd ""poll" SELECT 'p' || n, 'schön' FROM generate_series(1, 500) n;
        """
    )
    seen = carol.execute("""SELECT DISTINCT "Wie geht's?" FROM hr."Odd ""poll" ORDER BY 1""").fetchall()
    assert seen == [("",), ("it's ok",), ("schön",)]


def test_a_dropped_table_takes_its_responses_along(poll: Connection, admin: Connection) -> None:
    poll.execute(INSERT, [10])
    poll.execute("DROP TABLE hr.poll")
    assert admin.execute("SELECT FROM discreet._response").fetchall() == []
    assert admin.execute("SELECT FROM discreet._response_column").fetchall() == []


def test_the_extension_does_not_go_while_a_column_relies_on_it(poll: Connection, admin: Connection) -> None:
    # otherwise the next INSERT would store the truth
    with pytest.raises(Exception, match="other objects depend on it"):
        admin.execute("DROP EXTENSION discreet")


def test_a_trigger_of_another_table_does_not_read_its_responses(
    poll: Connection, database: Database, admin: Connection, make_role: MakeRole
) -> None:
    """The attack: who may make triggers asks, with a table of their own, for the response of a person."""
    dora = make_role("dora", "discreet_curator")
    admin.execute(f"CREATE SCHEMA dora AUTHORIZATION {dora}")
    poll.execute(INSERT, [10])
    mallory = database.connect(dora)
    mallory.execute(
        """
        CREATE TABLE dora.probe (id int, smoker boolean);
        CREATE TRIGGER probe BEFORE INSERT OR UPDATE OF smoker, id ON dora.probe
            FOR EACH ROW EXECUTE FUNCTION discreet._respond('1');
        """
    )
    with refused("42704", "the responses of probe are not declared", "rr_column()"):
        mallory.execute("INSERT INTO dora.probe VALUES (1, true) RETURNING *")


def test_a_trigger_on_a_domain_does_not_run_its_checks_in_our_name(poll: Connection) -> None:
    """The attack: a curator, who may make triggers, puts a column of a domain in the place of the declared one."""
    poll.execute(
        """
        CREATE TABLE hr.stolen (by_whom text);
        CREATE FUNCTION hr.steal(text) RETURNS boolean LANGUAGE plpgsql AS
            'BEGIN INSERT INTO hr.stolen VALUES (current_user); RETURN true; END';
        CREATE DOMAIN hr.trap AS text CHECK (hr.steal(VALUE));
        ALTER TABLE hr.poll ADD trap hr.trap;
        CREATE TRIGGER trap BEFORE INSERT OR UPDATE OF trap, id ON hr.poll
            FOR EACH ROW EXECUTE FUNCTION discreet._respond('2');
        """
    )
    with refused("42809", 'column "trap" is of a type that has no randomised responses', None):
        poll.execute("INSERT INTO hr.poll VALUES (1, true, 'a', 'glad', '', 'a')")
    assert poll.execute("SELECT FROM hr.stolen WHERE by_whom = 'postgres'").fetchall() == []


def test_only_its_owner_as_a_curator_declares(poll: Connection, database: Database, make_role: MakeRole) -> None:
    other = make_role("dora", "discreet_curator")
    poll.execute(f"GRANT USAGE ON SCHEMA hr TO {other}")
    with refused("42501", f"{other} does not own hr.person", "Its owner"):
        database.connect(other).execute("SELECT discreet.rr_column('hr.person', 'smoker', 1)")


@each_way
def test_after_a_restore_everybody_keeps_the_response(
    poll: Connection, database: Database, empty_database: Database, tmp_path: Path, move: Move
) -> None:
    poll.execute(INSERT, [200])
    first = poll.execute(RESPONSES).fetchall()
    move(database, empty_database, tmp_path)
    restored = empty_database.connect()
    assert restored.execute(RESPONSES).fetchall() == first
    restored.execute("UPDATE hr.poll SET smoker = true, dept = 'a', mood = 'glad'")
    restored.execute("DELETE FROM hr.poll")
    restored.execute(INSERT, [200])
    assert restored.execute(RESPONSES).fetchall() == first
