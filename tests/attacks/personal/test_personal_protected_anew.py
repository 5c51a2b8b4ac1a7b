"""Protected anew, by another unit or another policy: nobody gets a fresh budget."""

from decimal import Decimal

import psycopg
import pytest
from tests.village import Village

QUESTION = "SELECT count(*) FROM person WHERE age > 18"
PAID = {"ann": Decimal("0.9"), "bob": Decimal("0.9"), "cid": Decimal(1)}
PERSONAL = "SELECT discreet.protect('person', '{}', 'people', policy => 'personal', unit_epsilon => 1)"


def protect_by(village: Village, unit: str) -> None:
    village.admin.execute(PERSONAL.format(unit))
    village.admin.execute("SELECT discreet.describe_column('person', 'age', 0, 100)")


def test_another_unit(village: Village) -> None:
    """A new name for everybody would be a new person for the ledger."""
    village.ask(QUESTION)
    village.admin.execute("SELECT discreet.unprotect('person')")
    village.admin.execute("ALTER TABLE person ADD badge int GENERATED ALWAYS AS IDENTITY UNIQUE")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="have paid by column name"):
        protect_by(village, "badge")
    protect_by(village, "name")
    assert village.left() == PAID


def test_a_renamed_unit_is_the_same(village: Village) -> None:
    village.ask(QUESTION)
    village.admin.execute("SELECT discreet.unprotect('person')")
    village.admin.execute("ALTER TABLE person RENAME name TO badge; ALTER TABLE person ADD name text")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="have paid by column badge"):
        protect_by(village, "name")
    protect_by(village, "badge")
    village.ask(QUESTION)
    assert village.left() == {"ann": Decimal("0.8"), "bob": Decimal("0.8"), "cid": Decimal(1)}


def test_personal_then_noisy(village: Village) -> None:
    village.ask(QUESTION)
    village.admin.execute("SELECT discreet.unprotect('person')")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="have paid for questions themselves"):
        village.admin.execute("SELECT discreet.protect('person', 'name', 'people', max_rows => 1)")


def test_noisy_then_personal(village: Village) -> None:
    village.admin.execute("SELECT discreet.unprotect('person')")
    village.admin.execute("SELECT discreet.protect('person', 'name', 'people', max_rows => 1)")
    village.ask(QUESTION)
    village.admin.execute("SELECT discreet.unprotect('person')")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=r"have lost epsilon 0\.1 already"):
        protect_by(village, "name")
