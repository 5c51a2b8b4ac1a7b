"""A shop whose customers are the people, over foreign keys of one and two steps.

Its questions, in tests/corpus/shop.sql and people.sql, are those of decision support and of analysts of people.
"""

from __future__ import annotations

from pathlib import Path


def script(name: str) -> str:
    return Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")


TABLES, PROTECTED = script("tables"), script("protected")
