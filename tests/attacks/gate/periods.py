"""A shop whose budget is kept by months, of which January is the one that matters."""

from __future__ import annotations

from decimal import Decimal

from tests.databases import Connection, Database

SHOP = """
    CREATE SCHEMA shop;
    CREATE TABLE shop.visit (id int PRIMARY KEY, who int, pages int, at timestamptz);
    INSERT INTO shop.visit SELECT n, n % 200, n % 9, timestamptz '2026-01-01 00:00+00' + n * interval '2 hours'
    FROM generate_series(0, 12 * 90 - 1) n;
    SELECT discreet.create_dataset('shop', 20, period => '1 month');
    SELECT discreet.protect('shop.visit', 'who', 'shop', max_rows => 10, "time" => 'at');
    SELECT discreet.describe_column('shop.visit', 'pages', 0, 9);
    UPDATE discreet._dataset SET created_at = '2026-01-01';
"""
JANUARY = "at >= '2026-01-01' AND at < '2026-02-01'"


class Shop:
    def __init__(self, database: Database, analyst: str) -> None:
        self.database, self.analyst, self.admin = database, analyst, database.connect()
        self.admin.execute(SHOP)
        self.admin.execute("SELECT discreet.grant_budget('shop', %s::regrole, 20)", [analyst])

    def connect(self) -> Connection:
        return self.database.connect(self.analyst)

    def ask(self, question: str, epsilon: object = 5, connection: Connection | None = None) -> float:
        given = [question, Decimal(str(epsilon))]
        asker = connection or self.connect()
        ((row,),) = asker.execute("SELECT discreet.query_json(%s, %s, fresh => true)", given).fetchall()
        (answer,) = row.values()
        return float(answer)

    def spent(self) -> dict[str, Decimal]:
        rows = self.admin.execute("SELECT period::text, amount_spent FROM discreet._period_spent WHERE role = 0")
        return dict(rows.fetchall())

    def run_dry(self, month: str = JANUARY) -> None:
        self.ask(f"SELECT count(*) FROM shop.visit WHERE {month}", 20)
