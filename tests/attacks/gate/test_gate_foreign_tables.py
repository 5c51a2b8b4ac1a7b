"""Foreign tables that lead back to protected ones."""

from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection


def test_a_foreign_table_over_people_cannot_be_asked_about(gated: Target, blind: Connection) -> None:
    cluster = gated.database.cluster
    place = f"host '{cluster.socket}', port '{cluster.port}', dbname '{gated.database.name}'"
    gated.admin.execute(
        "CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;"
        f"CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({place});"
        "CREATE USER MAPPING FOR postgres SERVER back OPTIONS (user 'postgres');"
        "CREATE FOREIGN TABLE extra.other (id int, salary int) SERVER back"
        " OPTIONS (schema_name 'hr', table_name 'person'); GRANT SELECT ON extra.other TO PUBLIC"
    )
    try:
        assert gated.value("SELECT count(*) FROM extra.other") == PEOPLE
        with gated.free():
            assert how_it_ends(blind, "SELECT count(*) FROM extra.other") == "42704"
            assert how_it_ends(blind, "SELECT count(*) FROM hr.person p, extra.other o") == "42704"
    finally:
        gated.admin.execute("DROP SERVER back CASCADE")
