"""Large objects, which keep what a row told them."""

import pytest
from tests.attacks.gate.asking import assert_refused
from tests.databases import Connection


@pytest.mark.parametrize(
    "call",
    [
        "lo_create(0)",
        "lo_put(1, 0, 'a')",
        "lo_from_bytea(0, 'a')",
        "lo_get(1)",
        "lo_import('/etc/passwd')",
        "lo_export(1, '/tmp/x')",
        "loread(1, 1)",
        "lo_unlink(1)",
    ],
)
def test_large_objects_are_neither_read_nor_written(blind: Connection, call: str) -> None:
    assert_refused(blind, call)
