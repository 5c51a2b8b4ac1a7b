"""What discreet.synthesis_report calls."""

from __future__ import annotations

import json

from discreet.core.declarations import given
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy


@sql_errors
def synthesis_report(plpy: Plpy, report: str | None) -> str:
    from discreet.synthesis.page import page

    return page(json.loads(given("report", report)))
