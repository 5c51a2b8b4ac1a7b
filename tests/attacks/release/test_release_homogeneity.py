"""Homogeneity: everybody in a class has the same disease, so whoever knows the class knows the disease.

Machanavajjhala et al. 2007. k-anonymity does not see it; l-diversity does.
"""

from __future__ import annotations

from tests.databases import Connection

# ten people of each age; all of those in their thirties have cancer
PEOPLE = """
    CREATE TABLE patient AS
    SELECT 20 + n % 40 AS age, CASE WHEN n % 40 / 10 = 1 THEN 'cancer' ELSE 'd' || n % 3 END AS disease
    FROM generate_series(0, 399) n
"""
LEARNED = "SELECT array_agg(DISTINCT disease) FROM released WHERE age::text IN ('35', '30-39', '20-39', '*')"
SPEC = """'{"age": {"intervals": [10, 20]}}'"""


def test_a_class_of_one_disease_tells_it_unless_l_is_asked_for(admin: Connection) -> None:
    admin.execute(PEOPLE)
    admin.execute(f"SELECT discreet.anonymize('patient', 'released', {SPEC}, 10, sensitive => 'disease')")
    assert admin.execute("SELECT discreet.k_anonymity('released', '{age}')").fetchall() == [(10,)]
    # Bob is 35
    assert admin.execute(LEARNED).fetchall() == [(["cancer"],)]
    admin.execute("DROP TABLE released; SELECT discreet.forget_release('public.released')")
    admin.execute(f"SELECT discreet.anonymize('patient', 'released', {SPEC}, 10, l => 3, sensitive => 'disease')")
    ((learned,),) = admin.execute(LEARNED).fetchall()
    assert len(learned or []) >= 3
