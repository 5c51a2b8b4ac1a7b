"""Loads pglast into a PostgreSQL backend.

Both hold PostgreSQL's parser: without care the names inside pglast's library (palloc, raw_parser …) would be bound to
those of the server around it, and the backend would crash. RTLD_DEEPBIND binds them to the library's own.
"""

from __future__ import annotations

import os
import sys


def load_parser() -> None:
    """Imports pglast; harmless when it is imported already."""
    if "pglast" in sys.modules:
        return
    usual = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
    try:
        import pglast  # noqa: F401
    finally:
        sys.setdlopenflags(usual)
