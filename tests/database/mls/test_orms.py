"""Object-relational mappers take row_id for the identity of a row: two versions of an entity are two objects."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import BigInteger, Engine, FetchedValue, create_engine, select
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.orm.exc import StaleDataError
from tests.database.mls.subjects import Subjects


class Base(DeclarativeBase):
    pass


class Employee(Base):
    __tablename__ = "employee"

    row_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, server_default=FetchedValue(), autoincrement=False
    )
    name: Mapped[str]
    salary: Mapped[int | None]
    perf: Mapped[str | None]
    tc: Mapped[str] = mapped_column(server_default=FetchedValue())
    salary_label: Mapped[str] = mapped_column(server_default=FetchedValue())


@pytest.fixture
def low(employee: Subjects) -> Iterator[Engine]:
    yield from engine(employee, "U")


@pytest.fixture
def high(employee: Subjects) -> Iterator[Engine]:
    yield from engine(employee, "C")


def engine(subjects: Subjects, label: str) -> Iterator[Engine]:
    dsn = subjects.database.dsn(subjects.role(label))
    made = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn))
    yield made
    made.dispose()


def test_an_object_is_inserted_changed_found_by_its_identity_and_deleted(low: Engine) -> None:
    with Session(low) as session:
        smith = Employee(name="Smith", salary=1)
        session.add(smith)
        session.commit()
        assert (smith.row_id > 0, smith.tc, smith.salary_label, smith.perf) == (True, "U", "U", None)
        known = smith.row_id
        smith.salary, smith.perf = 2, "Good"
        session.commit()
        assert session.get(Employee, known) is smith
    with Session(low) as session:
        smith = session.get_one(Employee, known)
        assert (smith.salary, smith.perf) == (2, "Good")
        session.delete(smith)
        session.commit()
        assert session.scalars(select(Employee)).all() == []


def test_many_objects_are_inserted_in_one_statement(low: Engine) -> None:
    with Session(low) as session:
        people = [Employee(name=f"p{n}", salary=n) for n in range(50)]
        session.add_all(people)
        session.commit()
        found = session.execute(select(Employee.row_id, Employee.salary)).all()
        assert {person.row_id: person.salary for person in people} == {row.row_id: row.salary for row in found}


def test_a_key_that_is_seen_is_an_integrity_error(low: Engine) -> None:
    with Session(low) as session:
        session.add_all([Employee(name="Smith"), Employee(name="Smith")])
        with pytest.raises(IntegrityError):
            session.commit()


def test_a_lower_row_that_is_changed_gives_another_object(low: Engine, high: Engine) -> None:
    """What the session has written is a row of its own, with an identity of its own; the lower one stays as it is."""
    with Session(low) as session:
        session.add(Employee(name="Smith", salary=1, perf="Fair"))
        session.commit()
    with Session(high) as session:
        smith = session.scalars(select(Employee)).one()
        smith.perf = "Good"
        session.commit()
        versions = session.scalars(select(Employee).order_by(Employee.tc)).all()
        assert [(each.perf, each.salary, each.tc) for each in versions] == [("Good", 1, "C"), ("Fair", 1, "U")]
        mine, lower = versions
        assert lower is smith
        mine.salary = 7
        session.commit()
        assert (mine.salary, mine.tc, lower.salary) == (7, "C", 1)
        session.delete(mine)
        session.commit()
        assert session.scalars(select(Employee)).all() == [lower]
        session.delete(lower)
        with pytest.raises(ProgrammingError, match="lives at a lower label"):
            session.commit()
    with Session(low) as session:
        assert session.scalars(select(Employee.perf)).all() == ["Fair"]


def test_an_object_that_is_gone_is_noticed(low: Engine) -> None:
    with Session(low) as one, Session(low) as another:
        one.add(Employee(name="Smith", salary=1))
        one.commit()
        mine, theirs = one.scalars(select(Employee)).one(), another.scalars(select(Employee)).one()
        another.delete(theirs)
        another.commit()
        mine.salary = 2
        with pytest.raises(StaleDataError):
            one.commit()
