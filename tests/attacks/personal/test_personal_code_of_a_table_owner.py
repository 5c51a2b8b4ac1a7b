"""Functions in indexes of a table run when a question is planned: they look for who pays, and make others pay."""

from decimal import Decimal

import pytest
from tests.databases import MakeRole
from tests.messages import notices
from tests.village import Village

RAN, LEARNT_NOTHING, LEARNT = 1, 2, 3
# advisory locks stay with the session, whatever is rolled back
SPY = f"""
    CREATE FUNCTION {{schema}}.spy(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
    BEGIN
        RAISE WARNING 'the owner of the table says hello';
        PERFORM pg_advisory_lock({RAN});
        BEGIN
            PERFORM {{call}};
            PERFORM pg_advisory_lock({LEARNT});
        EXCEPTION WHEN insufficient_privilege THEN
            PERFORM pg_advisory_lock({LEARNT_NOTHING});
        END;
        RETURN true;
    END$$;
    CREATE INDEX ON person (age) WHERE {{schema}}.spy(1);
    SELECT pg_advisory_unlock_all();
"""
CALLS = ["discreet._personal_paid('ann'::text)", "discreet._personal_count('cid'::text, true)"]


@pytest.mark.parametrize("call", CALLS)
def test_it_runs_and_learns_nothing(village: Village, make_role: MakeRole, call: str) -> None:
    owner = make_role("mallory")
    village.ask("SELECT count(*) FROM person WHERE age > 18", "0.1")
    village.admin.execute(f"CREATE SCHEMA code AUTHORIZATION {owner}; ALTER TABLE person OWNER TO {owner}")
    village.admin.execute(SPY.format(schema="code", call=call))
    heard = notices(village.nora)
    village.ask("SELECT count(*) FROM person WHERE age > 18", "0.1")
    done = village.nora.execute(
        "SELECT objid::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() ORDER BY 1"
    ).fetchall()
    assert done == [(RAN,), (LEARNT_NOTHING,)]
    assert village.left() == {"ann": Decimal("0.8"), "bob": Decimal("0.8"), "cid": Decimal(1)}
    said = [str(message) for _, message, _ in heard]
    assert len(said) == 1
    assert "epsilon 0.1 spent" in said[0]
