"""What a step of the ledger reads does not grow with the answers, roles and tables that there are."""

from __future__ import annotations

import json

import pytest
from tests.databases import Connection, MakeRole

CROWD = """
    INSERT INTO discreet._answer (key, dataset, epoch, answer)
    SELECT sha256(int4send(n)), 'people', discreet._answers_epoch('people'), '{}' FROM generate_series(1, 30000) n;
    INSERT INTO discreet._budget (dataset, role, epsilon_limit, delta_limit, amount_limit)
    SELECT 'people', n::oid, 1, 0, 1 FROM generate_series(1000000, 1005000) n;
    INSERT INTO discreet._protected_table
        (relation, dataset, unit, unit_attnum, policy, max_groups, max_rows, min_group)
    SELECT n::oid, CASE n % 2 WHEN 0 THEN 'people' ELSE 'crowd ' || n END, 'id', 1, 'noisy', 1, 1, 10
    FROM generate_series(1000000, 1002000) n;
    INSERT INTO discreet._refusal (role, code, message, question)
    SELECT 'crowd', 'DP001', '', '' FROM generate_series(1, 5000);
    INSERT INTO discreet._charge (dataset, id, at, role, epsilon, amount, delta, question, details, hash)
    SELECT 'people', n + 1000, now(), 'crowd', 0, 0, 0, '', '{}', '' FROM generate_series(1, 5000) n;
"""
QUIET = "SET session_replication_role = replica"
# those of the ledger's connection (extension/budget_ledger.c)
SETTINGS = """
    SET plan_cache_mode = force_generic_plan; SET jit = off;
    SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off
"""
SITES = [{"function": "dp_count", "epsilon": "0.001", "sets": 1}]
AGGREGATES: dict[str, object] = {
    "wish": "0.001",
    "inside": ["hr.person"],
    "sites": SITES,
    "all_sites": SITES,
    "keys": {"hr.person.1": "hr.person files"},
}
# those whose request is a list
LISTED = ("price_aggregates", "charge_together", "charge_aggregates")
STEPS: dict[str, dict[str, object]] = {
    "describe": {"path": ["hr"], "relations": [["hr", "person"]], "functions": []},
    "charge_question": {"epsilon": "0.001", "amount": "0.001", "delta": "0", "details": {}},
    "shortage": {"dues": [{"dataset": "people", "amount": "0.001", "delta": "0", "personal": False, "fresh": True}]},
    "price_aggregates": AGGREGATES,
    "charge_together": {"epsilon": "0.001", "amount": "0.001", "details": {}},
    "charge_aggregates": AGGREGATES,
    "recall": {"keys": ["00"]},
    "store": {"measurements": [{"key": "00", "answer": {}}], "accuracy": []},
    "left": {},
    "refused": {"code": "DP001", "message": "no"},
}


def pages_read(admin: Connection, step: str, role: str) -> int:
    """Pages that a step of the ledger reads, once its plans are made, as on the ledger's connection."""
    (oid,) = admin.execute("SELECT 'hr.person'::regclass::oid::bigint").fetchone() or (0,)
    request = {"role": role, "dataset": "people", "question": "a question", **STEPS[step]}
    nodes = [request] if step in LISTED else request
    text = json.dumps(nodes).replace('"hr.person"', str(oid)).replace("hr.person.1", f"{oid}.1")
    ((files,),) = admin.execute("SELECT discreet._files_of('hr.person'::regclass)").fetchall()
    text = text.replace("hr.person files", str(files))
    admin.execute(SETTINGS)
    call = f"SELECT discreet._ledger_{step}(%s::jsonb)"
    for _ in range(2):
        ((answer,),) = admin.execute(call, [text]).fetchall()
        assert "refused" not in json.dumps(answer)
    ((plan,),) = admin.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT json) {call}", [text]).fetchall()
    buffers = plan[0]["Plan"]
    return int(buffers["Shared Hit Blocks"] + buffers["Shared Read Blocks"])


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("analysed", [True, False])
def test_a_step_reads_as_many_pages_on_a_large_ledger(
    admin: Connection, person: str, make_role: MakeRole, step: str, analysed: bool
) -> None:
    role = make_role("alice", "discreet_analyst")
    admin.execute("SELECT discreet.grant_budget('people', %s::regrole, 1)", [role])
    few = pages_read(admin, step, role)
    admin.execute(f"{QUIET}; {CROWD}; RESET session_replication_role")
    if analysed:
        admin.execute("ANALYZE")
    # an index has a level or two more
    assert pages_read(admin, step, role) <= 1.5 * few + 10


ACTS = [
    "discreet.protect('hr.newcomer', 'id', 'people')",
    "discreet.describe_column('hr.newcomer', 'value', 0, 1)",
    "discreet.unprotect('hr.newcomer')",
]


def functions_called(admin: Connection, acts: list[str]) -> list[int]:
    """How many calls of functions in PL/pgSQL each act makes."""

    def calls_so_far() -> int:
        ((calls,),) = admin.execute("SELECT coalesce(sum(calls), 0) FROM pg_stat_xact_user_functions").fetchall()
        return int(calls)

    found: list[int] = []
    for act in acts:
        with admin.transaction():
            before = calls_so_far()
            admin.execute(f"SELECT {act}".encode())
            found.append(calls_so_far() - before)
    return found


def test_an_act_of_a_curator_looks_at_no_other_tables(admin: Connection, person: str) -> None:
    admin.execute("CREATE TABLE hr.newcomer (id int PRIMARY KEY, value int)")
    admin.execute("SET track_functions = 'pl'")
    admin.execute("ANALYZE")  # plans depend on it
    few = functions_called(admin, ACTS)
    admin.execute(f"{QUIET}; {CROWD}; RESET session_replication_role; ANALYZE")
    assert sum(few) > 0
    assert functions_called(admin, ACTS) == few


def test_a_question_deletes_a_few_answers_that_are_old(admin: Connection, person: str) -> None:
    admin.execute(f"{QUIET}; {CROWD}; RESET session_replication_role")
    admin.execute("UPDATE discreet._answer SET at = at - interval '1 day'")
    request = {"dataset": "people", "measurements": [{"key": "00", "answer": {}}], "accuracy": []}
    store = f"SELECT discreet._ledger_store('{json.dumps(request)}')"
    admin.execute(store)
    ((kept,),) = admin.execute("SELECT count(*) FROM discreet._answer").fetchall()
    assert kept == 30000 - 10 + 1
    admin.execute("DELETE FROM discreet._answer WHERE key <> '\\x00' AND sha256(int4send(30)) <> key")
    admin.execute(store)
    assert admin.execute("SELECT key FROM discreet._answer").fetchall() == [(b"\x00",)]


def test_answers_of_an_older_policy_are_not_given_again_though_they_are_still_there(
    admin: Connection, carol: Connection, person: str, make_role: MakeRole
) -> None:
    role = make_role("alice", "discreet_analyst")
    carol.execute("SELECT discreet.grant_budget('people', %s::regrole, 1)", [role])
    admin.execute(f"{QUIET}; {CROWD}; RESET session_replication_role")
    request = "jsonb_build_object('role', %s::text, 'dataset', 'people', 'keys', ARRAY[%s::text])"
    recall = f"SELECT discreet._ledger_recall({request})"
    ((key,),) = admin.execute("SELECT encode(sha256(int4send(30000)), 'hex')").fetchall()
    assert admin.execute(recall, [role, key]).fetchall() == [({key: {}},)]
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 100)")
    ((kept,),) = admin.execute("SELECT count(*) FROM discreet._answer").fetchall()
    assert kept == 30000 - 10
    assert admin.execute(recall, [role, key]).fetchall() == [(None,)]
