"""What the SQL functions of local differential privacy call, and their catalog on the database."""

from __future__ import annotations

from discreet.core.curation import Column, Relation
from discreet.local import columns
from discreet.local.columns import Placement, ResponseColumn
from discreet.server.catalog import DatabaseCatalog, require_built_in
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy

# sorts before every name that begins with a letter, so that no other trigger sees the truth
TRIGGER = "0_discreet_response_{attnum}"

UNIT = """
    SELECT coalesce(
        (SELECT unit::text FROM discreet._protected_table WHERE relation = :oid::oid),
        (SELECT a.attname::text FROM pg_constraint k
         JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
         WHERE k.conrelid = :oid::oid AND k.contype = 'p' AND cardinality(k.conkey) = 1)) AS unit
"""
PLACEMENT = """
    SELECT a.attnum,
           EXISTS (SELECT FROM pg_attribute d JOIN pg_type t ON t.oid = d.atttypid
                   WHERE d.attrelid = a.attrelid AND d.attname IN (:column::name, :unit::name) AND t.typtype = 'd')
               AS domain_types,
           a.attgenerated <> '' OR a.attidentity <> '' AS generated,
           EXISTS (SELECT FROM pg_partition_tree(a.attrelid) part
                   JOIN pg_partitioned_table p ON p.partrelid = part.relid
                   JOIN pg_attribute b ON b.attrelid = part.relid AND b.attname = a.attname
                   WHERE b.attnum = ANY (p.partattrs) OR 0 = ANY (p.partattrs)) AS partition_key,
           EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent
                   WHERE (i.inhrelid = a.attrelid OR i.inhparent = a.attrelid) AND c.relkind <> 'p') AS inherits,
           EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = a.attrelid AND t.tgattr[0] = a.attnum
                   AND t.tgfoid = 'discreet._respond()'::regprocedure) AS has_responses,
           ARRAY(SELECT tgname::text FROM pg_trigger t
                 -- before, row, insert or update: bits 1, 0, 2 and 4
                 WHERE t.tgrelid = a.attrelid AND t.tgtype & 3 = 3 AND t.tgtype & 20 <> 0
                   AND t.tgfoid <> 'discreet._respond()'::regprocedure
                   AND t.tgname::text COLLATE "C" < '0_discreet_s' ORDER BY 1) AS earlier_triggers
    FROM pg_attribute a WHERE a.attrelid = :oid::oid AND a.attname = :column::name
"""


class ResponseCatalog(DatabaseCatalog):
    """The catalog of protections, and that of randomised columns."""

    def usual_unit(self, relation: Relation) -> str | None:
        unit: str | None = self._run(UNIT, oid=relation.oid)[0]["unit"]
        return unit

    def placement(self, relation: Relation, column: Column, unit: Column) -> Placement:
        row = self._run(PLACEMENT, oid=relation.oid, column=column.name, unit=unit.name)[0]
        return Placement(
            row["domain_types"], row["generated"], row["partition_key"], row["inherits"], row["has_responses"],
            tuple(row["earlier_triggers"]),
        )  # fmt: skip

    def printed(self, column: Column, values: tuple[str, ...]) -> tuple[str, ...]:
        require_built_in(column)
        rows = self._run(
            f"SELECT CAST(value AS {column.base_type})::text AS value"
            " FROM unnest(:values::text[]) WITH ORDINALITY listed(value, place) ORDER BY place",
            values=list(values),
        )
        return tuple(row["value"] for row in rows)

    def stop_writers(self, relation: Relation) -> None:
        self._plpy.execute(f"LOCK TABLE {relation.quoted_name} IN SHARE ROW EXCLUSIVE MODE")

    def has_rows(self, relation: Relation) -> bool:
        """In the name of the table's owner: planning a query runs code of its indexes."""
        owner = self._run("SELECT relowner FROM pg_class WHERE oid = :oid::oid", oid=relation.oid)[0]["relowner"]
        sql = f"SELECT 'a row' FROM {relation.quoted_name} LIMIT 1"
        return len(self._run("SELECT FROM discreet._run_as(:role::oid, :sql::text)", role=int(owner), sql=sql)) > 0

    def add_responses(self, relation: Relation, responses: ResponseColumn) -> None:
        self._plpy.execute("LOCK TABLE discreet._response_column IN SHARE ROW EXCLUSIVE MODE")
        row = self._run(
            "INSERT INTO discreet._response_column (id, relation, epsilon, domain, salt)"
            " SELECT coalesce(max(id), 0) + 1, :oid::oid, :epsilon::float8, :domain::text[],"
            " uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) FROM discreet._response_column"
            " RETURNING id, (SELECT attnum FROM pg_attribute WHERE attrelid = :oid::oid AND attname = :column::name)",
            oid=relation.oid, epsilon=repr(responses.epsilon), domain=list(responses.domain), column=responses.column,
        )[0]  # fmt: skip
        trigger = TRIGGER.format(attnum=row["attnum"])
        written = self._run(
            "SELECT format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE OF %I, %I ON %s"
            " FOR EACH ROW EXECUTE FUNCTION discreet._respond(%L)',"
            " :trigger::text, :column::text, :unit::text, :table::text, :id::text) AS statement",
            trigger=trigger, column=responses.column, unit=responses.unit, table=relation.quoted_name, id=row["id"],
        )[0]  # fmt: skip
        self._plpy.execute(written["statement"])


@sql_errors
def rr_epsilon(plpy: Plpy, p: float, n: int) -> float:
    from discreet.local import epsilon

    return epsilon.rr_epsilon(p, n)


@sql_errors
def mechanism_epsilon(plpy: Plpy, probabilities: list[list[float | None]]) -> float:
    from discreet.local import epsilon

    return epsilon.mechanism_epsilon(probabilities)


@sql_errors
def rr_column(
    plpy: Plpy,
    relation: str | None,
    column_name: str | None,
    epsilon: float | None,
    domain: list[str | None] | None,
    unit: str | None,
) -> None:
    listed = None if domain is None else tuple(domain)
    columns.rr_column(ResponseCatalog(plpy), relation, column_name, epsilon, listed, unit)
