"""What comes from outside without types: the one place where it gets a name. All that is read from it is unchecked.

Nodes of the parser: pglast has no types. Whatever reads a question turns them into the gate's own typed tree
(gate/tree.py), or refuses them. JSON: what the ledger and the catalog send. Values of SQL: columns of rows, and
arguments of statements. Mechanisms: OpenDP has no types either. Arrays: of NumPy, of
doubles, or of integers of any size.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Node: TypeAlias = Any
Json: TypeAlias = Any
SqlValue: TypeAlias = Any
Mechanism: TypeAlias = Any
Array: TypeAlias = Any
