"""Superset, by its API: a dashboard of five charts costs them once; filter lists and opening it again cost nothing."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from copy import deepcopy
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from tests.clients_more.conftest import INSTALLED, environment, free_port
from tests.office import CANARY, Office
from tests.store import ANALYST
from tests.tools_table import told

PROGRAM = INSTALLED / "superset" / "bin" / "superset"
CONFIGURATION = """
SECRET_KEY = "for a test only, on a server that is thrown away"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
WTF_CSRF_ENABLED = TALISMAN_ENABLED = RATELIMIT_ENABLED = False
"""
SPRING, YEAR = "2026-02-01 : 2026-06-01", "2026-01-01 : 2027-01-01"


def metric(aggregate: str, column: str) -> dict[str, Any]:
    return {
        "expressionType": "SIMPLE", "aggregate": aggregate, "column": {"column_name": column},
        "label": f"{aggregate}({column})",
    }  # fmt: skip


def during(period: str) -> list[dict[str, str]]:
    return [{"col": "bought", "op": "TEMPORAL_RANGE", "val": period}]


MONTH = {
    "timeGrain": "P1M", "columnType": "BASE_AXIS", "sqlExpression": "bought", "label": "bought",
    "expressionType": "SQL",
}  # fmt: skip
CHARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "big_number_total": ("customer", {"metrics": ["count"]}),
    "dist_bar": (
        "customer",
        {"columns": ["city"], "metrics": ["count", metric("AVG", "rating")], "orderby": [["count", False]]},
    ),
    "echarts_timeseries_line": (
        "purchase",
        {"columns": [MONTH, "paid_by"], "metrics": [metric("SUM", "amount")], "filters": during(YEAR),
         "series_columns": ["paid_by"]},
    ),
    "pie": ("purchase", {"columns": ["paid_by"], "metrics": ["count"], "filters": during(YEAR)}),
    "table": ("customer", {"columns": ["segment", "active"], "metrics": [metric("AVG", "height")], "row_limit": 1000}),
}  # fmt: skip
FILTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "city": ("customer", {"columns": ["city"], "row_limit": 1000}),
    "segment": ("customer", {"columns": ["segment"], "row_limit": 1000}),
    "paid_by": ("purchase", {"columns": ["paid_by"], "row_limit": 1000, "filters": during(YEAR)}),
}


class Superset:
    """Its API, as its administrator."""

    def __init__(self, url: str) -> None:
        self._url, self._token = url, ""
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar())).open
        self.datasets: dict[str, int] = {}

    def __call__(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, method=method, data=data, headers=headers)
        try:
            with self._open(request, timeout=300) as reply:
                text = reply.read().decode()
        except urllib.error.HTTPError as error:
            text = json.dumps({"refused": error.read().decode()})
        assert not CANARY.search(text)
        answer: dict[str, Any] = json.loads(text)
        return answer

    def is_up(self) -> bool:
        try:
            with self._open(self._url + "/health", timeout=5) as reply:
                return bool(reply.read() == b"OK")
        except OSError:
            return False

    def log_in(self) -> None:
        who = {"username": "admin", "password": "admin", "provider": "db"}
        self._token = self("POST", "/api/v1/security/login", who)["access_token"]

    def add_tables(self, uri: str) -> dict[str, Any]:
        base = {"database_name": "store", "sqlalchemy_uri": uri}
        assert self("POST", "/api/v1/database/test_connection/", base) == {"message": "OK"}
        number = self("POST", "/api/v1/database/", base)["id"]
        tables = self("GET", f"/api/v1/database/{number}/tables/?q=(schema_name:store)")
        for table in ("customer", "purchase"):
            made = {"database": number, "schema": "store", "table_name": table}
            self.datasets[table] = self("POST", "/api/v1/dataset/", made)["id"]
        return tables

    def add_dashboard(self, title: str, charts: list[int]) -> int:
        """The charts in one row, and a native filter for each of FILTERS, which concerns the charts of its table."""
        named = {f"CHART-{number}": number for number in charts}
        position: dict[str, Any] = {
            "DASHBOARD_VERSION_KEY": "v2",
            "ROOT_ID": {"id": "ROOT_ID", "type": "ROOT", "children": ["GRID_ID"]},
            "GRID_ID": {"id": "GRID_ID", "type": "GRID", "children": ["ROW-1"], "parents": ["ROOT_ID"]},
            "ROW-1": {"id": "ROW-1", "type": "ROW", "children": list(named), "parents": ["ROOT_ID", "GRID_ID"]},
        } | {
            name: {"id": name, "type": "CHART", "children": [], "parents": ["ROOT_ID", "GRID_ID", "ROW-1"],
                   "meta": {"chartId": number, "width": 2, "height": 50}}
            for name, number in named.items()
        }  # fmt: skip
        filters = [
            {"id": f"NATIVE_FILTER-{column}", "name": column, "type": "NATIVE_FILTER", "filterType": "filter_select",
             "targets": [{"datasetId": self.datasets[table], "column": {"name": column}}], "cascadeParentIds": [],
             "scope": {"rootPath": ["ROOT_ID"], "excluded": []}, "defaultDataMask": {}, "controlValues": {}}
            for column, (table, _) in FILTERS.items()
        ]  # fmt: skip
        number = int(self("POST", "/api/v1/dashboard/", {
            "dashboard_title": title, "published": True, "position_json": json.dumps(position),
            "json_metadata": json.dumps({"native_filter_configuration": filters}),
        })["id"])  # fmt: skip
        for chart in charts:
            self("PUT", f"/api/v1/chart/{chart}", {"dashboards": [number]})
        return number

    def parts(self, dashboard: int) -> tuple[dict[str, tuple[str, str]], dict[str, int]]:
        """Of a dashboard: its native filters, each with table and column; its charts by their names."""
        about = self("GET", f"/api/v1/dashboard/{dashboard}")["result"]
        tables = {number: table for table, number in self.datasets.items()}
        filters = {}
        for each in json.loads(about["json_metadata"])["native_filter_configuration"]:
            (target,) = each["targets"]
            filters[each["name"]] = tables[target["datasetId"]], target["column"]["name"]
        charts = self("GET", f"/api/v1/dashboard/{dashboard}/charts")["result"]
        return filters, {each["slice_name"]: each["id"] for each in sorted(charts, key=lambda chart: int(chart["id"]))}

    def chart(self, number: int) -> tuple[str, dict[str, Any]]:
        """The table and the query of a chart, as they were saved."""
        about = self("GET", f"/api/v1/chart/{number}")["result"]
        saved = json.loads(about["query_context"])
        return saved["table"], saved["query"]

    def rows(self, table: str, query: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
        """The data of a chart, by the database: never from Superset's own cache."""
        body = {
            "datasource": {"id": self.datasets[table], "type": "table"}, "force": True, "result_format": "json",
            "queries": [{"columns": [], "metrics": [], "row_limit": 100} | deepcopy(query) | more],
        }  # fmt: skip
        answer = self("POST", "/api/v1/chart/data", body)
        assert "result" in answer, answer
        found: list[dict[str, Any]] = answer["result"][0]["data"]
        return found


@pytest.fixture(scope="module")
def superset(store_database: Office, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Superset]:
    folder: Path = tmp_path_factory.mktemp("superset")
    (folder / "superset_config.py").write_text(CONFIGURATION.format(folder=folder))
    variables = environment(
        store_database, SUPERSET_HOME=str(folder), SUPERSET_CONFIG_PATH=str(folder / "superset_config.py")
    )
    named = {"username": "admin", "firstname": "a", "lastname": "b", "email": "a@example.org", "password": "admin"}
    admin = [argument for name, value in named.items() for argument in (f"--{name}", value)]
    for command in (["db", "upgrade"], ["fab", "create-admin", *admin], ["init"]):
        done = subprocess.run([PROGRAM, *command], env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    port = free_port()
    with (folder / "log").open("w") as log:
        server = subprocess.Popen([PROGRAM, "run", "-p", str(port)], env=variables, stdout=log, stderr=log)
    try:
        api = Superset(f"http://localhost:{port}")
        deadline = time.monotonic() + 300
        while not api.is_up():
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail((folder / "log").read_text()[-3000:])
            time.sleep(1)
        api.log_in()
        yield api
    finally:
        server.terminate()
        server.wait(60)


def test_a_dashboard_costs_its_charts_once(shop: Office, superset: Superset) -> None:
    where = f"127.0.0.1:{shop.database.cluster.port}/store"
    tables = superset.add_tables(f"postgresql+psycopg2://{ANALYST}@{where}")
    assert {table["value"] for table in tables["result"]} == {"category", "customer", "purchase"}
    charts = [
        superset("POST", "/api/v1/chart/", {
            "slice_name": kind, "viz_type": kind, "datasource_id": superset.datasets[table], "datasource_type": "table",
            "query_context": json.dumps({"table": table, "query": query}),
        })["id"]
        for kind, (table, query) in CHARTS.items()
    ]  # fmt: skip
    dashboard = superset.add_dashboard("Store", charts)
    looking = shop.questions()
    assert looking == 0

    def opened(**more: Any) -> list[list[dict[str, Any]]]:
        """As its page does: the filters of the dashboard list their values, then its charts ask."""
        filters, shown = superset.parts(dashboard)
        assert set(filters) == set(FILTERS)
        assert shown == dict(zip(CHARTS, charts, strict=True))
        for table, column in filters.values():
            assert len(superset.rows(table, FILTERS[column][1])) in (2, 3)
        found = []
        for kind, number in shown.items():
            table, query = superset.chart(number)
            assert (table, query) == CHARTS[kind]
            found.append(superset.rows(table, query, **more))
        return found

    first_answers = opened()
    assert all(first_answers)
    first, price = shop.questions(), shop.spent()
    assert first == 5
    adopted = shop.truth("SELECT sum(epsilon) FROM discreet._charge")[0][0]
    assert adopted == price == 5  # epsilon 1 for each chart
    assert opened() == first_answers
    assert [len(rows) for rows in opened(row_limit=2)] == [1, 2, 2, 2, 2]
    again = shop.questions() - first
    assert (again, shop.spent()) == (0, price)

    # another time range is another measurement for the charts that it filters, and for no other
    line, table = dict(CHARTS["echarts_timeseries_line"][1]), dict(CHARTS["table"][1])
    superset.rows("purchase", line, filters=during(SPRING))
    superset.rows("customer", table)
    assert shop.questions() == first + 1
    superset.rows("purchase", line, filters=during(SPRING))
    assert shop.questions() == first + 1
    # a filter on a declared category is a cell of what is known
    (bath,) = superset.rows("customer", CHARTS["dist_bar"][1], filters=[{"col": "city", "op": "IN", "val": ["Bath"]}])
    assert bath in first_answers[1]
    assert shop.questions() == first + 1
    refused = superset("POST", "/api/v1/chart/data", {
        "datasource": {"id": superset.datasets["customer"], "type": "table"}, "queries": [{"row_limit": 10}],
        "result_type": "samples",
    })  # fmt: skip
    assert "singles out a person" in str(refused)
    what = "datasets, a dashboard of five charts and three filters"
    told("Superset", what, looking, first, again, "samples, drill to detail")
