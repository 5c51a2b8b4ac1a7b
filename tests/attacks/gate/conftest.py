"""The attacker of the gate: blind may not read the tables, but holds a budget of 1 for the people."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from dev.cluster import ROOT, Cluster
from tests.attacks.conftest import attacked
from tests.attacks.gate.periods import Shop
from tests.attacks.target import Target
from tests.databases import Connection, Database, MakeRole, created, throw_away_cluster

BOUNDS = "SELECT discreet.describe_column('hr.person', 'salary', 0, 2000)"

VOTERS = """
    CREATE TABLE extra.voter (
        id int PRIMARY KEY, dob date, zip text, gender text, region text, roll_no int, voted boolean, salary int,
        UNIQUE (dob, zip, gender), UNIQUE (region, roll_no));
    INSERT INTO extra.voter
    SELECT n, date '1950-01-01' + n / 8, 'zip ' || n % 4, CASE WHEN n % 8 < 4 THEN 'F' ELSE 'M' END,
           'region ' || n % 5, n / 5, n % 3 = 0, 1000 + n * 7 % 100
    FROM generate_series(1, 800) n;
    SELECT discreet.protect('extra.voter', 'id', dataset => 'people');
    SELECT discreet.describe_column('extra.voter', 'roll_no', 0, 1000),
           discreet.describe_column('extra.voter', 'salary', 0, 2000);
"""


def with_a_budget(target: Target) -> Target:
    target.admin.execute(f"TRUNCATE discreet._answer; {BOUNDS}; SELECT discreet.grant_budget('people', 'blind', 1)")
    return target


@pytest.fixture
def gated(target: Target) -> Target:
    """The attacked database, with nothing stored and a budget for blind and for eve."""
    return with_a_budget(target)


@pytest.fixture
def blind(gated: Target) -> Connection:
    return gated.connect("blind")


@pytest.fixture
def delta(gated: Target) -> Iterator[None]:
    """A delta for the people, without which no unknown group key is shown; a question costs a hundredth, 1e-8."""
    give = "UPDATE discreet._budget SET delta_limit = %s WHERE dataset = 'people'"
    gated.admin.execute(give, [1e-6])
    yield
    gated.admin.execute(give, [0])


@pytest.fixture
def lonely_gated(lonely_target: Target) -> Target:
    """The same in a cluster of its own, which may be crashed."""
    return with_a_budget(lonely_target)


@pytest.fixture(scope="session")
def closed(cluster: Cluster, template: str, attacked_database: Target) -> Iterator[Target]:
    """Another such database, in which the statements of docs/threats.md have closed what PostgreSQL shows to all."""
    with created(cluster, "closed", template) as database:
        target = Target(database)
        target.build()
        (statements,) = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "threats.md").read_text(), re.DOTALL)
        target.admin.execute(statements)
        yield target
        target.close()


@pytest.fixture(scope="session")
def shut_out(closed: Target) -> Connection:
    """blind, in the database in which that is closed."""
    return closed.connect("blind")


@pytest.fixture(scope="session")
def watched_database() -> Iterator[Target]:
    """A cluster of its own, with what a DBA loads to watch statements."""
    with (
        throw_away_cluster(shared_preload_libraries="discreet, pg_stat_statements, auto_explain") as cluster,
        attacked(cluster, None) as target,
    ):
        target.admin.execute("CREATE EXTENSION pg_stat_statements SCHEMA public")
        yield target


@pytest.fixture
def watched(watched_database: Target) -> Iterator[Target]:
    watched_database.reset()
    yield with_a_budget(watched_database)
    watched_database.admin.execute("ALTER ROLE blind RESET ALL")
    watched_database.give_back()
    watched_database.check()


@pytest.fixture
def voters(gated: Target) -> Target:
    """Beside it people of whom (dob, zip, gender) and (region, roll_no) are unique."""
    gated.admin.execute(f"SET client_min_messages = warning; {VOTERS}; RESET client_min_messages")
    return gated


@pytest.fixture
def shop(database: Database, make_role: MakeRole) -> Shop:
    return Shop(database, make_role("ann", "discreet_analyst"))
