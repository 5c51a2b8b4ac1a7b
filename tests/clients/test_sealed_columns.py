"""Sealed columns as docs/sealed.md tells developers to use them: SQLAlchemy, whose connect event opens the key."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Engine, Numeric, create_engine, event, inspect, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from tests.databases import Database, MakeRole
from tests.sealed import SECRET, opened


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    __table_args__ = {"schema": "shop"}  # noqa: RUF012

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    ssn: Mapped[str | None]
    salary: Mapped[Decimal | None] = mapped_column(Numeric(10, 2))
    born: Mapped[date | None]


@pytest.fixture
def engine(database: Database, make_role: MakeRole) -> Iterator[Engine]:
    shop = opened(database, make_role)
    where = f"host={database.cluster.socket}&port={database.cluster.port}"
    engine = create_engine(f"postgresql+psycopg://{shop.app}@/{database.name}?{where}")

    @event.listens_for(engine, "connect")
    def open_key(connection: Any, record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT discreet.open_key('k', %s)", (SECRET,))
        connection.commit()

    yield engine
    engine.dispose()


def test_objects_are_written_found_and_changed(engine: Engine) -> None:
    with Session(engine) as session:
        customers = [Customer(name=f"n{n}", ssn=f"orm-{n}", salary=Decimal(n + 1)) for n in range(50)]
        session.add_all(customers)
        session.commit()
        assert all(customer.id > 0 for customer in customers), "they come by RETURNING"
        found = session.scalars(select(Customer).where(Customer.ssn == "orm-7")).one()
        assert (found.name, found.salary) == ("n7", Decimal(8))
        found.salary = Decimal("12.50")
        session.commit()
        some = select(Customer.salary).where(Customer.ssn.in_(["orm-7", "orm-8"])).order_by(Customer.id)
        assert session.scalars(some).all() == [Decimal("12.50"), Decimal(9)]
        session.delete(found)
        session.commit()
        assert session.scalars(select(Customer).where(Customer.ssn == "orm-7")).first() is None


def test_an_upsert_by_a_searchable_column(engine: Engine) -> None:
    """The number of the row that is there is not that of the one that came: the value is sealed for the right one."""
    statement = insert(Customer).values(name="again", ssn="ssn-3", salary=77)
    update = {"salary": statement.excluded.salary, "name": statement.excluded.name}
    with engine.begin() as connection:
        connection.execute(statement.on_conflict_do_update(index_elements=["ssn"], set_=update))
    with engine.connect() as connection:
        found = connection.execute(select(Customer.id, Customer.name, Customer.salary).where(Customer.ssn == "ssn-3"))
        assert found.all() == [(3, "again", Decimal(77))]


def test_types_are_those_of_before(engine: Engine) -> None:
    inspected = inspect(engine)
    assert inspected.get_view_names("shop") == ["customer"]
    types = {each["name"]: str(each["type"]) for each in inspected.get_columns("customer", "shop")}
    assert (types["salary"], types["ssn"], types["note"]) == ("NUMERIC(10, 2)", "TEXT", "VARCHAR(40)")
