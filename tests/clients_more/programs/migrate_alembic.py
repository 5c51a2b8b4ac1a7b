"""Alembic runs the migration of docs/migrations.md twice: `migrations` is a folder with its script and declarations.sql."""

import os
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config

where = f"host={os.environ['PGHOST']}&port={os.environ['PGPORT']}"
config = Config()
config.set_main_option("script_location", str(Path(sys.argv[1])))
config.set_main_option(
    "sqlalchemy.url", f"postgresql+psycopg://{os.environ['PGUSER']}@/{os.environ['PGDATABASE']}?{where}"
)
command.upgrade(config, "head")
command.downgrade(config, "base")
command.upgrade(config, "head")
