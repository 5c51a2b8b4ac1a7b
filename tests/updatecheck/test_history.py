"""A database that has lived with version 0.1.0 loses nothing in the upgrade, and goes on as before.

0.1.0.sql is a dump of it, made by the software of that version: history.sql, and then what its people asked and wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import Connection, Database, created, program
from tests.messages import refused
from tests.updatecheck.snapshot import snapshot

DUMP = Path(__file__).parent / "0.1.0.sql"
ROLES = ("up_alice", "up_low", "up_high", "up_reader")

# asked before and after the upgrade
SAME = {
    "datasets": "SELECT dataset, accounting, neighbours, answer_lifetime FROM discreet._dataset ORDER BY 1",
    "protections": "SELECT relation::regclass::text, dataset, unit, policy, max_groups, max_rows, unit_epsilon"
    " FROM discreet._protected_table ORDER BY 1",
    "columns": "SELECT relation::regclass::text, column_name, lower, upper, categories, visibility"
    " FROM discreet._protected_column ORDER BY 1, 2",
    "exempt views": "SELECT view::text FROM discreet._exempt_view",
    "budgets": "SELECT dataset, role, epsilon_limit, epsilon_spent, epsilon_left"
    " FROM discreet.budget_status ORDER BY 1, 2",
    "charges": "SELECT dataset, id, at, role, epsilon, delta, question FROM discreet.charges ORDER BY 1, 2",
    "log": "SELECT * FROM discreet.verify_log() ORDER BY dataset",
    "events": "SELECT * FROM discreet._label_event ORDER BY id",
    "clearances": "SELECT role, label, trusted FROM discreet.clearances ORDER BY 1",
    "pages": "SELECT * FROM discreet._personal_page ORDER BY 1, 2",
    "responses": "SELECT * FROM hr.poll ORDER BY 1",
    "pseudonyms": "SELECT discreet.pseudonym('Alice', 'names'), discreet.pseudonym('Alice', 'names', 1)",
    "releases": "SELECT release, kind, k, published FROM discreet.releases",
    "ships": "SELECT _row_id, name, port, cargo, tons, _label FROM hr.ship_mls ORDER BY 1",
    "view of charges": "SELECT * FROM hr.my_charges ORDER BY 1, 2",
}


@dataclass(frozen=True)
class History:
    database: Database
    before: dict[str, object]

    def connect(self, user: str) -> Connection:
        return self.database.connect(user)


def state(connection: Connection) -> dict[str, object]:
    return {name: connection.execute(query).fetchall() for name, query in SAME.items()}


@pytest.fixture
def roles(cluster: Cluster, template: str) -> Iterator[None]:
    cluster.sql("; ".join(f"CREATE ROLE {role} LOGIN" for role in ROLES) + "; GRANT discreet_analyst TO up_alice")
    yield
    cluster.sql("; ".join(f"DROP ROLE {role}" for role in ROLES))


@pytest.fixture
def history(cluster: Cluster, roles: None) -> Iterator[History]:
    with created(cluster, "history") as database:
        program("psql", "-Xqo", "/dev/null", "-v", "ON_ERROR_STOP=1", database.dsn(), text=DUMP.read_text())
        admin = database.connect()
        admin.execute("REVOKE SELECT ON discreet.charges FROM discreet_auditor")
        before = state(admin)
        admin.execute("ALTER EXTENSION discreet UPDATE")
        yield History(database, before)


def test_all_that_was_declared_spent_and_written_is_there(history: History) -> None:
    admin = history.connect("postgres")
    assert state(admin) == history.before
    assert all(history.before.values())
    log = admin.execute("SELECT bool_and(intact), sum(charges) FROM discreet.verify_log()").fetchall()
    assert log == [(True, 11)]
    problems = admin.execute(
        "SELECT item, finding FROM discreet.check_installation() WHERE status = 'problem' AND item <> 'way in'"
    )
    assert problems.fetchall() == []


def test_the_objects_are_those_of_a_fresh_install(history: History, admin: Connection) -> None:
    upgraded = snapshot(history.connect("postgres"))
    own = {name for name in upgraded if name.startswith("grants: ") and "up_reader" in name}
    assert len(own) == 4
    # what was taken from a role of the extension stays taken
    taken = "grants: relation discreet.charges discreet_auditor SELECT"
    fresh = {name: found for name, found in snapshot(admin).items() if name != taken}
    assert {name: upgraded[name] for name in upgraded.keys() - own} == fresh


def test_analysts_go_on_where_they_were(history: History) -> None:
    alice, admin = history.connect("up_alice"), history.connect("postgres")
    # a view that create_view() of 0.1.0 made calls query(), which has more arguments now
    ((count,),) = alice.execute("SELECT * FROM hr.headcount").fetchall()
    assert -2000 < count < 2400
    spent = admin.execute("SELECT epsilon_left FROM discreet.budget_status WHERE dataset = 'people' ORDER BY 1")
    assert [float(left) for (left,) in spent.fetchall()] == [1.6, 4.6]
    assert alice.execute("SELECT * FROM hr.headcount").fetchall() == [(count,)]
    alice.execute("SELECT count(*) FROM hr.vote WHERE yes")
    assert admin.execute("SELECT bool_and(intact) FROM discreet.verify_log()").fetchall() == [(True,)]


def test_the_audit_remembers_what_was_answered(history: History) -> None:
    alice = history.connect("up_alice")
    assert alice.execute("SELECT sum(wage) FROM hr.wage WHERE id BETWEEN 100 AND 130").fetchall() == [(34565,)]
    with refused("DP006", "", ""):
        alice.execute("SELECT sum(wage) FROM hr.wage WHERE id BETWEEN 101 AND 130")


def test_multilevel_tables_are_read_and_written_as_before(history: History) -> None:
    low, high = history.connect("up_low"), history.connect("up_high")
    shown = "SELECT name, cargo, tons, tc FROM hr.ship ORDER BY name, tc"
    assert low.execute(shown).fetchall() == [("Argo", "fleece", 40, "U"), ("Swan", "wine", 25, "U")]
    assert [row[:2] for row in high.execute(shown).fetchall()] == [
        ("Argo", "gold"), ("Argo", "fleece"), ("Ghost", "spies"), ("Swan", "wine")
    ]  # fmt: skip
    with refused("23514", 'breaks rule "some_tons"', "tons > 0"):
        low.execute("UPDATE hr.ship SET tons = 0")
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match="names no visible row of"):
        low.execute("UPDATE hr.ship SET port = 'Atlantis' WHERE name = 'Swan'")
    low.execute("UPDATE hr.ship SET tons = 26 WHERE name = 'Swan'")
    assert low.execute("SELECT tons FROM hr.ship WHERE name = 'Swan'").fetchall() == [(26,)]
    history.connect("postgres").execute("SELECT discreet.drop_rule('hr.ship', 'some_tons')")
    low.execute("UPDATE hr.ship SET tons = 0 WHERE name = 'Swan'")


def test_rules_and_responses_still_hold(history: History) -> None:
    admin = history.connect("postgres")
    with refused("23514", 'rule "grade_range"', ""):
        admin.execute("INSERT INTO hr.grade VALUES (2, 7, 'b')")
    admin.execute("INSERT INTO hr.grade VALUES (2, 6, 'a')")
    with refused("23514", 'limit "few_a"', ""):
        admin.execute("INSERT INTO hr.grade VALUES (3, 6, 'a')")
    before = history.before["responses"]
    admin.execute("UPDATE hr.poll SET smoker = true")
    assert admin.execute(SAME["responses"]).fetchall() == before


def test_the_code_of_multilevel_tables_belongs_to_users(history: History) -> None:
    made = history.connect("postgres").execute(
        "SELECT pg_describe_object(classid, objid, objsubid) FROM pg_depend WHERE deptype = 'e'"
        " AND pg_describe_object(classid, objid, objsubid) LIKE '%hr.%'"
    )
    assert made.fetchall() == []
