"""Constraints that are NOT ENFORCED (PostgreSQL 18), and keys over time: they promise less than they look."""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.versions import since

pytestmark = since(18)


def test_a_foreign_key_that_is_not_enforced_leads_to_nobody(gated: Target) -> None:
    gated.admin.execute("CREATE TABLE extra.stay (person int, FOREIGN KEY (person) REFERENCES hr.person NOT ENFORCED)")
    with pytest.raises(psycopg.Error, match="foreign key"):
        gated.admin.execute(
            "SELECT discreet.protect('extra.stay', 'person -> hr.person.id', dataset => 'people', max_rows => 1)"
        )


def test_a_key_over_time_is_no_key_of_a_person(gated: Target) -> None:
    gated.admin.execute(
        "CREATE TABLE extra.stay (person int4range, during daterange, PRIMARY KEY (person, during WITHOUT OVERLAPS))"
    )
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="max_rows is missing"):
        gated.admin.execute("SELECT discreet.protect('extra.stay', 'person', dataset => 'people')")
