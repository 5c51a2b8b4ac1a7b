"""Django: a model of a multilevel table whose identity is row_id. Prints what each step gives, as JSON."""

import json
import os

import django
from django.conf import settings

CONNECTION = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": os.environ["PGDATABASE"],
    "HOST": os.environ["PGHOST"],
    "PORT": os.environ["PGPORT"],
}
settings.configure(
    DATABASES={
        "default": {},
        "low": CONNECTION | {"USER": os.environ["LOW"]},
        "high": CONNECTION | {"USER": os.environ["HIGH"]},
    }
)
django.setup()

from django.db import DatabaseError, IntegrityError, models  # noqa: E402


class Employee(models.Model):
    row_id = models.BigAutoField(primary_key=True)
    name = models.TextField()
    salary = models.IntegerField(null=True)
    perf = models.TextField(null=True)

    class Meta:
        app_label, db_table, managed = "staff", "employee", False


def labelled(using: str) -> list[list[object]]:
    """With the labels, which are columns for reading."""
    rows = Employee.objects.using(using).raw("SELECT *, salary_label, tc FROM employee ORDER BY name, tc")
    return [[each.name, each.salary, each.salary_label, each.perf, each.tc] for each in rows]


def refused(act: object) -> str:
    try:
        act()  # type: ignore[operator]
    except DatabaseError as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "done"


told: dict[str, object] = {}
low, high = Employee.objects.using("low"), Employee.objects.using("high")

smith = low.create(name="Smith", salary=1, perf="Fair")
told["inserted"] = [smith.pk > 0, low.get(pk=smith.pk).name, labelled("low")]
many = low.bulk_create([Employee(name=f"p{n}", salary=n) for n in range(20)])
told["inserted many"] = sorted(low.filter(pk__in=[each.pk for each in many]).values_list("salary", flat=True))
told["duplicate"] = refused(lambda: low.create(name="Smith"))
assert issubclass(IntegrityError, DatabaseError)

smith.salary = 2
smith.save(update_fields=["salary"])
told["updated"] = low.get(pk=smith.pk).salary
told["deleted many"] = low.filter(name__startswith="p").delete()[0]

above = high.get(name="Smith")
above.perf = "Good"
above.save(update_fields=["perf"])
told["versions"] = labelled("high")
told["below"] = labelled("low")
mine = high.exclude(pk=above.pk).get()
mine.salary = 7
mine.save(update_fields=["salary"])
told["own"] = labelled("high")
told["deleted"] = mine.delete()[0]
told["lower"] = refused(above.delete)
told["key"] = refused(lambda: low.update(name="Jones"))
told["gone"] = low.get(pk=smith.pk).delete()[0]
told["saved again"] = refused(lambda: smith.save(update_fields=["salary"]))
print(json.dumps(told))
