"""dbt: seeds, staging views, marts, tests, docs; a second build costs nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.clients_more.conftest import PYTHON, run
from tests.office import Office
from tests.tools_table import told

PROJECT = Path(__file__).parent / "dbt"


def dbt(shop: Office, project: Path, *arguments: str) -> str:
    command = [str(PYTHON / "dbt"), "--no-use-colors", *arguments]
    return run(shop, command, cwd=project, DBT_PROFILES_DIR=str(project))


def test_a_project_is_built_tested_and_documented(shop: Office, tmp_path: Path) -> None:
    project = tmp_path / "store"
    shutil.copytree(PROJECT, project)
    looking = shop.questions()
    assert "PASS=11 WARN=0 ERROR=0 SKIP=0" in dbt(shop, project, "build")
    first = shop.questions()
    assert first == 3  # the two counts by city and of active customers, and revenue by month
    assert "PASS=11 WARN=0 ERROR=0 SKIP=0" in dbt(shop, project, "build")
    dbt(shop, project, "docs", "generate")
    again = shop.questions() - first
    assert again == 0
    catalog = json.loads((project / "target" / "catalog.json").read_text())
    assert {"model.store.stg_customer", "model.store.revenue"} <= set(catalog["nodes"])
    assert "source.store.store.customer" in catalog["sources"]
    what = "seeds, staging views, marts, incremental and materialized views, tests, docs"
    hidden = "tests of keys of people; `dbt show` of a staging view"
    told("dbt", what, looking, first, again, hidden, "tests of rows count them with noise: test marts")
    for refused in ("show", "test"):
        (project / "models" / "schema.yml").write_text(
            "sources:\n  - name: store\n    schema: store\n    tables:\n"
            "      - name: purchase\n      - name: customer\n"
            "        columns: [{name: id, data_tests: [unique]}]\n"
        )
        arguments = ["-s", "stg_customer"] if refused == "show" else ["-s", "source:store.customer"]
        shop_says = refusal_of(shop, project, refused, *arguments)
        assert "singles out a person" in shop_says
    assert shop.questions() == first


def refusal_of(shop: Office, project: Path, *arguments: str) -> str:
    try:
        dbt(shop, project, *arguments)
    except AssertionError as failed:
        return str(failed)
    raise AssertionError(f"dbt {' '.join(arguments)} was not refused")
