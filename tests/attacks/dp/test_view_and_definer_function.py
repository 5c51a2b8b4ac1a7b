"""Views and definer functions lend their owner's rights: dp_ aggregates look at who sits at the keyboard."""

import pytest
from tests.attacks.target import ASK, PRICE, Target
from tests.databases import Connection
from tests.messages import refused

LENT = [
    "CREATE VIEW extra.lent AS SELECT * FROM hr.person",
    "CREATE VIEW extra.lent WITH (security_barrier) AS SELECT * FROM hr.person WHERE NOT smoker",
    "CREATE VIEW extra.inner_view AS SELECT * FROM hr.person; CREATE VIEW extra.lent AS SELECT * FROM extra.inner_view",
]


@pytest.fixture
def blind(target: Target) -> Connection:
    """An analyst who may not read the table."""
    return target.connect("blind")


@pytest.mark.parametrize("definition", LENT)
def test_view_that_reads_with_its_owners_rights_is_refused(target: Target, blind: Connection, definition: str) -> None:
    target.admin.execute(f"{definition}; GRANT SELECT ON extra.lent TO PUBLIC")
    with target.free(), refused("DP004", "you hold no budget for the people of hr.person", "grant_budget"):
        blind.execute("SELECT count(*) > 0 FROM extra.lent")
    # even where a curator lets the view show its rows
    named = "extra.inner_view" if "inner_view" in definition else "extra.lent"
    target.admin.execute("SELECT discreet.exempt_view(%s)", [named])
    assert blind.execute("SELECT count(*) > 0 FROM extra.lent").fetchone() == (True,)
    with target.free(), refused("DP004", "blind may not read person", "discreet.query()"):
        blind.execute("SELECT discreet.dp_count(*) FROM extra.lent")
    with target.costs(PRICE):
        target.connect("mallory").execute("SELECT discreet.dp_count(*) FROM extra.lent")


def test_view_with_the_aggregate_inside_is_refused(target: Target, blind: Connection) -> None:
    target.admin.execute(f"CREATE VIEW extra.answer AS {ASK}; GRANT SELECT ON extra.answer TO PUBLIC")
    with target.free(), refused("DP004", "you hold no budget for the people of hr.person", "grant_budget"):
        blind.execute("SELECT * FROM extra.answer")
    target.admin.execute("SELECT discreet.exempt_view('extra.answer')")
    with target.free(), refused("DP004", "blind may not read person", "discreet.query()"):
        blind.execute("SELECT * FROM extra.answer")
    with target.costs(PRICE):
        target.connect("mallory").execute("SELECT * FROM extra.answer")


@pytest.mark.parametrize("language", ["sql", "plpgsql"])
def test_definer_function_is_refused(target: Target, blind: Connection, language: str) -> None:
    body = ASK if language == "sql" else f"BEGIN RETURN ({ASK}); END"
    target.admin.execute(
        f"CREATE FUNCTION extra.ask() RETURNS bigint LANGUAGE {language} SECURITY DEFINER AS $${body}$$"
    )
    with target.free(), refused("DP004", "blind may not read person", "discreet.query()"):
        blind.execute("SELECT extra.ask()")
    with target.costs(PRICE):
        target.connect("mallory").execute("SELECT extra.ask()")


def test_role_that_may_read_is_no_disguise(target: Target, blind: Connection) -> None:
    """A member of a reader may read; taken out of it, not even while still in its role."""
    target.admin.execute("GRANT mallory TO blind")
    try:
        blind.execute("SET ROLE mallory")
        with target.costs(PRICE):
            blind.execute(ASK)
    finally:
        target.admin.execute("REVOKE mallory FROM blind")
    with target.free(), refused("DP004", "blind may not read person", "discreet.query()"):
        blind.execute(ASK)


def test_columns_are_looked_at_one_by_one(target: Target, blind: Connection) -> None:
    target.admin.execute("GRANT SELECT (id, salary) ON hr.person TO blind")
    target.admin.execute("SELECT discreet.grant_budget('people', 'blind', 1)")
    target.admin.execute("CREATE VIEW extra.lent AS SELECT * FROM hr.person; GRANT SELECT ON extra.lent TO PUBLIC")
    target.admin.execute("SELECT discreet.exempt_view('extra.lent')")
    with target.costs(2 * PRICE):
        blind.execute("SELECT discreet.dp_sum(salary, 0, 2000) FROM hr.person WHERE id > 0")
        blind.execute(ASK)
    target.admin.execute("SELECT discreet.revoke_budget('people', 'blind')")
    with target.free(), refused("42501", "permission denied", None):
        blind.execute(f"{ASK} WHERE smoker")
    with target.free(), refused("DP004", "blind may not read person", "discreet.query()"):
        blind.execute("SELECT discreet.dp_count(*) FROM extra.lent WHERE smoker")


def test_partition_is_read_with_the_rights_of_its_parent(target: Target, blind: Connection) -> None:
    target.admin.execute(
        "CREATE TABLE extra.p (id int PRIMARY KEY) PARTITION BY RANGE (id);"
        "CREATE TABLE extra.p1 PARTITION OF extra.p FOR VALUES FROM (0) TO (100);"
        "SET client_min_messages = warning; SELECT discreet.protect('extra.p', 'id', dataset => 'people');"
        "RESET client_min_messages; CREATE VIEW extra.v AS SELECT * FROM extra.p; GRANT SELECT ON extra.v TO PUBLIC;"
        "SELECT discreet.exempt_view('extra.v')"
    )
    with target.free(), refused("DP004", "blind may not read p", "discreet.query()"):
        blind.execute("SELECT discreet.dp_count(*) FROM extra.v")
    target.admin.execute("GRANT SELECT ON extra.p TO blind; SELECT discreet.grant_budget('people', 'blind', 1)")
    with target.costs(PRICE):
        blind.execute("SELECT discreet.dp_count(*) FROM extra.v")


def test_row_security_is_kept(target: Target, mallory: Connection) -> None:
    """dp_ aggregates read what the reader may read, and no row more; at epsilon 100 there is hardly any noise."""
    target.admin.execute(
        "CREATE TABLE extra.own (id int PRIMARY KEY, owner name); ALTER TABLE extra.own ENABLE ROW LEVEL SECURITY;"
        "INSERT INTO extra.own SELECT n, CASE WHEN n <= 30 THEN 'mallory' END FROM generate_series(1, 500) n;"
        "CREATE POLICY own ON extra.own USING (owner = current_user); GRANT SELECT ON extra.own TO mallory"
    )
    (answer,) = mallory.execute("SELECT discreet.dp_count(id, 50) FROM extra.own").fetchone() or (None,)
    # P(noise of scale 1/50 is not 0) < 2 * e**-50 < 1e-20
    assert answer == 30


def test_function_that_returns_rows_is_refused(target: Target, blind: Connection) -> None:
    """Also one that could be looked into: what it reads, and for whom, is seen too late."""
    target.admin.execute(
        "CREATE FUNCTION extra.rows() RETURNS SETOF hr.person LANGUAGE sql STABLE AS $$ SELECT * FROM hr.person $$"
    )
    for session in (blind, target.connect("mallory")):
        with target.free(), refused("DP001", "cannot bound one person's influence through", "discreet.query()"):
            session.execute("SELECT discreet.dp_count(*) FROM extra.rows()")
