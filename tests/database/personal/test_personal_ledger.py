"""The ledger of personal budgets: durable, all or nothing, compact, and of a size that questions do not change."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from tests.database.ops.test_dump_and_restore import Move, each_way
from tests.databases import Database, throw_away_cluster
from tests.village import Village

SIZES = "SELECT pg_relation_size('discreet._personal_page'), pg_relation_size('discreet._personal_ledger')"
PAY = """
    SELECT discreet._ledger_personal_pay(jsonb_build_object('dataset', l.dataset, 'schema', 'public',
        'table', '{table}', 'price', {price}, 'digest', encode(l.digest, 'hex')), %b)
    FROM discreet._personal_ledger l WHERE l.dataset = '{dataset}'
"""


def crowd(village: Village, people: int, **options: object) -> None:
    rows = f"SELECT n FROM generate_series(1, {people}) n"
    village.protect("someone", "id bigint PRIMARY KEY", rows, **options)  # type: ignore[arg-type]
    village.admin.execute("SELECT discreet.describe_column('someone', 'id', 0, 1)")


def test_a_person_takes_at_most_eight_bytes_beside_the_key(village: Village) -> None:
    people = 30_000
    crowd(village, people)
    village.ask("SELECT count(*) FROM someone")
    (size,) = village.admin.execute("SELECT pg_table_size('discreet._personal_page')").fetchone() or (0,)
    assert 3 * people < int(str(size)) <= 8 * people


def test_the_ledger_does_not_grow_even_under_an_old_snapshot(village: Village) -> None:
    crowd(village, 5000)
    village.ask("SELECT count(*) FROM someone")
    other = village.database.connect(autocommit=False)
    other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    other.execute("SELECT count(*) FROM discreet._personal_page")
    before = village.admin.execute(SIZES).fetchall()
    for _ in range(20):
        village.ask("SELECT count(*) FROM someone", "0.01")
    assert village.admin.execute(SIZES).fetchall() == before


def wal_of_payment(village: Village, rows: bytes) -> int:
    """Bytes that a payment writes, counted from the beginning of a WAL file."""
    village.admin.execute("SELECT pg_switch_wal()")
    before = village.admin.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
    village.admin.execute(PAY.format(dataset="public.someone", table="someone", price=1), [rows], prepare=False)
    (size,) = village.admin.execute("SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", before).fetchone() or (0,)
    return int(str(size))


def test_as_much_is_written_whoever_pays(village: Village) -> None:
    """WAL positions, which everybody may read, tell nothing; in tables nothing is inserted or updated but the head.

    Now and then the server adds a record of its own, as when it tidies up the page of the head.
    """
    crowd(village, 5000)
    village.ask("SELECT count(*) FROM someone")
    payments = [bytes(5000), b"\1" * 5000, bytes(2500) + b"\1" * 2500, b"\2" + bytes(4999), bytes(5000)]
    assert len({min(wal_of_payment(village, rows) for _ in range(3)) for rows in payments}) == 1


def test_an_aborted_payment_is_none(village: Village) -> None:
    village.ask("SELECT count(*) FROM person")
    pay = PAY.format(dataset="people", table="person", price=50000)
    with village.admin.transaction(force_rollback=True):
        village.admin.execute(pay, [b"\1\1\1"])
    assert set(village.left().values()) == {Decimal("0.9")}
    village.ask("SELECT count(*) FROM person WHERE age > 18")
    assert village.left() == {"ann": Decimal("0.8"), "bob": Decimal("0.8"), "cid": Decimal("0.9")}
    village.admin.execute(pay, [b"\1\1\1"])
    assert village.left() == {"ann": Decimal("0.3"), "bob": Decimal("0.3"), "cid": Decimal("0.4")}


def test_a_ledger_that_was_replaced_is_read_anew(village: Village) -> None:
    """The session remembers numbers of people, which another ledger may have given to others."""
    village.ask("SELECT count(*) FROM person")
    village.admin.execute(
        "TRUNCATE discreet._personal_ledger, discreet._personal_people, discreet._personal_page;"
        "SELECT discreet.set_personal_budget('person', 'cid', 0.5)"
    )
    village.ask("SELECT count(*) FROM person WHERE age < 99", "0.2")
    assert village.left() == {"ann": Decimal("0.8"), "bob": Decimal("0.8"), "cid": Decimal("0.3")}


@each_way
def test_a_restored_dump_knows_what_everybody_has_left(
    village: Village, empty_database: Database, tmp_path: Path, move: Move
) -> None:
    village.admin.execute("SELECT discreet.set_personal_budget('person', 'bob', 5)")
    village.ask("SELECT count(*) FROM person WHERE age > 18", "0.3")
    move(village.database, empty_database, tmp_path)
    restored = empty_database.connect()
    left = restored.execute("SELECT * FROM discreet._personal_left('person') ORDER BY 1").fetchall()
    assert left == [("ann", Decimal("0.7")), ("bob", Decimal("4.7")), ("cid", Decimal(1))]
    nora = empty_database.connect(village.analyst)
    village.ask("SELECT count(*) FROM person", "0.1", connection=nora)
    left = restored.execute("SELECT * FROM discreet._personal_left('person') ORDER BY 1").fetchall()
    assert left == [("ann", Decimal("0.6")), ("bob", Decimal("4.6")), ("cid", Decimal("0.9"))]


def test_what_was_paid_survives_a_crash() -> None:
    """The server stops at once, without writing its buffers."""
    with throw_away_cluster(fsync="on", full_page_writes="on") as cluster:
        cluster.sql(
            "SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE; CREATE ROLE crash_asker LOGIN"
        )
        village = Village(Database(cluster, "postgres"), lambda name: "crash_asker")
        village.ask("SELECT count(*) FROM person", "0.3")
        cluster.sql("CHECKPOINT")
        village.ask("SELECT count(*) FROM person WHERE age > 18", "0.2")
        cluster.stop("immediate")
        cluster.start()
        village.admin = Database(cluster, "postgres").connect()
        assert village.left() == {"ann": Decimal("0.5"), "bob": Decimal("0.5"), "cid": Decimal("0.7")}
        village.ask("SELECT count(*) FROM person", "0.1", connection=village.connect())
        assert village.left() == {"ann": Decimal("0.4"), "bob": Decimal("0.4"), "cid": Decimal("0.6")}
        village.admin.close()
