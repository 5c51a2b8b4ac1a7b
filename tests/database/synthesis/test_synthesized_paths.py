"""Tables whose rows have their person over foreign keys, and how much one person changes what is counted."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from tests.database.synthesis.clinic import spent, value
from tests.databases import Connection

from discreet.synthesis.columns import Category, Column
from discreet.synthesis.problem import Counts, Layout, decoded
from discreet.synthesis.statements import Coded, Counted, Parent, SourceTable, people_sql, rows_sql

DRUGS = """
    CREATE TABLE clinic.drug (
        drug_id bigint PRIMARY KEY, visit_id bigint NOT NULL REFERENCES clinic.visit, given boolean NOT NULL);
    INSERT INTO clinic.drug SELECT row_number() OVER (), visit_id, v.ward = 'lungs'
    FROM clinic.visit v, generate_series(1, 2) WHERE v.patient_id % 5 > 0;
    SELECT discreet.protect('clinic.drug', 'visit_id -> clinic.visit.patient_id', 'clinic', max_rows => 6)
"""
EVERY = "ARRAY['clinic.drug', 'clinic.patient', 'clinic.visit'], ARRAY['d', 'p', 'v']"
COLUMNS = "columns => ARRAY['id', 'smoker', 'mood', 'visit_id', 'patient_id', 'ward', 'drug_id', 'given']"


@pytest.fixture
def drugs(clinic: Connection) -> Connection:
    for statement in DRUGS.strip().split(";\n"):
        clinic.execute(statement)
    return clinic


def test_rows_have_their_person_over_their_parent(drugs: Connection) -> None:
    drugs.execute(f"SELECT discreet.synthesize({EVERY}, 30, 1e-6, {COLUMNS})")
    assert spent(drugs)[0] == 1
    rows = value(drugs, "SELECT count(*) FROM clinic.d")
    assert 0.8 < rows / value(drugs, "SELECT count(*) FROM clinic.drug") < 1.2
    assert value(drugs, "SELECT count(*) FROM clinic.d JOIN clinic.v USING (visit_id)") == rows
    most = "SELECT max(n) FROM (SELECT count(*) n FROM clinic.d JOIN clinic.v USING (visit_id) GROUP BY patient_id) t"
    assert 3 <= value(drugs, most) <= 6
    # smokers were in ward lungs, where drugs were given
    share = """
        SELECT avg(d.given::int) FROM clinic.d JOIN clinic.v USING (visit_id) JOIN clinic.p ON p.id = v.patient_id
        WHERE p.smoker
    """
    assert value(drugs, share) > 0.8


def test_a_table_by_path_is_made_alone_too(drugs: Connection) -> None:
    drugs.execute("SELECT discreet.synthesize('clinic.drug', 'clinic.d', 20, 1e-6)")
    assert 0.8 < value(drugs, "SELECT count(*) FROM clinic.d") / value(drugs, "SELECT count(*) FROM clinic.drug") < 1.2
    assert value(drugs, "SELECT max(n) FROM (SELECT count(*) n FROM clinic.d GROUP BY visit_id) t") == 6


SMOKER = Coded(Column("smoker", "boolean", "boolean"), Category(("false", "true"), True))
WARD = Coded(Column("ward", "text", "text", True), Category(("heart", "lungs", "bones"), False))
GIVEN = Coded(Column("given", "boolean", "boolean", True), Category(("false", "true"), False))
PATIENT = SourceTable("clinic", "patient", "id")
VISIT = SourceTable("clinic", "visit", "patient_id")
DRUG = SourceTable("clinic", "drug", "visit_id", (Parent("clinic", "visit", "visit_id", "patient_id"),))
PEOPLE = Layout((3, 3, 3), ((0,), (1,), (2,), (0, 1), (0, 2)))
VISITS = Layout((3, 3), ((0,), (1,), (0, 1)))
STATEMENTS = {
    "people": (1, PEOPLE, people_sql(PATIENT, [SMOKER], [Counted(VISIT, 2), Counted(DRUG, 2)], PEOPLE.spec())),
    "visits": (2, VISITS, rows_sql(VISIT, [WARD], 2, (PATIENT, [SMOKER]), VISITS.spec(), 7)),
    "drugs": (2, VISITS, rows_sql(DRUG, [GIVEN], 2, (PATIENT, [SMOKER]), Layout((3, 2), VISITS.cliques).spec(), 7)),
    "drugs alone": (2, Layout((2,), ((0,),)), rows_sql(DRUG, [GIVEN], 2, None, Layout((2,), ((0,),)).spec(), 7)),
}


def counted(connection: Connection, sql: str) -> Counts:
    return decoded(base64.b64decode(value(connection, sql)))


@pytest.mark.parametrize("what", STATEMENTS)
def test_one_person_changes_each_marginal_by_their_rows_that_count(
    drugs: Connection, admin: Connection, what: str
) -> None:
    """With everybody's rows, and without those of one person, in all tables."""
    most, layout, sql = STATEMENTS[what]
    layout = Layout((3, 2), layout.cliques) if what == "drugs" else layout
    before = counted(admin, sql)
    assert before.sum() > 0
    changed = 0
    for person in (1, 2, 3, 7, 11):
        with admin.transaction(force_rollback=True):
            visits = f"SELECT visit_id FROM clinic.visit WHERE patient_id = {person}"
            admin.execute(f"DELETE FROM clinic.drug WHERE visit_id IN ({visits})")
            admin.execute(f"DELETE FROM clinic.visit WHERE patient_id = {person}")
            admin.execute(f"DELETE FROM clinic.patient WHERE id = {person}")
            after = counted(admin, sql)
        for clique in layout.cliques:
            apart = int(np.abs(layout.counts(before, clique) - layout.counts(after, clique)).sum())
            assert apart <= most
            changed = max(changed, apart)
    assert changed == most
