"""Declarations in migrations, as docs/migrations.md shows them: by Alembic and Django, also reversed and run again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev.cluster import ROOT, Cluster
from tests.clients_more.conftest import PROGRAMS, PYTHON, run
from tests.databases import Database, created
from tests.office import Office

PAGE = (ROOT / "docs" / "migrations.md").read_text(encoding="utf-8")
# makes the role of migrations and the tables
BEFORE = re.findall(r"<!-- before\n(.*?)-->", PAGE, re.DOTALL)[0]
DECLARATIONS = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)[0]
STATE = "SELECT relation::text, unit, policy, max_rows FROM discreet.protected_tables ORDER BY 1"
COLUMNS = "SELECT column_name, lower, upper, categories, visibility FROM discreet.protected_columns ORDER BY 1"
DATASETS = "SELECT dataset, epsilon_limit FROM discreet.datasets WHERE dataset = 'ward'"
REVISION = """
from pathlib import Path
from alembic import op
revision, down_revision = "7", None

{snippet}"""
ENVIRONMENT = """
from alembic import context
from sqlalchemy import create_engine
with create_engine(context.config.get_main_option("sqlalchemy.url")).connect() as connection:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
"""
MIGRATION = '''
from django.db import migrations
DECLARATIONS = """{declarations}"""

class Migration(migrations.Migration):
    dependencies = [("ward", "0001_tables")]
    {snippet}'''
TABLES = """
from django.db import migrations
class Migration(migrations.Migration):
    operations = []
"""


@pytest.fixture
def ward(cluster: Cluster, template: str) -> Iterator[Database]:
    with created(cluster, "ward", template) as database:
        database.connect().execute(BEFORE.replace("discreet_demo", "ward").encode())
        # for the tables in which they note what was run
        database.connect().execute("GRANT CREATE ON SCHEMA public TO clinic_owner")
        yield database
    cluster.sql("DROP ROLE clinic_owner, clinic_dashboards")


def snippet(title: str) -> str:
    return re.findall(r"```text\n(.*?)```", PAGE.split(f"## In {title}")[1], re.DOTALL)[0]


def migrated(ward: Database, program: str, folder: Path) -> None:
    """Runs the program in the name of the owner; after that all is declared as the page says, once."""
    command = [str(PYTHON / "python"), str(PROGRAMS / f"migrate_{program}.py"), str(folder)]
    admin = ward.connect()
    assert admin.execute(STATE).fetchall() == []
    run(Office(ward), command, PGUSER="clinic_owner", PGDATABASE="ward")
    assert admin.execute(STATE).fetchall() == [
        ("ward.kind", None, "public", 1), ("ward.patient", "id", "noisy", 1), ("ward.visit", "patient_id", "noisy", 10),
    ]  # fmt: skip
    assert admin.execute(COLUMNS).fetchall() == [
        ("age", 0, 120, None, "sensitive"), ("cost", 0, 5000, None, "sensitive"),
        ("name", None, None, None, "hidden"), ("sex", None, None, ["f", "m"], "sensitive"),
    ]  # fmt: skip
    assert admin.execute(DATASETS).fetchall() == [("ward", 5)]


def test_alembic_runs_the_declarations(ward: Database, tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENVIRONMENT)
    (tmp_path / "versions" / "declarations.sql").write_text(DECLARATIONS)
    (tmp_path / "versions" / "declarations.py").write_text(REVISION.format(snippet=snippet("Alembic")))
    migrated(ward, "alembic", tmp_path)


def test_django_runs_the_declarations(ward: Database, tmp_path: Path) -> None:
    folder = tmp_path / "ward" / "migrations"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").write_text("")
    (folder / "0001_tables.py").write_text(TABLES)
    (folder / "0002_declarations.py").write_text(MIGRATION.format(declarations=DECLARATIONS, snippet=snippet("Django")))
    migrated(ward, "django", tmp_path)
