"""set_config and what reads settings: a question that changes what the next one means."""

import pytest
from tests.attacks.gate.asking import assert_refused
from tests.databases import Connection


@pytest.mark.parametrize(
    "call",
    [
        "set_config('discreet.epsilon', '100', false)",
        "set_config('track_counts', 'on', true)",
        "current_setting('data_directory')",
        "pg_reload_conf()",
        "setseed(0.5)",
    ],
)
def test_settings_are_neither_read_nor_set(blind: Connection, call: str) -> None:
    assert_refused(blind, call)
