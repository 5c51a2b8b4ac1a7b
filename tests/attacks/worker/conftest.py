"""A town whose people are protected (tests/database/worker), attacked through its workers."""

from tests.database.worker.conftest import town as town
