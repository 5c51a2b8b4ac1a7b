"""Django: models of tables that are there, aggregates, calendar functions in a time zone, inspectdb."""

import io
import os

import django
from django.conf import settings

settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": "store",
            "USER": os.environ["PGUSER"],
            "HOST": os.environ["PGHOST"],
            "PORT": os.environ["PGPORT"],
            "OPTIONS": {"options": "-c search_path=store " + os.environ.get("SETTINGS", "")},
        }
    },
    USE_TZ=True,
    TIME_ZONE="Europe/Paris",
)
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.db.models import Avg, Count, Exists, F, OuterRef, Q, Sum  # noqa: E402
from django.db.models.functions import ExtractYear, TruncDate, TruncMonth  # noqa: E402
from phases import play  # noqa: E402


class Customer(models.Model):
    city = models.TextField()
    active = models.BooleanField()
    rating = models.IntegerField(null=True)

    class Meta:
        app_label, db_table, managed = "store", "customer", False


class Purchase(models.Model):
    customer = models.ForeignKey(Customer, models.DO_NOTHING)
    bought = models.DateTimeField()
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    paid_by = models.TextField()

    class Meta:
        app_label, db_table, managed = "store", "purchase", False


def inspected() -> str:
    out = io.StringIO()
    call_command("inspectdb", stdout=out)
    assert "Unable" not in out.getvalue(), out.getvalue()
    return out.getvalue()


people, bought = Customer.objects, Purchase.objects
play(
    look={"tables": connection.introspection.table_names},
    ask={
        "count": people.count,
        "filters": lambda: people.filter(city__icontains="a", rating__gte=3).count(),
        "groups": lambda: list(people.values("city").annotate(n=Count("id"), mean=Avg("rating")).order_by("-n")),
        "share": lambda: people.aggregate(n=Count("id", filter=Q(active=True))),
        "months": lambda: len(
            bought.annotate(m=TruncMonth("bought")).values("m").annotate(n=Count("id")).order_by("m")
        ),
        "days": lambda: len(bought.annotate(d=TruncDate("bought")).values("d").annotate(n=Count("id"))),
        "years": lambda: len(bought.annotate(y=ExtractYear("bought")).values("y").annotate(n=Count("id"))),
        "a year": lambda: bought.filter(bought__year=2026).aggregate(total=Sum(F("amount") * 2)),
        "join": lambda: list(bought.values("customer__city").annotate(total=Sum("amount"))),
        "exists": lambda: people.filter(Exists(bought.filter(customer=OuterRef("pk"), amount__gt=100))).count(),
        "choices": lambda: list(people.values_list("city", flat=True).distinct()),
    },
    rows={
        "objects.all()": lambda: list(people.all()[:3]),
        "exists()": lambda: people.filter(active=True).exists(),
        "inspectdb": inspected,
    },
)
