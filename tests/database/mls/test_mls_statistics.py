"""Statistics over multilevel tables: each label is answered from what it shows, and pays from a budget of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.database.mls.askers import EXACT, LIMIT, Askers, answers, told
from tests.database.mls.subjects import Subjects, refused
from tests.database.waiting import wait_for_lock
from tests.databases import Connection
from tests.messages import notices

LABELS = ("U", "C", "S", "C:NATO")
COUNT = "SELECT count(*) FROM staff"


@pytest.fixture
def unprotected(subjects: Subjects) -> Askers:
    return Askers(subjects)


@pytest.fixture
def staff(unprotected: Askers) -> Askers:
    unprotected.load()
    unprotected.protect()
    return unprotected


def test_each_label_is_answered_from_what_it_shows(staff: Askers) -> None:
    for label in LABELS:
        assert staff.number(label, "count(*)") == staff.truth(label, "count(*)")
        assert staff.number(label, "count(*)", "dept = 'b'") == staff.truth(label, "count(*)", "dept = 'b'")
        assert abs(staff.number(label, "sum(pay)") - staff.truth(label, "sum(pay)")) < 50
    counted = [staff.number(label, "count(*)") for label in LABELS]
    assert counted == [40, 60, 70, 67]


def test_plain_sql_views_and_cursors_ask_at_the_label_of_the_session(staff: Askers) -> None:
    staff.admin.execute("CREATE VIEW in_b AS SELECT name, pay FROM staff WHERE dept = 'b'")
    for label, people in zip(LABELS, (0, 20, 30, 20), strict=True):
        asker = staff.at(label)
        staff.admin.execute(f"GRANT SELECT ON in_b TO {staff.role(label)}")
        asker.execute("SET discreet.epsilon = 100")
        assert asker.execute("SELECT count(*) FROM staff WHERE dept = 'b'").fetchall() == [(people,)]
        assert asker.execute("SELECT count(*) FROM in_b").fetchall() == [(people,)]
        with asker.transaction():
            asker.execute("SELECT discreet.ask('SELECT count(*) FROM in_b', 100)")
            assert asker.execute("FETCH ALL FROM answer").fetchall() == [(people,)]


def test_a_private_view_answers_each_reader_at_the_own_label(staff: Askers) -> None:
    maker = staff.at("S")
    staff.admin.execute(f"CREATE SCHEMA shared AUTHORIZATION {staff.role('S')}")
    maker.execute("SELECT discreet.create_view('shared.people', 'SELECT count(*) AS people FROM public.staff', 100)")
    maker.execute(f"GRANT USAGE ON SCHEMA shared TO PUBLIC; GRANT SELECT ON shared.people TO {staff.role('U')}")
    assert staff.at("U").execute("SELECT people FROM shared.people").fetchall() == [(40,)]
    assert maker.execute("SELECT people FROM shared.people").fetchall() == [(70,)]


def test_bounds_are_suggested_from_what_the_label_shows(staff: Askers) -> None:
    staff.subjects.at("S").execute("UPDATE staff SET pay = 5000 WHERE name LIKE 'S%'")
    suggest = "SELECT upper(discreet.suggest_bounds('staff', 'pay', 100)) > 1000"
    assert staff.at("U").execute(suggest).fetchall() == [(False,)]
    assert staff.at("S").execute(suggest).fetchall() == [(True,)]


def test_who_may_read_the_table_reads_it_as_before(staff: Askers) -> None:
    reader = staff.subjects.at("C")
    staff.admin.execute("SELECT discreet.grant_budget('public.staff', %s, 1)", [staff.subjects.role("C")])
    assert reader.execute(COUNT).fetchall() == [(70,)]  # versions are rows
    assert staff.spent("C") == [(False, "C", 0), (True, "C", 0)]


# -- versions of one person


@pytest.mark.parametrize(("max_rows", "rows"), [(1, 70), (2, 80), (3, 85)])
def test_versions_of_one_person_count_up_to_max_rows(unprotected: Askers, max_rows: int, rows: int) -> None:
    unprotected.load()
    unprotected.protect(max_rows=max_rows)
    assert unprotected.number("S", "count(*)") == rows


@pytest.mark.parametrize(
    "options", [{}, {"max_rows": 2, "max_groups": 2}, {"max_rows": 2, "max_groups": 2, "max_total_rows": 3}]
)
def test_one_person_moves_no_exact_total_further_than_planned(unprotected: Askers, options: dict[str, int]) -> None:
    """selftest() computes exact totals with and without the person with most rows, here one with three versions."""
    unprotected.load()
    unprotected.subjects.at("S").execute("UPDATE staff SET dept = 'b' WHERE name = 'U1'")
    unprotected.protect(**options)
    unprotected.admin.execute("SELECT discreet.mls_clear('postgres', 'S')")
    try:
        found = unprotected.admin.execute(
            "SELECT passed, finding FROM discreet.selftest() WHERE item = 'neighbours in public.staff'"
        ).fetchall()
    finally:
        unprotected.admin.execute("SELECT discreet.mls_clear('postgres', NULL)")
    assert found == [(True, "the person with most rows moves no total of 3 questions further than planned")]


def test_a_row_is_never_a_person(staff: Askers) -> None:
    staff.admin.execute("SELECT discreet.grant_budget('public.staff', 'postgres', 1)")
    staff.admin.execute("SELECT discreet.mls_clear('postgres', 'U')")
    (explained,) = staff.admin.execute(f"SELECT discreet.explain('{COUNT}')").fetchall()[0]
    staff.admin.execute("SELECT discreet.mls_clear('postgres', NULL)")
    assert "discreet._people" in explained["native_sql"][0]


@pytest.mark.parametrize("condition", ["name = 'U1'", "row_id = 5"])
def test_keys_and_rows_are_not_singled_out(staff: Askers, condition: str) -> None:
    error = refused(staff.at("C"), f"SELECT count(*) FROM staff WHERE {condition}")
    assert error.sqlstate == "DP002"


# -- budgets, stored answers and the log, per label


def test_each_label_pays_from_a_budget_of_its_own(staff: Askers) -> None:
    assert staff.number("S", "count(*)") == 70
    assert staff.spent("S") == [(False, "S", EXACT), (True, "S", EXACT)]
    for other in ("U", "C", "C:NATO"):
        assert staff.spent(other) == [(False, other, 0), (True, other, 0)]
    for part in "abcdefghi":
        staff.ask("S", f"SELECT count(*) FROM staff WHERE dept = '{part}'")
    error = refused(staff.at("S"), "SELECT * FROM discreet.query_json('SELECT sum(pay) FROM staff', 1)")
    assert error.sqlstate == "DP003"
    assert 'public.staff" at label S is exhausted' in str(error)
    assert staff.number("C", "count(*)") == 60
    assert staff.spent("C") == [(False, "C", EXACT), (True, "C", EXACT)]


def test_sessions_of_one_label_cannot_overspend_at_once(staff: Askers) -> None:
    staff.admin.execute("UPDATE discreet._budget SET amount_limit = %s", [3 * EXACT])
    sessions = [staff.another("S") for _ in range(5)]

    def ask(number: int) -> str:
        question = f"SELECT count(*) FROM staff WHERE pay > {number}"
        return str(told(sessions[number], f"SELECT * FROM discreet.query_json('{question}', {EXACT})"))

    with ThreadPoolExecutor(len(sessions)) as others:
        answered = list(others.map(ask, range(len(sessions))))
    assert sorted("DP003" in each for each in answered) == [False, False, False, True, True]
    assert staff.spent("S") == [(False, "S", 3 * EXACT), (True, "S", 3 * EXACT)]


def test_notices_tell_what_is_left_at_the_label(staff: Askers) -> None:
    staff.number("S", "count(*)")
    heard = notices(staff.at("U"))
    staff.number("U", "count(*)")
    assert [message for _, message, _ in heard] == [
        f"epsilon {EXACT} spent; epsilon left for you {LIMIT - EXACT}, "
        f"for dataset public.staff at label U {LIMIT - EXACT}; 95 % error: number ±0"
        "; rows per person limited to 1; rows without a person left out"
    ]


def test_an_answer_is_given_again_at_its_own_label_only(staff: Askers) -> None:
    stored = f"SELECT discreet.explain('{COUNT}', {EXACT})->'stored', discreet.explain('{COUNT}', {EXACT})->>'label'"
    staff.ask("C", COUNT)
    for label in LABELS:
        assert staff.at(label).execute(stored).fetchall() == [(label == "C", label)]
    assert [staff.ask(label, COUNT) for label in LABELS] == [[{"count": n}] for n in (40, 60, 70, 67)]
    staff.ask("C", COUNT)
    assert staff.spent("C") == [(False, "C", EXACT), (True, "C", EXACT)]


def test_one_role_pays_at_each_label_it_works_at(staff: Askers) -> None:
    for label, people in (("U", 40), ("C", 60), ("S", 70)):
        session = staff.another("S")
        session.execute(f"SET discreet.level = '{label}'")
        assert answers(session, COUNT) == [{"count": people}]
    charges = "SELECT label, id, epsilon FROM discreet.charges ORDER BY label"
    low = staff.another("S")
    low.execute("SET discreet.level = 'C'")
    assert low.execute(charges).fetchall() == [("C", 1, EXACT), ("U", 1, EXACT)]
    assert staff.at("S").execute(charges).fetchall() == [("C", 1, EXACT), ("S", 1, EXACT), ("U", 1, EXACT)]
    chains = "SELECT label, charges, intact FROM discreet.verify_log() WHERE label IS NOT NULL"
    assert staff.admin.execute(chains).fetchall() == [("C", 1, True), ("S", 1, True), ("U", 1, True)]


def test_the_log_shows_that_a_line_of_a_label_was_changed(staff: Askers) -> None:
    staff.ask("S", COUNT)
    staff.admin.execute("UPDATE discreet._label_spent SET amount_spent = 0 WHERE role = 0")
    (row,) = staff.admin.execute("SELECT label, intact, finding FROM discreet.verify_log() WHERE NOT intact").fetchall()
    assert row == ("S", False, f"the charges add up to {EXACT}, but 0 is spent")


def test_refusals_are_shown_at_the_label_at_which_they_were_told(staff: Askers) -> None:
    for question in ("SELECT count(*) FROM staff WHERE name = 'U1'", "SELECT count(*) FROM nothing_of_this_name",
                     "SELECT pay FROM staff"):  # fmt: skip
        refused(staff.at("S"), "SELECT * FROM discreet.query_json(%s)", question)
    seen = "SELECT code, label FROM discreet.refusals ORDER BY at"
    low = staff.another("S")
    low.execute("SET discreet.level = 'C'")
    assert low.execute(seen).fetchall() == []
    assert staff.another("S").execute(seen).fetchall() == [("DP002", "S"), ("DP001", "S")]


def test_who_reads_the_ledger_has_read_at_the_label(staff: Askers) -> None:
    for view in ("budget_status", "charges", "refusals"):
        session = staff.another("S")
        session.execute(f"SELECT * FROM discreet.{view}")
        error = refused(session, "SET discreet.level = 'C'")
        assert "below what this session has read" in str(error)


def test_who_reads_the_ledger_has_read_at_the_label_though_no_multilevel_table_is_left(staff: Askers) -> None:
    """By then nothing but lines of the ledger has a label."""
    staff.ask("S", COUNT)
    auditor = staff.subjects._make_role("auditor", "discreet_auditor")
    staff.admin.execute(f"SELECT discreet.mls_clear('{auditor}', 'S')")
    staff.admin.execute("SELECT discreet.unprotect('staff'), discreet.mls_drop('staff')")
    session = staff.subjects.database.connect(auditor)
    session.execute("SELECT 1")
    session.execute("SET discreet.level = 'C'; RESET discreet.level")
    assert session.execute("SELECT label FROM discreet.charges").fetchall() == [("S",)]
    assert "below what this session has read" in str(refused(session, "SET discreet.level = 'C'"))
    told = refused(session, "EXPLAIN ANALYZE SELECT * FROM discreet.charges")
    assert "EXPLAIN ANALYZE would tell" in str(told)


def test_curators_and_auditors_see_all_labels(staff: Askers) -> None:
    for label in LABELS:
        staff.ask(label, COUNT)
    auditor = staff.subjects.database.connect(staff.subjects._make_role("auditor", "discreet_auditor"))
    spent = "SELECT label, epsilon_spent FROM discreet.budget_status WHERE role IS NULL ORDER BY 1"
    assert auditor.execute(spent).fetchall() == [(label, EXACT) for label in ("C", "C:NATO", "S", "U")]


# -- the label of a question


def test_who_asks_has_read_at_the_label(staff: Askers) -> None:
    session = staff.another("S")
    session.execute("SET discreet.level = 'C'")
    answers(session, COUNT)
    assert "below what this session has read" in str(refused(session, "SET discreet.level = 'U'"))
    session.execute("SET discreet.level = 'S'")
    assert answers(session, COUNT) == [{"count": 70}]
    assert session.execute("SHOW discreet.level").fetchall() == [("S",)]


def test_a_wish_below_what_was_read_is_refused(staff: Askers) -> None:
    session = staff.another("S")
    session.execute("BEGIN; SET LOCAL discreet.level = 'C'")
    session.execute("SAVEPOINT s; SET LOCAL discreet.level = 'S'")
    answers(session, COUNT)
    session.execute("ROLLBACK TO s")
    error = refused(session, "SELECT * FROM discreet.query_json(%s)", COUNT)
    assert (error.sqlstate, error.diag.message_primary) == ("42501", "label C is below what this session has read")


def test_who_has_no_clearance_is_told_nothing(staff: Askers) -> None:
    role = staff.subjects._make_role("nobody")
    staff.admin.execute("SELECT discreet.grant_budget('public.staff', %s, 1)", [role])
    session = staff.subjects.database.connect(role)
    for statement in (COUNT, f"SELECT * FROM discreet.query_json('{COUNT}')"):
        error = refused(session, statement)
        assert (error.sqlstate, error.diag.message_primary) == (
            "DP004", f"role {role} has no clearance, and multilevel tables show it nothing",
        )  # fmt: skip
    (explained,) = session.execute(f"SELECT discreet.explain('{COUNT}')").fetchall()[0]
    assert explained["refused"]["code"] == "DP004"
    assert session.execute("SELECT epsilon_spent, label FROM discreet.budget_status").fetchall() == [(0, None)] * 2


@pytest.fixture
def interrupted(staff: Askers) -> Connection:
    """The admin's connection that keeps questions from going on, once their label is decided."""
    staff.at("C").execute(f"SELECT discreet.explain('{COUNT}')")
    holder = staff.subjects.database.connect()
    holder.execute("BEGIN; LOCK TABLE staff_mls IN ACCESS EXCLUSIVE MODE")
    return holder


@pytest.mark.parametrize("clearance", ["S", None])
def test_a_clearance_that_changes_meanwhile_changes_no_question(
    staff: Askers, interrupted: Connection, clearance: str | None
) -> None:
    session = staff.at("C")
    with ThreadPoolExecutor(1) as others:
        answer = others.submit(told, session, f"SELECT * FROM discreet.query_json('{COUNT}', {EXACT})")
        wait_for_lock(staff.subjects.database, session)
        staff.admin.execute("SELECT discreet.mls_clear(%s, %s)", [staff.role("C"), clearance])
        interrupted.execute("COMMIT")
        rows = answer.result()
    if clearance is None:  # it sees nothing, or is refused
        assert rows == [] or rows[-1] == ({"count": 0},)
    else:
        assert rows[-1] == ({"count": 60},)
        assert staff.admin.execute("SELECT label FROM discreet.charges").fetchall() == [("C",)]


# -- what is accepted, and what is not


def test_other_views_are_not_protected(staff: Askers) -> None:
    staff.admin.execute("CREATE VIEW in_b AS SELECT * FROM staff WHERE dept = 'b'")
    error = refused(staff.admin, "SELECT discreet.protect('in_b', 'name', 'public.staff', max_rows => 1)")
    assert error.diag.message_primary == "public.in_b is a view; only tables are protected"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'staff_mls', 'name', epsilon => 1", "public.staff_mls holds the rows of multilevel table public.staff"),
        ("'staff', 'pay', epsilon => 1", "versions of one row may differ in it"),
        ("'staff', 'row_id', epsilon => 1", "versions of one row may differ in it"),
        ("'staff', 'name', policy => 'audited'", "cannot be under policy 'audited'"),
        ("'staff', 'name', policy => 'personal', unit_epsilon => 1", "cannot be under policy 'personal'"),
        ("'staff', NULL, policy => 'public'", "cannot be under policy 'public'"),
        ("'staff', 'name', 'ordinary'", 'dataset "ordinary" holds ordinary tables, and public.staff is multilevel'),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused(unprotected: Askers, arguments: str, message: str) -> None:
    unprotected.admin.execute("SELECT discreet.create_dataset('ordinary', 1)")
    unprotected.admin.execute("CREATE TABLE plain (id int PRIMARY KEY)")
    unprotected.admin.execute("SELECT discreet.protect('plain', 'id', 'ordinary')")
    error = refused(unprotected.admin, f"SELECT discreet.protect({arguments})")
    assert error.sqlstate in ("22023", "42809")
    assert message in str(error)
    assert error.diag.message_hint


def test_an_ordinary_table_does_not_join_a_dataset_of_multilevel_ones(staff: Askers) -> None:
    staff.admin.execute("CREATE TABLE plain (id int PRIMARY KEY)")
    error = refused(staff.admin, "SELECT discreet.protect('plain', 'id', 'public.staff')")
    assert "holds multilevel tables, and public.plain is ordinary" in str(error)


def test_multilevel_tables_that_name_each_other_have_one_budget(staff: Askers) -> None:
    staff.subjects.make_table(
        "CREATE TABLE trip (name text, day int, PRIMARY KEY (name, day))", "trip", ["name", "day"]
    )
    staff.admin.execute("SELECT discreet.mls_reference('trip', ARRAY['name'], 'staff')")
    error = refused(staff.admin, "SELECT discreet.protect('trip', 'name', epsilon => 1, max_rows => 1)")
    assert "the people of public.trip are those of public.staff" in str(error)
    staff.admin.execute("SELECT discreet.protect('trip', 'name', 'public.staff', max_rows => 10)")
    staff.subjects.at("U").execute("INSERT INTO trip VALUES ('U1', 'U', 1), ('U1', 'U', 2), ('U2', 'U', 1)")
    joined = "SELECT count(*) FROM staff s JOIN trip t ON t.name = s.name"
    assert staff.ask("U", joined) == [{"count": 3}]
    error = refused(staff.at("U"), "SELECT count(*) FROM trip WHERE name = 'U1' AND day = 1")
    assert error.sqlstate == "DP002"


def test_a_reference_shows_what_a_unit_names_and_who_is_the_same(staff: Askers) -> None:
    key = "(name text, day int, PRIMARY KEY (name, day))"
    for table in ("trip", "bag"):
        staff.subjects.make_table(f"CREATE TABLE {table} {key}", table, ["name", "day"])
    staff.admin.execute("SELECT discreet.mls_reference('trip', ARRAY['name'], 'staff')")
    staff.admin.execute("SELECT discreet.protect('trip', 'name', 'public.staff', max_rows => 10)")
    staff.admin.execute("SELECT discreet.mls_reference('bag', ARRAY['name', 'day'], 'trip')")
    error = refused(staff.admin, "SELECT discreet.protect('bag', 'day', 'public.staff', max_rows => 1)")
    assert "column day of public.bag does not name people: it references public.trip, whose people" in str(error)
    staff.admin.execute("SELECT discreet.protect('bag', 'name', 'public.staff', max_rows => 10)")
    joined = "SELECT count(*) FROM staff s JOIN bag b ON b.name = s.name"
    assert staff.ask("U", joined) == [{"count": 0}]


def test_a_multilevel_table_that_is_not_protected_is_not_asked_about(staff: Askers) -> None:
    staff.subjects.make_table("CREATE TABLE plan (id int PRIMARY KEY)", "plan", ["id"])
    staff.subjects.grant("plan", staff.role("S"))
    error = refused(staff.at("S"), "SELECT * FROM discreet.query_json('SELECT count(*) FROM plan')")
    assert "there is no table plan that can be asked about" in str(error)


@pytest.mark.parametrize("protected", [True, False])
def test_the_aggregates_do_not_read_multilevel_tables(unprotected: Askers, protected: bool) -> None:
    unprotected.load()
    reader = unprotected.subjects.role("S")
    unprotected.admin.execute(f"SELECT discreet.create_dataset('default', 1); GRANT discreet_analyst TO {reader}")
    if protected:
        unprotected.protect()
    for aggregate in ("dp_count(*)", "dp_sum(pay, 0, 100)"):
        error = refused(unprotected.subjects.at("S"), f"SELECT discreet.{aggregate} FROM staff")
        assert (error.sqlstate, error.diag.message_primary) == (
            "DP001", "dp_ aggregates do not read multilevel tables, where a person may have several versions",
        )  # fmt: skip
    assert unprotected.admin.execute("SELECT count(*) FROM discreet._charge").fetchall() == [(0,)]


def test_the_gate_understands_the_aggregates(staff: Askers) -> None:
    for label, people in zip(LABELS, (40, 60, 70, 67), strict=True):
        asked = f"SELECT discreet.dp_count(name, {EXACT}) FROM staff"
        assert staff.at(label).execute(asked).fetchall() == [(people,)]


# -- its life


def test_a_protected_multilevel_table_becomes_ordinary_only_by_unprotect(staff: Askers) -> None:
    for label in LABELS:
        staff.ask(label, COUNT)
    error = refused(staff.admin, "SELECT discreet.mls_plain('staff')")
    assert error.diag.message_primary == '"public"."staff" is protected'
    staff.admin.execute("SELECT discreet.unprotect('staff')")
    assert staff.spent("U") == [(False, "U", EXACT), (True, "U", EXACT)]
    staff.admin.execute("SELECT discreet.mls_plain('staff')")
    # what was spent at all labels is spent, and the people keep their dataset
    carol = staff.subjects._make_role("carol", "discreet_curator")
    staff.admin.execute(f"ALTER TABLE staff OWNER TO {carol}")
    curator = staff.subjects.database.connect(carol)
    error = refused(curator, "SELECT discreet.protect('staff', 'name', epsilon => 1, max_rows => 1)")
    assert "exists already" in str(error)
    curator.execute("SELECT discreet.create_dataset('other', 1)")
    error = refused(curator, "SELECT discreet.protect('staff', 'name', 'other', max_rows => 1)")
    assert 'was protected in dataset "public.staff" before' in str(error)
    staff.admin.execute("SELECT discreet.protect('staff', 'name', 'public.staff', max_rows => 1)")
    left = "SELECT epsilon_left, label FROM discreet.budget_status WHERE role IS NULL AND dataset = 'public.staff'"
    assert staff.admin.execute(left).fetchall() == [(LIMIT - 4 * EXACT, None)]
    staff.admin.execute("UPDATE discreet._budget SET amount_limit = %s WHERE role = 0", [4 * EXACT + 1])
    error = refused(staff.at("U"), f"SELECT * FROM discreet.query_json('{COUNT}', 2)")
    assert error.sqlstate == "DP003"
    assert error.diag.message_primary == 'the budget of dataset "public.staff" is exhausted'


def test_what_was_spent_before_there_were_labels_counts_at_every_label(subjects: Subjects) -> None:
    subjects.admin.execute("CREATE TABLE staff (name text PRIMARY KEY, pay int); INSERT INTO staff VALUES ('Ann', 1)")
    subjects.admin.execute("SELECT discreet.protect('staff', 'name', epsilon => 10, max_rows => 1)")
    role = subjects.role("S")
    subjects.admin.execute("SELECT discreet.grant_budget('public.staff', %s, 10)", [role])
    answers(subjects.at("S"), COUNT, 7)
    subjects.admin.execute("SELECT discreet.unprotect('staff'), discreet.mls_table('staff', ARRAY['name'])")
    subjects.admin.execute("SELECT discreet.protect('staff', 'name', 'public.staff', max_rows => 1)")
    error = refused(subjects.at("S"), f"SELECT * FROM discreet.query_json('{COUNT}', 4)")
    assert error.sqlstate == "DP003"
    answers(subjects.at("S"), COUNT, 3)


def test_a_dropped_multilevel_table_takes_its_protection_along(staff: Askers) -> None:
    staff.admin.execute("SELECT discreet.mls_drop('staff')")
    for view in ("protected_tables", "protected_columns"):
        assert staff.admin.execute(f"SELECT count(*) FROM discreet.{view}").fetchall() == [(0,)]


def test_an_exempt_view_shows_what_the_label_shows(staff: Askers) -> None:
    asker = staff.at("C")
    staff.admin.execute("CREATE VIEW in_b AS SELECT pay FROM staff WHERE dept = 'b'")
    staff.admin.execute(f"GRANT SELECT ON in_b TO {staff.role('C')}")
    assert refused(asker, "SELECT pay FROM in_b").sqlstate == "DP001"
    staff.admin.execute("SELECT discreet.exempt_view('in_b')")
    assert asker.execute("SELECT pay FROM in_b").fetchall() == [(10,)] * 20
    assert refused(asker, "SELECT pay FROM staff").sqlstate == "DP001"


def test_check_installation_tells_of_cleared_auditors(staff: Askers) -> None:
    staff.admin.execute(f"GRANT discreet_auditor TO {staff.role('U')}")
    found = staff.admin.execute(
        "SELECT finding FROM discreet.check_installation() WHERE item = 'cleared roles'"
    ).fetchall()
    assert [f for (f,) in found if "as a member of discreet_auditor, sees charges, refusals" in str(f)]


def test_code_of_another_tables_owner_is_refused_before_the_charge(staff: Askers) -> None:
    """It would run in the name of its owner, and what has labels is not read there."""
    owner = staff.subjects._make_role("owns_floors")
    staff.admin.execute(
        f"""
        GRANT discreet_curator TO {owner};
        CREATE SCHEMA floors AUTHORIZATION {owner};
        GRANT USAGE ON SCHEMA floors TO PUBLIC;
        SET ROLE {owner};
        CREATE TABLE floors.floor (dept text PRIMARY KEY, floor int);
        INSERT INTO floors.floor VALUES ('a', 1), ('b', 2);
        GRANT SELECT ON floors.floor TO PUBLIC;
        RESET ROLE;
        GRANT SELECT ON staff TO {owner};
        SELECT discreet.protect('floors.floor', NULL, policy => 'public')
        """
    )
    question = "SELECT count(*) FROM staff JOIN floors.floor USING (dept) WHERE floor = 1"
    asker = staff.at("S")
    asker.execute(question)
    paid = staff.spent("S")
    staff.admin.execute(
        f"""
        SET ROLE {owner};
        CREATE FUNCTION floors.next(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 + 1';
        CREATE INDEX ON floors.floor (floors.next(floor));
        RESET ROLE
        """
    )
    error = refused(asker, question.replace("floor = 1", "floor = 2"))
    assert error.sqlstate == "DP001"
    assert "multilevel table staff cannot be asked together with a table for which code of" in str(error)
    assert staff.spent("S") == paid
