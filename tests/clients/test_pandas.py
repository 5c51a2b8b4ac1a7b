"""pandas: a question becomes a data frame."""

from __future__ import annotations

import pandas
import pytest
from sqlalchemy import Engine, text
from tests.office import ANALYST, NOISE, Office

BY_DEPT = "SELECT dept, count(*) AS n, avg(height) AS height FROM hr.person GROUP BY dept ORDER BY dept"


def test_read_sql_gives_a_frame_of_numbers(office: Office, engine: Engine) -> None:
    frame = pandas.read_sql(BY_DEPT, engine, index_col="dept")
    assert list(frame.index) == ["dept 0", "dept 1", "dept 2", "dept 3"]
    assert (frame.n.dtype.kind, frame.height.dtype.kind) == ("i", "f")
    assert abs(frame.n.sum() - 2000) <= 16 * NOISE
    assert office.questions() == 1


def test_parameters_and_chunks(engine: Engine) -> None:
    query = text("SELECT dept, count(*) AS n FROM hr.person WHERE age > :age GROUP BY dept ORDER BY dept")
    chunks = list(pandas.read_sql_query(query, engine, params={"age": 30}, chunksize=3))
    assert [len(chunk) for chunk in chunks] == [3, 1]


def test_frames_go_back_into_a_table_of_the_analyst(engine: Engine) -> None:
    pandas.read_sql(BY_DEPT, engine).to_sql("staff", engine, schema=ANALYST, index=False)
    again = pandas.read_sql_table("staff", engine, schema=ANALYST)
    assert list(again.columns) == ["dept", "n", "height"]
    assert len(again) == 4


def test_a_whole_table_of_people_is_refused(office: Office, engine: Engine) -> None:
    with pytest.raises(pandas.errors.DatabaseError, match="singles out a person"):
        pandas.read_sql_table("person", engine, schema="hr")
    assert office.spent() == 0
