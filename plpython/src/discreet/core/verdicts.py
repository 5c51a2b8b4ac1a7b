"""Which errors of PostgreSQL are about the statement that it was given.

Whatever else ends a statement (a cancel or timeout, a lock that was not free, a deadlock, memory or disk that ran out,
a shutdown) says nothing about it: such an error keeps its SQLSTATE, and is not a refusal.
"""

from __future__ import annotations

# classes of SQLSTATE: features, cardinality, values, constraints, names and types, checks of views, PostgreSQL's limits
JUDGING = frozenset(["0A", "21", "22", "23", "42", "44", "54"])


def judges(error: Exception) -> bool:
    """Whether an error of the server would come again with the same statement."""
    return str(getattr(error, "sqlstate", None))[:2] in JUDGING
