"""How clients in Python reach the office."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine
from tests.office import ANALYST, Office


@pytest.fixture
def engine(office: Office) -> Iterator[Engine]:
    """SQLAlchemy's, of the analyst."""
    cluster = office.database.cluster
    engine = create_engine(
        f"postgresql+psycopg://{ANALYST}@/{office.database.name}?host={cluster.socket}&port={cluster.port}"
    )
    yield engine
    engine.dispose()
