"""Ibis: tables, expressions that become SQL, a view."""

import os

import ibis
from phases import play

database = ibis.postgres.connect(
    host=os.environ["PGHOST"], port=int(os.environ["PGPORT"]), user=os.environ["PGUSER"], database="store"
)
customer = database.table("customer", database="store")
purchase = database.table("purchase", database="store")


def view() -> object:
    stage = database.create_view("staged", customer.mutate(more=customer.rating + 1), database="tess", overwrite=True)
    return stage.agg(mean=stage.more.mean()).execute()


play(
    look={
        "tables": lambda: database.list_tables(database="store"),
        "columns": lambda: list(purchase.schema()),
    },
    ask={
        "count": lambda: int(customer.count().execute()),
        "groups": lambda: (
            customer.group_by("city").agg(n=customer.count(), mean=customer.rating.mean()).execute().to_dict("records")
        ),
        "mutate": lambda: len(
            customer.mutate(old=customer.rating > 3).group_by("old").agg(n=lambda t: t.count()).execute()
        ),
        "join": lambda: len(
            purchase.join(customer, purchase.customer_id == customer.id)
            .group_by("city")
            .agg(total=lambda t: t.amount.sum())
            .execute()
        ),
        "months": lambda: len(
            purchase.mutate(month=purchase.bought.truncate("M")).group_by("month").agg(n=lambda t: t.count()).execute()
        ),
        "view": view,
    },
    rows={"head()": lambda: customer.head().execute(), "describe()": lambda: customer.describe().execute()},
)
