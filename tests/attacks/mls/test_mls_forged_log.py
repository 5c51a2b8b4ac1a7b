"""A trigger of a cleared user's own that reports denied writes which nobody tried."""

from __future__ import annotations

import psycopg
import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection

TRIGGER = """
    CREATE TEMPORARY TABLE own (x int);
    CREATE FUNCTION pg_temp.report() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM discreet._deny('"public"."employee"', 'DELETE', 'forged', NULL);
        RETURN NEW;
    END $$;
    CREATE TRIGGER report BEFORE INSERT ON own FOR EACH ROW EXECUTE FUNCTION pg_temp.report();
"""


def test_nothing_is_written_down(levels: Levels, low: Connection) -> None:
    low.execute(TRIGGER)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for function _deny"):
        low.execute("INSERT INTO own VALUES (1)")
    forged = "SELECT count(*) FROM discreet._label_event WHERE details ->> 'reason' = 'forged'"
    assert levels.admin.execute(forged).fetchone() == (0,)
