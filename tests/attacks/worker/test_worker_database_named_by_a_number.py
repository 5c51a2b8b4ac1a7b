"""A database whose name is given as a number: what looks at commands about databases must not take it for a text.

Nobody needs a right for the attack: commands are looked at before PostgreSQL checks whether the role may run them.
"""

import psycopg
import pytest
from tests.database.worker.asking import Town


@pytest.mark.parametrize("number", ["5", "-1", "2147483647", "1.5", "DEFAULT"])
def test_a_template_that_is_a_number_is_a_name(town: Town, number: str) -> None:
    session = town.database.connect(town.analyst)
    before = session.info.backend_pid
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(f"CREATE DATABASE stolen TEMPLATE = {number}".encode())
    assert session.execute("SELECT pg_backend_pid()").fetchall() == [(before,)]
