"""Which label the values of a column want, for each column that has such a rule."""

from __future__ import annotations

from discreet.core.declarations import given
from discreet.core.errors import InvalidParameterError, UndefinedColumnError
from discreet.mls import view
from discreet.mls.classification import parsed
from discreet.mls.table import Table, literal
from discreet.server.entry import sql_errors
from discreet.server.mls import known_lattice, log, named_table, owned_table, rebuild
from discreet.server.mls_expressions import label_rule
from discreet.server.plpy import Plpy, run


@sql_errors
def rule(plpy: Plpy, relation: str | None, column_name: str | None, expression: str | None) -> None:
    """Keeps a rule, and writes the triggers of the table anew. Rows that are there are not judged."""
    table, row = owned_table(plpy, relation)
    name = given("column_name", column_name)
    refuse_column(table, name)
    log(plpy, "mls_rule", table.view, column=name, rule=expression)
    run(
        plpy, "DELETE FROM discreet._multilevel_rule WHERE relation = :oid::oid AND column_name = :name::name",
        oid=row["view"], name=name,
    )  # fmt: skip
    if expression is not None:
        run(
            plpy, "INSERT INTO discreet._multilevel_rule VALUES (:oid::oid, :name::name, :rule::text, :sql::text)",
            oid=row["view"], name=name, rule=expression, sql=rule_sql(plpy, table, int(row["base"]), expression),
        )  # fmt: skip
    rebuild(plpy, table.view)
    for statement in view.defaults(named_table(plpy, table.view)):
        plpy.execute(statement)


def refuse_column(table: Table, name: str) -> None:
    keys = [key.name for key in table.key]
    names = [*keys, *(cell.name for cell in table.cells)]
    if name not in names:
        raise UndefinedColumnError(
            f'{table.view} has no column "{name}" with labels of its own', f"There are: {', '.join(names)}."
        )
    others = [each.column.name for each in table.rules if each.column.name in keys and each.column.name != name]
    if name in keys and others:
        raise InvalidParameterError(
            f'the key has a rule already, that of column "{others[0]}"', "The columns of a key have one label."
        )


def rule_sql(plpy: Plpy, table: Table, base: int, expression: str) -> str:
    """SQL over NEW that gives the label."""
    label = parsed(expression, known_lattice(plpy))
    if label.rule is None:
        return literal(expression)
    names = [column.name for column in (*table.key, *table.cells)]
    return label_rule(plpy, table.base, base, names, expression).new_sql
