"""SQLModel: models, aggregates, joins."""

import os
from decimal import Decimal

from phases import play
from sqlmodel import Field, Session, SQLModel, create_engine, func, select, text

where = f"host={os.environ['PGHOST']}&port={os.environ['PGPORT']}"
engine = create_engine(f"postgresql+psycopg://{os.environ['PGUSER']}@/store?{where}")


class Customer(SQLModel, table=True):
    __table_args__ = {"schema": "store"}
    id: int = Field(primary_key=True)
    city: str
    active: bool
    rating: int | None


class Purchase(SQLModel, table=True):
    __table_args__ = {"schema": "store"}
    id: int = Field(primary_key=True)
    customer_id: int = Field(foreign_key="store.customer.id")
    amount: Decimal


def asked(statement: object) -> object:
    with Session(engine) as session:
        return [tuple(row) if isinstance(row, tuple) else str(row) for row in session.exec(statement).all()]


BY_CITY = select(Customer.city, func.count(Customer.id), func.avg(Customer.rating)).group_by(Customer.city)
play(
    look={"columns": lambda: asked(select(Customer).where(text("0 = 1")))},
    ask={
        "count": lambda: asked(select(func.count()).select_from(Customer)),
        "groups": lambda: asked(BY_CITY.where(Customer.active).order_by(Customer.city)),
        "join": lambda: asked(select(Customer.city, func.sum(Purchase.amount)).join(Purchase).group_by(Customer.city)),
    },
    rows={"select(Model)": lambda: asked(select(Customer))},
)
