"""Functions that read or steer the server, as its owner."""

import pytest
from tests.attacks.gate.asking import assert_refused
from tests.databases import Connection


@pytest.mark.parametrize(
    "call",
    [
        "pg_terminate_backend(1)",
        "pg_cancel_backend(1)",
        "txid_current()",
        "pg_export_snapshot()",
        "has_table_privilege('hr.person', 'SELECT')",
        "pg_relation_size('hr.person')",
        "pg_ls_dir('.')",
        "pg_stat_file('postgresql.conf')",
        "pg_switch_wal()",
        "random()",
        "gen_random_uuid()",
        "version()",
        "inet_client_addr()",
        "pg_backend_pid()",
    ],
)
def test_functions_of_the_server_are_refused(blind: Connection, call: str) -> None:
    assert_refused(blind, call)
