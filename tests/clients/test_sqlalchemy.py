"""SQLAlchemy 2: tables reflected from the catalog, expressions, the object-relational mapper."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, MetaData, Table, bindparam, case, func, inspect, literal, select, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.ext.automap import automap_base
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger, Numeric, Text
from tests.office import ANALYST, NOISE, Office


@pytest.fixture
def person(engine: Engine) -> Table:
    """hr.person, as the catalog describes it to the analyst."""
    metadata = MetaData()
    metadata.reflect(engine, schema="hr")
    return metadata.tables["hr.person"]


def test_a_schema_is_reflected_with_types_keys_and_comments(office: Office, engine: Engine) -> None:
    metadata = MetaData()
    metadata.reflect(engine, schema="hr", views=True)
    assert set(metadata.tables) == {"hr.person", "hr.visit", "hr.department"}
    person, visit = metadata.tables["hr.person"], metadata.tables["hr.visit"]
    assert [column.name for column in person.primary_key] == ["id"]
    assert [key.target_fullname for key in visit.foreign_keys] == ["hr.person.id"]
    assert person.comment == "Everybody who works here."
    assert isinstance(person.c.salary.type, Numeric)
    assert isinstance(person.c.badge.type, BigInteger)
    assert isinstance(person.c.dept.type, Text)
    assert office.spent() == 0


def test_the_inspector_answers_what_tools_ask(office: Office, engine: Engine) -> None:
    inspector = inspect(engine)
    assert {"hr", "discreet", ANALYST} <= set(inspector.get_schema_names())
    assert inspector.has_table("person", schema="hr")
    assert len(inspector.get_columns("person", schema="hr")) == 14
    assert inspector.get_pk_constraint("person", schema="hr")["constrained_columns"] == ["id"]
    assert inspector.get_foreign_keys("visit", schema="hr")[0]["referred_table"] == "person"
    assert inspector.get_indexes("person", schema="hr") == []
    assert inspector.get_unique_constraints("person", schema="hr") == []
    assert inspector.get_check_constraints("person", schema="hr") == []
    assert inspector.get_enums(schema="hr")[0]["labels"] == ["sad", "glad"]  # type: ignore[attr-defined]
    assert inspector.get_view_names(schema="discreet")
    assert office.truth("SELECT count(*) FROM discreet._refusal") == [(0,)]


def test_a_count_of_a_reflected_table(office: Office, engine: Engine, person: Table) -> None:
    with engine.connect() as connection:
        answer = connection.scalar(select(func.count()).select_from(person))
    assert abs(answer - 2000) <= NOISE  # type: ignore[operator]
    assert office.questions() == 1


def test_groups_filters_labels_and_order(engine: Engine, person: Table) -> None:
    query = (
        select(person.c.dept, func.count().label("n"), func.avg(person.c.age).label("age"))
        .where(person.c.age > 30, person.c.dept.in_(["dept 1", "dept 2"]))
        .group_by(person.c.dept)
        .having(func.count() > 10)
        .order_by(func.count().desc(), person.c.dept)
        .limit(10)
    )
    with engine.connect() as connection:
        rows = connection.execute(query).mappings().all()
    assert {row["dept"] for row in rows} >= {"dept 1", "dept 2"}
    assert all(set(row) == {"dept", "n", "age"} for row in rows)


def test_a_join_inside_the_dataset(engine: Engine, person: Table) -> None:
    visit = person.metadata.tables["hr.visit"]
    query = select(func.count(), func.sum(visit.c.cost)).select_from(person.join(visit))
    with engine.connect() as connection:
        count, total = connection.execute(query).one()
    assert abs(count - 3000) < 100
    assert total > 0


def test_expressions_and_bound_parameters(office: Office, engine: Engine, person: Table) -> None:
    old = case((person.c.age >= bindparam("limit"), literal(1)), else_=literal(0))
    query = select(func.sum(old).label("old"), func.count(person.c.id)).where(person.c.smoker.is_(True))
    with engine.connect() as connection:
        old_people, people = connection.execute(query, {"limit": 40}).one()
    assert 0 < old_people < people < 520
    assert office.questions() == 1


def test_the_mapper_asks_through_mapped_classes(engine: Engine) -> None:
    base = automap_base()
    base.prepare(autoload_with=engine, schema="hr")
    person = base.classes.person
    with Session(engine) as session:
        assert abs((session.scalar(select(func.count(person.id))) or 0) - 2000) <= NOISE
        with pytest.raises(DatabaseError) as caught:
            session.get(person, 1000)
    assert caught.value.orig.sqlstate.startswith("DP")  # type: ignore[union-attr]


@pytest.mark.parametrize("streams", [False, True])
def test_rows_of_people_are_refused(office: Office, engine: Engine, person: Table, streams: bool) -> None:
    with engine.connect() as connection, pytest.raises(DatabaseError) as caught:
        connection.execute(select(person), execution_options={"stream_results": streams}).all()
    assert caught.value.orig.sqlstate.startswith("DP")  # type: ignore[union-attr]
    assert office.spent() == 0


def test_answers_stream_through_a_cursor_of_the_server(engine: Engine) -> None:
    query = text("SELECT dept, count(*) AS n FROM hr.person GROUP BY dept ORDER BY dept")
    with engine.connect().execution_options(stream_results=True, max_row_buffer=1) as connection:
        rows = list(connection.execute(query))
    assert [row.dept for row in rows] == ["dept 0", "dept 1", "dept 2", "dept 3"]


def test_an_answer_is_kept_in_a_table_of_the_analyst(engine: Engine, person: Table) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE {ANALYST}.staff (dept text, n bigint)"))
        staff = Table("staff", MetaData(), schema=ANALYST, autoload_with=connection)
        counted = select(person.c.dept, func.count()).group_by(person.c.dept)
        connection.execute(staff.insert().from_select(["dept", "n"], counted))
        assert connection.scalar(select(func.count()).select_from(staff)) == 4
