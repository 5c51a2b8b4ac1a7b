"""The upgrade script that follows from two install scripts."""

from __future__ import annotations

import pytest
from dev.upgrade import MARK, statements, upgrade_script

OLD = """\\echo old
CREATE TABLE discreet.kept (a int);
CREATE TABLE discreet.gone (a int);
CREATE FUNCTION discreet.f(a int) RETURNS int LANGUAGE sql AS $$ SELECT 1; -- one $$;
CREATE FUNCTION discreet.g(a int)
RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
CREATE FUNCTION discreet.removed() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
CREATE VIEW discreet.v AS SELECT 1 AS a;
CREATE VIEW discreet.w AS SELECT 1 AS a;
CREATE TRIGGER t AFTER INSERT ON discreet.kept EXECUTE FUNCTION discreet.f();
CREATE EVENT TRIGGER e ON sql_drop EXECUTE FUNCTION discreet.f();
COMMENT ON VIEW discreet.v IS 'It''s; v.';
"""

NEW = """\\echo new
-- a comment; with an end
CREATE TABLE discreet.kept (a int, b int);
CREATE TABLE discreet.added (a int);
COMMENT ON TABLE discreet.added IS 'Added.';
CREATE FUNCTION discreet.f(a int) RETURNS int LANGUAGE sql AS $$ SELECT 1; -- one $$;
CREATE FUNCTION discreet.g(a int, b int DEFAULT 0) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
CREATE VIEW discreet.v AS SELECT 1 AS a, 2 AS b;
COMMENT ON VIEW discreet.v IS 'It''s; v.';
GRANT SELECT ON discreet.v TO PUBLIC;
"""


def made() -> list[str]:
    by_hand = (
        f"ALTER TABLE discreet.kept ADD COLUMN b int;\n{MARK}INSERT INTO discreet.added SELECT a FROM discreet.gone;\n"
    )
    return statements(upgrade_script(OLD, NEW, by_hand))


def place(start: str) -> int:
    found = [n for n, statement in enumerate(made()) if statement.startswith(start)]
    assert len(found) == 1, f"{start}: {found}"
    return found[0]


def test_a_statement_ends_where_postgresql_ends_it() -> None:
    script = "SELECT ';', \";\", $a$;$$;$a$; -- ;\n/* ; */ SELECT 2;\n"
    assert statements(script) == ["SELECT ';', \";\", $a$;$$;$a$", "SELECT 2"]


def test_a_statement_without_an_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="no end"):
        statements("SELECT 1; SELECT 2")


def test_functions_and_views_are_replaced() -> None:
    place("CREATE OR REPLACE FUNCTION discreet.f(a int)")
    place("CREATE OR REPLACE VIEW discreet.v AS SELECT 1 AS a, 2 AS b")


def test_a_table_is_made_once_and_never_again() -> None:
    place("CREATE TABLE discreet.added")
    assert not [statement for statement in made() if statement.startswith("CREATE TABLE discreet.kept")]


def test_what_is_gone_is_dropped() -> None:
    for drop in ("DROP VIEW discreet.w", "DROP TRIGGER t ON discreet.kept", "DROP EVENT TRIGGER e"):
        place(drop)


def test_a_function_makes_place_if_its_arguments_have_changed_or_it_is_gone() -> None:
    assert "'{g,removed}'" in made()[4]


def test_tables_are_dropped_after_what_is_written_by_hand() -> None:
    assert place("DROP TABLE discreet.gone") > place("INSERT INTO discreet.added")


def test_tables_are_altered_before_functions_are_made() -> None:
    assert place("DROP VIEW") < place("ALTER TABLE discreet.kept") < place("CREATE OR REPLACE FUNCTION discreet.f")


def test_comments_and_grants_come_when_functions_have_their_places() -> None:
    names = [n for n, statement in enumerate(made()) if "'before %'" in statement]
    assert max(names) < place("COMMENT ON TABLE discreet.added") < place("GRANT")
