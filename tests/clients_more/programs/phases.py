"""How the programs in Python are called: with the name of what to do; they print what came of it as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping

Calls = Mapping[str, Callable[[], object]]


def tried(calls: Calls) -> dict[str, str]:
    """What is refused, by the message; what is not, by what it gave."""
    told = {}
    for name, call in calls.items():
        try:
            told[name] = f"answered: {call()}"
        except Exception as error:
            told[name] = str(error)
    return told


def play(look: Calls, ask: Calls, rows: Calls) -> None:
    phase = {"look": look, "ask": ask}.get(sys.argv[1])
    told = tried(rows) if phase is None else {name: call() for name, call in phase.items()}
    print("\n" + json.dumps(told, default=str))
