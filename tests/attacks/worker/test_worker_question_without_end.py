"""A question with which Python does not finish: its worker gives up, and serves the others."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.database.waiting import waited_for
from tests.database.worker.asking import Asking, Town, ask
from tests.database.worker.test_worker_servers import built
from tests.databases import throw_away_cluster

ENDLESS = "SELECT count(*) FROM town.citizen WHERE badge < 123123123"
# as code of the gate could: it catches all errors, and goes on
LOOP = """
    plpy.execute("SET application_name = 'works'")
    if b"123123123" in message:
        plpy.execute("SET application_name = 'does not end'")
        while True:
            try:
                for n in range(1000): pass
            except Exception:
                pass
"""
STEP = """
    CREATE OR REPLACE FUNCTION discreet._worker_step(conversation bigint, sender text, catalog bigint, message bytea)
    RETURNS bytea LANGUAGE plpython3u VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    AS $python${}$python$
"""


@pytest.fixture
def looping() -> Iterator[Town]:
    """A town in which one question never ends, with one gate worker that gives up after three seconds."""
    settings = {"discreet.workers": "1", "discreet.step_timeout": "3s"}
    with throw_away_cluster(**settings) as cluster:
        town = built(cluster)
        install_loop(town)
        yield town
        town.database.close()


def install_loop(town: Town) -> None:
    admin = town.database.connect()
    ((source,),) = admin.execute("SELECT prosrc FROM pg_proc WHERE proname = '_worker_step'").fetchall()
    head, imports, call = source.rpartition("    return watched_step")
    admin.execute(STEP.format(head + LOOP + imports + call).encode())
    admin.close()


def is_looping(town: Town) -> bool:
    admin = psycopg.connect(town.database.dsn())
    with admin:
        found = admin.execute("SELECT 1 FROM pg_stat_activity WHERE application_name = 'does not end'").fetchall()
    return found != []


def test_a_question_without_end_is_ended_and_others_are_answered(looping: Town) -> None:
    session, other = looping.asker("query()"), looping.asker("query()")
    ask(other, "query()")
    before = looping.charged()
    endless = Asking(lambda: session.execute(ENDLESS))
    ask(other, "query()")
    assert endless.end() == "DP007"
    with pytest.raises(psycopg.Error, match="did not finish with the question in time"):
        session.execute(ENDLESS)
    ask(session, "query()")
    assert looping.charged() == before + 2


def test_a_question_that_is_cancelled_ends_in_its_worker(looping: Town) -> None:
    """Of others the worker may not think so long: they would wait until the step takes too long."""
    admin = looping.database.connect()
    admin.execute("ALTER SYSTEM SET discreet.step_timeout = '30s'")
    admin.execute("SELECT pg_reload_conf()")
    other = looping.asker("query()")
    ask(other, "query()")
    workers = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'discreet gate worker'"
    before = admin.execute(workers).fetchall()
    for leave in ("pg_cancel_backend", "pg_terminate_backend"):
        session = looping.asker("query()")
        endless = Asking(lambda: session.execute(ENDLESS))  # noqa: B023
        waited_for(lambda: is_looping(looping))
        admin.execute(f"SELECT {leave}(%s)", [session.info.backend_pid])
        assert endless.end() in {"57014", "57P01", None}
        other.execute("SET statement_timeout = '20s'")
        ask(other, "query()")
    assert admin.execute(workers).fetchall() == before


def test_a_server_stops_while_python_does_not_end() -> None:
    with throw_away_cluster(**{"discreet.step_timeout": "30s"}) as cluster:
        town = built(cluster)
        install_loop(town)
        session = town.asker("query()")
        ask(session, "query()")
        endless = Asking(lambda: session.execute(ENDLESS))
        waited_for(lambda: is_looping(town))
        cluster.stop("fast")
        assert endless.end() in {"57P01", "DP007", None}
        assert not cluster.running
