"""Whole schemas to adopt: of decision support, of a clinic, and 60 tables as an object-relational mapper makes them."""

from __future__ import annotations

from pathlib import Path

AREAS = ("billing", "support", "content", "events", "health", "travel", "loyalty")
ROWS = """
    INSERT INTO app."user" (plan, "isActive", age) SELECT 'free', n % 3 = 0, n % 90 FROM generate_series(1, 2000) n;
    INSERT INTO app.billing SELECT n, 1 + n % 2000, NULL, 'new', n % 10 FROM generate_series(1, 4000) n;
"""


def script(name: str) -> str:
    return Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")


DECISIONS, CLINIC = script("decisions"), script("clinic")
# four tables, and eight of each area
MAPPED = "\n".join([script("mapped"), *(script("area").replace("{area}", area) for area in AREAS), ROWS])
