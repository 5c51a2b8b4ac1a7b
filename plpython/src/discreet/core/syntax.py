"""The parser's nodes: the one place where they get a type. pglast has none, so all that is read from one is unchecked.

Whatever reads a question turns nodes into the gate's own typed tree (gate/tree.py), or refuses them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Node: TypeAlias = Any
