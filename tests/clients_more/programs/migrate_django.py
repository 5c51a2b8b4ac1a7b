"""Django runs the migration of docs/migrations.md twice: `ward` is an app in the folder that is named."""

import os
import sys

import django
from django.conf import settings
from django.core.management import call_command

sys.path.insert(0, sys.argv[1])
settings.configure(
    INSTALLED_APPS=["ward"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
            "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"],
        }
    },
)  # fmt: skip
django.setup()
for target in ("0002", "0001", "0002"):
    call_command("migrate", "ward", target, verbosity=0)
