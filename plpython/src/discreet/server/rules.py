"""Adds and drops integrity rules, in the name and with the rights of who calls.

Nothing is kept beside the triggers: a dump, a renamed column and a dropped table need no care.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.core.declarations import given
from discreet.core.errors import (
    BrokenRuleError,
    DuplicateObjectError,
    InsufficientPrivilegeError,
    InvalidParameterError,
    InvalidRuleError,
    UndefinedObjectError,
    WrongObjectTypeError,
)
from discreet.core.parser import load_parser
from discreet.core.verdicts import judges
from discreet.rules import statements
from discreet.rules.expressions import predicate, row_rule
from discreet.sealed.table import ROW
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, Row, run

RELATION = """
    SELECT c.oid, n.nspname, c.relname, c.relkind, c.relrowsecurity AND c.relforcerowsecurity AS forced,
           format('%I.%I', n.nspname, c.relname) AS quoted_name,
           c.oid < 16384 OR n.nspname = 'discreet' OR c.relpersistence = 't' AS system,
           EXISTS (SELECT FROM pg_inherits i WHERE c.relkind = 'r' AND c.oid IN (i.inhparent, i.inhrelid)
                   AND NOT (SELECT relispartition FROM pg_class WHERE oid = i.inhrelid)) AS inherits,
           EXISTS (SELECT FROM discreet.multilevel_tables m WHERE m.relation = c.oid) AS multilevel,
           (SELECT min(s.base::text) FROM discreet.sealed_columns s WHERE s.relation = c.oid) AS sealed_base,
           ARRAY(SELECT s.column_name::text FROM discreet.sealed_columns s WHERE s.base = c.oid) AS sealed,
           c.relowner::regrole::text AS owner, pg_has_role(current_user, c.relowner, 'USAGE') AS owned,
           current_user AS caller,
           ARRAY(SELECT attname::text FROM pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass(:name::text)
"""

# those that depend on the clock or on settings for times and texts, but on no table
STABLE_BUT_HARMLESS = [
    "now", "transaction_timestamp", "statement_timestamp", "age", "date_part", "extract", "date_trunc", "timezone",
    "to_char", "to_date", "to_timestamp", "to_number", "concat", "concat_ws", "format", "make_timestamptz",
    "length", "numeric", "date", "time", "timetz", "timestamp", "timestamptz", "overlaps",
    "quote_literal", "quote_nullable",
]  # fmt: skip
COMPUTES = """
    SELECT count(*) > 0 AND bool_and(p.prokind = 'f' AND NOT p.proretset
               AND (p.provolatile = 'i' OR p.provolatile = 's' AND p.proname = ANY (:harmless::text[]))) AS computes
    FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = :name::name
"""

# what PostgreSQL found the text to mean; the first object that is not its own has the number 16384
FOREIGN_CODE = """
    SELECT pg_describe_object(d.refclassid, d.refobjid, 0) AS described
    FROM pg_trigger t
    JOIN pg_depend d ON d.classid = 'pg_trigger'::regclass AND d.objid = t.oid AND d.refobjid >= 16384
    LEFT JOIN pg_type y ON d.refclassid = 'pg_type'::regclass AND y.oid = d.refobjid
    LEFT JOIN pg_type e ON e.oid = y.typelem
    WHERE t.tgrelid = :oid::oid AND t.tgname = ANY (:names::text[])
      AND (d.refclassid = 'pg_operator'::regclass
           OR d.refclassid = 'pg_proc'::regclass AND d.refobjid <> t.tgfoid
           OR y.typtype IN ('d', 'c') OR e.typtype IN ('d', 'c'))
    LIMIT 1
"""

RULES = """
    SELECT r.kind, r.index_name FROM discreet.rules r WHERE r.relation = :oid::oid AND r.name = :name::text
"""


@dataclass(frozen=True)
class Table:
    oid: int
    name: str
    quoted_name: str
    columns: tuple[str, ...]
    multilevel: bool
    schema: str
    owner: str
    ciphertext: frozenset[str] = frozenset()


@sql_errors
def add_rule(plpy: Plpy, relation: str | None, name: str | None, rule: str | None) -> None:
    load_parser()
    wanted = statements.rule_name(name)
    table = ruled_table(plpy, relation)
    what = f'rule "{wanted}"'
    checked = row_rule(
        what, given("rule", rule), table.columns, lambda function: computes(plpy, function), table.ciphertext
    )
    refuse_duplicate(plpy, table, wanted)
    if table.multilevel:
        function = statements.function_name(table.schema, table.name, wanted)
        keep_triggers(plpy, table, [f"rule {wanted}"], wanted)
        made = statements.multilevel_rule(wanted, table.quoted_name, function, checked)
        put_on_view(plpy, table, what, function, checked.sql, made)
        return
    put_in_place(plpy, table, what, [f"rule {wanted}"], statements.rule_triggers(wanted, table.quoted_name, checked))
    if checked.new and not checked.old and plpy.execute(statements.broken_rows(table.quoted_name, checked)):
        raise BrokenRuleError(
            f"rows of {table.quoted_name} break {what} already", "Correct them first, or add another rule."
        )


@sql_errors
def add_limit(
    plpy: Plpy, relation: str | None, name: str | None, predicate_text: str | None, at_most: int | None
) -> None:
    load_parser()
    wanted = statements.rule_name(name)
    most = given("at_most", at_most)
    if most < 0:
        raise InvalidParameterError(f"at_most is {most}, but must not be below zero", "Give the number of places.")
    table = ruled_table(plpy, relation)
    what = f'limit "{wanted}"'
    counted = predicate(
        what, given("predicate", predicate_text), table.columns, lambda name: computes(plpy, name), table.ciphertext
    )
    refuse_duplicate(plpy, table, wanted)
    if table.multilevel:
        function = statements.function_name(table.schema, table.name, wanted)
        keep_triggers(plpy, table, [f"limit {wanted}", f"update limit {wanted}"], wanted)
        made = statements.multilevel_limit(wanted, table.quoted_name, function, counted, most)
        put_on_view(plpy, table, what, function, counted.new_sql, made)
        return
    index = statements.index_name(table.name, wanted, names_beside(plpy, table))
    made = [
        statements.limit_index(index, table.quoted_name, counted),
        *statements.limit_triggers(wanted, table.quoted_name, index, counted, most),
    ]
    put_in_place(plpy, table, what, [f"limit {wanted}", f"update limit {wanted}"], made)
    present = len(plpy.execute(statements.counted_rows(table.quoted_name, counted, most)))
    if present > most:
        raise BrokenRuleError(
            f"{table.quoted_name} holds more than {most} rows of {what} already", "Remove some first, or allow more."
        )


@sql_errors
def drop_rule(plpy: Plpy, relation: str | None, name: str | None) -> None:
    table = owned(plpy, relation)
    shown = table["quoted_name"]
    wanted = given("name", name)
    rows = run(plpy, RULES, oid=table["oid"], name=wanted)
    if not rows:
        raise UndefinedObjectError(
            f'{table["quoted_name"]} has no rule "{wanted}"', "View discreet.rules shows those that there are."
        )
    if table["multilevel"]:
        drop_from_view(plpy, table, wanted)
        return
    prefixes = ["rule"] if rows[0]["kind"] == "rule" else ["limit", "update limit"]
    for prefix in prefixes:
        trigger = statements.identifier(f"{prefix} {wanted}")
        plpy.execute(f"DROP TRIGGER IF EXISTS {trigger} ON {shown}")
    if rows[0]["index_name"] is not None:
        plpy.execute(f"DROP INDEX IF EXISTS {rows[0]['index_name']}")


def drop_from_view(plpy: Plpy, table: Row, rule: str) -> None:
    """The triggers that were made for the rule, and no others, whatever their names."""
    kept = run(plpy, "SELECT * FROM discreet._forget_trigger(:oid::oid, :rule::text)", oid=table["oid"], rule=rule)
    for each in kept:
        plpy.execute(f"DROP TRIGGER IF EXISTS {statements.identifier(each['name'])} ON {table['quoted_name']}")
    for name in {each["function"] for each in kept}:
        plpy.execute(f"DROP FUNCTION {statements.identifier(table['nspname'])}.{statements.identifier(name)}()")


def owned(plpy: Plpy, name: str | None) -> Row:
    """The relation of that name, if the caller owns it."""
    rows = run(plpy, RELATION, name=given("relation", name))
    if not rows:
        raise UndefinedObjectError(f"there is no relation {name}", "Name an ordinary or partitioned table.")
    row = rows[0]
    if not row["owned"]:
        raise InsufficientPrivilegeError(
            f"{row['caller']} does not own {row['quoted_name']}", "Its owner, being a curator, or a superuser can."
        )
    return row


def ruled_table(plpy: Plpy, name: str | None) -> Table:
    """A table of the caller that can have rules."""
    row = owned(plpy, name)
    shown = row["quoted_name"]
    if row["sealed_base"] is not None:
        raise WrongObjectTypeError(
            f"{shown} has sealed columns; rules are for the base table, {row['sealed_base']}, and columns in the clear",
            f"Give relation => '{row['sealed_base']}'. A CHECK, made before a column is sealed, judges its values.",
        )
    if not (row["relkind"] in ("r", "p") or row["multilevel"]) or row["system"]:
        raise WrongObjectTypeError(
            f"{shown} is no ordinary or multilevel table; only those have rules", "Name a permanent table of yours."
        )
    if row["inherits"]:
        raise WrongObjectTypeError(
            f"{shown} inherits, or is inherited from: triggers of one table do not fire for the other",
            "Use partitions, or tables that stand alone.",
        )
    if row["forced"]:
        raise WrongObjectTypeError(
            f"row security is forced upon the owner of {shown}, who could not count all rows",
            "ALTER TABLE … NO FORCE ROW LEVEL SECURITY; it holds for all others still.",
        )
    return Table(
        int(row["oid"]), row["relname"], row["quoted_name"], tuple(row["columns"]), row["multilevel"],
        row["nspname"], row["owner"], frozenset([*row["sealed"], ROW] if row["sealed"] else []),
    )  # fmt: skip


def computes(plpy: Plpy, function: str) -> bool:
    return bool(run(plpy, COMPUTES, harmless=STABLE_BUT_HARMLESS, name=function)[0]["computes"])


def refuse_duplicate(plpy: Plpy, table: Table, name: str) -> None:
    if run(plpy, RULES, oid=table.oid, name=name):
        raise DuplicateObjectError(
            f'{table.quoted_name} has a rule "{name}" already',
            f"Drop it first: discreet.drop_rule('{table.quoted_name}', '{name}').",
        )


def names_beside(plpy: Plpy, table: Table) -> frozenset[str]:
    rows = run(
        plpy,
        "SELECT relname FROM pg_class WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = :oid::oid)",
        oid=table.oid,
    )
    return frozenset(row["relname"] for row in rows)


def keep_triggers(plpy: Plpy, table: Table, names: list[str], rule: str) -> None:
    run(
        plpy, "SELECT discreet._keep_trigger(:oid::oid, :names::name[], :function::name, :rule::text)",
        oid=table.oid, names=names, function=statements.bare_function_name(table.name, rule), rule=rule,
    )  # fmt: skip


def put_on_view(plpy: Plpy, table: Table, what: str, function: str, expression: str, made: list[str]) -> None:
    """What PostgreSQL makes of the text is seen on a table like the view, which has triggers with conditions."""
    like = f"{statements.identifier(table.schema)}.{statements.identifier('discreet rule ' + str(table.oid))}"
    probe = f"CREATE TRIGGER probe AFTER UPDATE ON {like} FOR EACH ROW WHEN (({expression}) IS FALSE)"
    plpy.execute(f"CREATE TABLE {like} AS SELECT * FROM {table.quoted_name} WITH NO DATA")
    oid = plpy.execute(f"SELECT {statements.literal(like)}::regclass::oid AS oid")[0]["oid"]
    copy = replace(table, oid=int(oid), quoted_name=like)
    put_in_place(plpy, copy, what, ["probe"], [f"{probe} EXECUTE FUNCTION discreet._refuse_row()"])
    plpy.execute(f"DROP TABLE {like}")
    put_in_place(plpy, table, what, [], made)
    plpy.execute(f"REVOKE ALL ON FUNCTION {function}() FROM PUBLIC")
    # what counts in the name of the owner must not count in that of a superuser who added it
    plpy.execute(f"ALTER FUNCTION {function}() OWNER TO {table.owner}")


def put_in_place(plpy: Plpy, table: Table, what: str, triggers: list[str], made: list[str]) -> None:
    for statement in made:
        try:
            plpy.execute(statement)
        except plpy.SPIError as error:
            if not judges(error):
                raise
            raise InvalidRuleError(
                f"{what} cannot be used: {str(error).removeprefix('SPIError: ')}",
                "It must be a truth value; a limit must not depend on clock or settings.",
            ) from None
    refuse_foreign_code(plpy, table.oid, what, triggers)


def refuse_foreign_code(plpy: Plpy, oid: int, what: str, triggers: list[str]) -> None:
    """Whether what PostgreSQL made of the condition of a trigger runs code that is not its own."""
    foreign = run(plpy, FOREIGN_CODE, oid=oid, names=triggers)
    if foreign:
        raise InvalidRuleError(
            f"{what} uses {foreign[0]['described']}, which is not PostgreSQL's own",
            "It would run as the role that writes. Cast to a built-in type, as in NEW.column::text.",
        )
