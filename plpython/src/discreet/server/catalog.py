"""The catalog of protections on the database: implements the Catalogs of `discreet.core` over plpy."""

from __future__ import annotations

import secrets
from dataclasses import fields
from decimal import Decimal

from discreet.budget.currency import amount_limit, epsilon_spent
from discreet.core.curation import Caller, Column, Neighbour, Parent, Past, Relation, WrongUnit
from discreet.core.declarations import ColumnDescription, Dataset, Policy
from discreet.core.errors import InvalidParameterError, UndefinedObjectError
from discreet.core.exemption import Below
from discreet.core.syntax import SqlValue
from discreet.core.verdicts import judges
from discreet.server.plpy import Plpy, Result, run

COLUMNS = """
    WITH RECURSIVE base(type, compared, virtual) AS (
        SELECT atttypid, attcollation, attgenerated = 'v' FROM pg_attribute
        WHERE attrelid = :oid::oid AND attname = :name::name AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT t.typbasetype, b.compared, b.virtual FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd')
    -- -1: "character" and "bit" would mean a length of one
    SELECT format_type(t.oid, -1) AS base_type, NULLIF(b.compared, 0)::regcollation::text AS compared,
           t.oid < 16384 AND t.typtype IN ('b', 'r', 'm') AS built_in, b.virtual,
           CASE t.typtype WHEN 'e' THEN
               ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = t.oid ORDER BY enumsortorder) END AS labels
    FROM base b JOIN pg_type t ON t.oid = b.type
    WHERE t.typtype <> 'd'
"""

RELATION = """
    SELECT c.oid, n.nspname, c.relname, c.relkind, c.relpersistence = 't' AS temporary,
           quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS quoted_name,
           c.oid < 16384 OR n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast', 'discreet') AS system,
           pg_has_role(discreet._caller(), c.relowner, 'USAGE') AS owned_by_caller,
           (SELECT t.key::text[] FROM discreet._multilevel_table t WHERE t.relation = c.oid) AS key,
           (SELECT t.relation::text FROM discreet._multilevel_table t WHERE t.base = c.oid) AS rows_of,
           (SELECT min(s.relation::text) FROM discreet._sealed_column s WHERE s.base = c.oid) AS sealed_rows_of,
           c.relkind = 'v' AND discreet._is_sealed_table(c.oid) AS sealed
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass(:name::text)
"""

# the tables whose people are the same: parents of parents, and children of children, by foreign keys, what multilevel
# tables have in their place, and inheritance;
# the family of a family is a whole tree of partitions, siblings included;
# each is looked up by an index (OFFSET 0 forbids another plan): foreign keys to a table by what depends on it
LINKS = """
    WITH RECURSIVE
        own(relation) AS (SELECT t FROM discreet._relation_family(:oid::oid) f, discreet._relation_family(f) t),
        up(relation) AS (
            SELECT relation FROM own
            UNION SELECT t FROM up, LATERAL (
                    SELECT k.confrelid FROM pg_constraint k WHERE k.conrelid = up.relation AND k.contype = 'f'
                    UNION ALL SELECT r.parent FROM discreet._multilevel_reference r WHERE r.child = up.relation
                    OFFSET 0) AS link(parent),
                discreet._relation_family(link.parent) f, discreet._relation_family(f) t),
        down(relation) AS (
            SELECT relation FROM own
            UNION SELECT t FROM down, LATERAL (
                    SELECT k.conrelid FROM pg_depend d JOIN pg_constraint k ON k.oid = d.objid
                    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = down.relation
                      AND d.classid = 'pg_constraint'::regclass AND k.contype = 'f' AND k.confrelid = down.relation
                    UNION ALL SELECT r.child FROM discreet._multilevel_reference r WHERE r.parent = down.relation
                    OFFSET 0) AS link(child),
                discreet._relation_family(link.child) f, discreet._relation_family(f) t)
"""

LINKED = f"""
    {LINKS}
    SELECT p.relation::text, p.dataset,
           p.relation IN (SELECT relation FROM up)
           OR EXISTS (SELECT FROM pg_constraint k WHERE k.contype = 'f' AND k.conrelid = p.relation
                      AND p.unit_attnum = ANY (k.conkey) AND k.confrelid IN (SELECT relation FROM own)) AS people
    FROM (SELECT relation FROM up UNION SELECT relation FROM down) AS linked,
         LATERAL (SELECT * FROM discreet._protected_table t WHERE t.relation = linked.relation OFFSET 0) AS p
    WHERE p.dataset IS NOT NULL AND p.relation <> :oid::oid
    ORDER BY 1
"""

# the table itself before others
WRONG_UNIT = f"""
    {LINKS}
    SELECT linked.relation::regclass::text AS relation, w.problem, w.hint
    FROM (SELECT relation FROM up UNION SELECT relation FROM down) AS linked,
         LATERAL (SELECT t AS protected FROM discreet._protected_table t
                  WHERE t.relation = linked.relation OFFSET 0) AS p,
         discreet._wrong_unit(p.protected) w
    ORDER BY linked.relation <> :oid::oid, 1 LIMIT 1
"""

BELOW = """
    SELECT DISTINCT p.relation::text, p.dataset, pg_has_role(discreet._caller(), c.relowner, 'USAGE') AS owned
    FROM discreet._relations_of_view(:oid::oid) v, discreet._protection_of(v) p JOIN pg_class c ON c.oid = p.relation
    ORDER BY 1
"""


def require_built_in(column: Column) -> None:
    """Input functions and casts of a user's type would run with our rights."""
    if not column.built_in:
        raise InvalidParameterError(
            f'column "{column.name}" is of type {column.base_type}, which is not built in',
            "Take a column of numbers, text, uuid or the like.",
        )


class DatabaseCatalog:
    """Reads and writes the tables of schema discreet, with the rights of the extension's owner."""

    def __init__(self, plpy: Plpy) -> None:
        self._plpy = plpy

    def _run(self, query: str, **arguments: SqlValue) -> Result:
        return run(self._plpy, query, **arguments)

    def caller(self) -> Caller:
        row = self._run(
            "SELECT r.rolname, r.rolsuper, pg_has_role(r.oid, 'discreet_curator', 'MEMBER') AS curator"
            " FROM pg_roles r WHERE r.oid = discreet._caller()"
        )[0]
        return Caller(row["rolname"], row["rolsuper"], row["curator"])

    def lock(self) -> None:
        # not _protected_table: DDL on any protected table writes it, and would wait for the curator
        self._run("LOCK TABLE discreet._dataset IN SHARE ROW EXCLUSIVE MODE")

    def relation(self, name: str) -> Relation:
        rows = self._run(RELATION, name=name)
        if not rows:
            raise UndefinedObjectError(f"there is no relation {name}", "Name an ordinary or partitioned table.")
        row = rows[0]
        return Relation(
            int(row["oid"]), row["nspname"], row["relname"], row["quoted_name"], row["relkind"], row["temporary"],
            row["system"], row["owned_by_caller"], None if row["key"] is None else tuple(row["key"]), row["rows_of"],
            row["sealed_rows_of"], row["sealed"],
        )  # fmt: skip

    def require_server_keys(self, relation: Relation) -> None:
        for row in list(
            self._run("SELECT DISTINCT key FROM discreet._sealed_column WHERE relation = :oid::oid", oid=relation.oid)
        ):
            self._run("SELECT discreet._require_server_key(:key::text)", key=row["key"])

    def sealed_obstacle(self, relation: Relation) -> str | None:
        rows = self._run(
            "SELECT 'belongs to a superuser, in whose name no question runs' AS what FROM pg_class c"
            " JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = :oid::oid AND r.rolsuper UNION ALL"
            " SELECT format('has sealed column %I of a domain, whose CHECKs would run with the key', a.attname)"
            " FROM discreet._sealed_column s"
            " JOIN pg_attribute a ON a.attrelid = s.relation AND a.attname = s.column_name"
            " JOIN pg_type t ON t.oid = a.atttypid"
            " WHERE s.relation = :oid::oid AND (t.typtype = 'd' OR t.oid >= 16384)",
            oid=relation.oid,
        )
        return str(rows[0]["what"]) if rows else None

    def column(self, relation: Relation, name: str) -> Column | None:
        rows = self._run(COLUMNS, oid=relation.oid, name=name)
        if not rows:
            return None
        row = rows[0]
        labels = None if row["labels"] is None else tuple(row["labels"])
        return Column(name, row["base_type"], row["built_in"], labels, row["compared"], row["virtual"])

    def column_names(self, relation: Relation) -> list[str]:
        rows = self._run(
            "SELECT attname FROM pg_attribute WHERE attrelid = :oid::oid AND attnum > 0 AND NOT attisdropped"
            " ORDER BY attnum",
            oid=relation.oid,
        )
        return [row["attname"] for row in rows]

    def encoding(self) -> str:
        return str(run(self._plpy, "SELECT current_setting('server_encoding') AS encoding")[0]["encoding"])

    def hashable(self, column: Column) -> bool:
        """Looks the hash function up, and calls it for no value."""
        try:
            self._plpy.execute(f"SELECT hash_record_extended(ROW(NULL::{column.base_type}), 0)")
        except self._plpy.SPIError as error:
            if not judges(error):
                raise
            return False
        return True

    def accepts(self, column: Column, value: str) -> bool:
        """Only for built-in types: the input function of a user's type would run with our rights."""
        require_built_in(column)
        try:
            self._run(f"SELECT :value::{column.base_type}", value=value)
        except self._plpy.SPIError as error:
            if not judges(error):
                raise
            return False
        return True

    def equal_values(self, column: Column, values: tuple[str, ...]) -> tuple[str, str] | None:
        """Two of the values that the column's type holds to be equal, or None."""
        require_built_in(column)
        collate = "" if column.collation is None else f" COLLATE {column.collation}"
        try:
            rows = self._run(
                "SELECT (array_agg(value ORDER BY place))[1:2] AS pair"
                " FROM unnest(:values::text[]) WITH ORDINALITY listed(value, place)"
                f" GROUP BY CAST(value AS {column.base_type}){collate} HAVING count(*) > 1 LIMIT 1",
                values=list(values),
            )
        except self._plpy.SPIError as error:
            if not judges(error):
                raise
            raise InvalidParameterError(
                f'column "{column.name}" is of type {column.base_type}, whose values cannot be compared',
                "Only columns that can be grouped by have categories.",
            ) from None
        return (rows[0]["pair"][0], rows[0]["pair"][1]) if rows else None

    def compares_bytes(self, column: Column) -> bool:
        """Whether texts of the column are equal just when their bytes are."""
        rows = self._run(
            "SELECT collisdeterministic AS yes FROM pg_collation WHERE oid = :name::regcollation", name=column.collation
        )
        return bool(rows[0]["yes"])

    def policies(self, dataset: str) -> set[str]:
        rows = self._run(
            "SELECT DISTINCT policy FROM discreet._protected_table WHERE dataset = :dataset::text", dataset=dataset
        )
        return {row["policy"] for row in rows}

    def has_labels(self, dataset: str) -> bool | None:
        rows = self._run(
            "SELECT bool_or(m.relation IS NOT NULL) AS labels FROM discreet._protected_table p"
            " LEFT JOIN discreet._multilevel_table m USING (relation) WHERE p.dataset = :dataset::text",
            dataset=dataset,
        )
        labels: bool | None = rows[0]["labels"]
        return labels

    def policy(self, relation: Relation) -> str | None:
        rows = self._run("SELECT policy FROM discreet._protected_table WHERE relation = :oid::oid", oid=relation.oid)
        return rows[0]["policy"] if rows else None

    def protection(self, relation: Relation) -> Policy | None:
        rows = self._run("SELECT * FROM discreet._protected_table WHERE relation = :oid::oid", oid=relation.oid)
        return Policy(**{each.name: rows[0][each.name] for each in fields(Policy)}) if rows else None

    def one_row_per_person(self, relation: Relation) -> bool:
        found = "SELECT FROM discreet._protected_table p WHERE relation = :oid::oid AND discreet._one_row_per_person(p)"
        return len(self._run(found, oid=relation.oid)) > 0

    def linked(self, relation: Relation) -> list[Neighbour]:
        rows = self._run(LINKED, oid=relation.oid)
        return [Neighbour(row["relation"], row["dataset"], row["people"]) for row in rows]

    def wrong_unit(self, relation: Relation) -> WrongUnit | None:
        rows = self._run(WRONG_UNIT, oid=relation.oid)
        return WrongUnit(rows[0]["relation"], rows[0]["problem"], rows[0]["hint"]) if rows else None

    def references_others(self, relation: Relation) -> bool:
        rows = self._run(
            "SELECT FROM discreet._protected_table p WHERE p.relation = :oid::oid AND p.policy <> 'public'"
            " AND discreet._references_others(p)"
            " AND (SELECT count(*) FROM discreet._columns_named(p.relation, p.unit)) = 1",
            oid=relation.oid,
        )
        return len(rows) > 0

    def dataset(self, name: str) -> Dataset | None:
        rows = self._run(
            "SELECT d.*, b.epsilon_limit, b.delta_limit FROM discreet._dataset d"
            " JOIN discreet._budget b ON b.dataset = d.dataset AND b.role = 0 WHERE d.dataset = :name::text",
            name=name,
        )
        if not rows:
            return None
        row = rows[0]
        return Dataset(
            row["dataset"], row["epsilon_limit"], row["delta_limit"], row["accounting"], row["neighbours"],
            row["response_quantum"], row["answer_lifetime"], row["diagnose"], row["period"], row["lifetime_epsilon"],
        )  # fmt: skip

    def dataset_names(self) -> list[str]:
        return [row["dataset"] for row in self._run("SELECT dataset FROM discreet._dataset ORDER BY 1")]

    def manages(self, dataset: str) -> bool:
        """Whether the caller is, or is a member of, the role that created the dataset."""
        rows = self._run(
            "SELECT FROM discreet._dataset d JOIN pg_roles r ON r.rolname = d.owner"
            " WHERE d.dataset = :dataset::text AND pg_has_role(discreet._caller(), r.oid, 'USAGE')",
            dataset=dataset,
        )
        return len(rows) > 0

    def past(self, relation: Relation) -> Past | None:
        rows = self._run(
            'SELECT dataset, unit, "time" FROM discreet._past_protection'
            " WHERE relation IN (SELECT discreet._relation_family(:oid::oid) UNION ALL"
            " SELECT base FROM discreet._multilevel_table WHERE relation = :oid::oid) ORDER BY relation LIMIT 1",
            oid=relation.oid,
        )
        return Past(rows[0]["dataset"], rows[0]["unit"], rows[0]["time"]) if rows else None

    def epsilon_spent(self, dataset: str) -> Decimal:
        rows = self._run(
            "SELECT b.amount_spent + coalesce((SELECT sum(s.amount_spent) FROM discreet._label_spent s"
            " WHERE s.dataset = b.dataset AND s.role = 0), 0) AS spent"
            " FROM discreet._budget b WHERE b.dataset = :dataset::text AND b.role = 0",
            dataset=dataset,
        )
        return rows[0]["spent"] if rows else Decimal(0)

    def has_payers(self, dataset: str) -> bool:
        payments = "SELECT FROM discreet._personal_ledger l WHERE l.dataset = :dataset::text AND l.applied > 0"
        return len(self._run(payments, dataset=dataset)) > 0

    def lock_table(self, relation: Relation) -> None:
        held = relation.quoted_name
        if relation.key is not None:  # its view cannot be locked
            row = self._run(
                "SELECT format('%I.%I', n.nspname, c.relname) AS base FROM discreet._multilevel_table t"
                " JOIN pg_class c ON c.oid = t.base JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE t.relation = :oid::oid",
                oid=relation.oid,
            )[0]
            held = row["base"]
        # with its parts: one of them that ceases to inherit would not wait for a lock on the whole
        self._plpy.execute(f"LOCK TABLE {held} IN SHARE UPDATE EXCLUSIVE MODE")
        if not self._run(
            "SELECT WHERE to_regclass(:name::text) = :oid::oid", name=relation.quoted_name, oid=relation.oid
        ):
            raise UndefinedObjectError(f"{relation.quoted_name} became another table meanwhile", "Call it again.")

    def direct_readers(self, relation: Relation) -> list[str]:
        rows = self._run("SELECT discreet._direct_readers(:oid::oid) AS readers", oid=relation.oid)
        return list(rows[0]["readers"])

    def add_dataset(self, dataset: Dataset) -> None:
        try:
            self._run(
                "INSERT INTO discreet._dataset"
                " (dataset, accounting, neighbours, response_quantum, answer_lifetime, diagnose, owner, period,"
                " lifetime_epsilon, lifetime_amount)"
                " SELECT :name::text, :accounting::text, :neighbours::text, :quantum::interval,"
                " :answers::interval, :diagnose::numeric, rolname, :period::interval, :lifetime::numeric,"
                " :amount::numeric"
                " FROM pg_roles WHERE oid = discreet._caller()",
                name=dataset.name, accounting=dataset.accounting, neighbours=dataset.neighbours,
                quantum=dataset.response_quantum, answers=dataset.answer_lifetime, diagnose=dataset.diagnose,
                period=dataset.period, lifetime=dataset.lifetime,
                amount=None if dataset.lifetime is None else amount_limit(dataset, dataset.lifetime),
            )  # fmt: skip
        except self._plpy.SPIError as error:
            if getattr(error, "sqlstate", None) == "23514" and "period" in str(error):
                raise InvalidParameterError(
                    f"period is {dataset.period}, which is neither whole months nor whole days",
                    "Give for example '1 month', '1 year', or '7 days'.",
                ) from None
            if getattr(error, "sqlstate", None) == "23514" and "lifetime" in str(error):
                raise InvalidParameterError(
                    f"answer_lifetime is {dataset.answer_lifetime}, but must not be below zero",
                    "For this time the same question is answered again for free; NULL: until asked with fresh => true.",
                ) from None
            if getattr(error, "sqlstate", None) == "23514":
                raise InvalidParameterError(
                    f"response_quantum is {dataset.response_quantum}, but must be above zero",
                    "Answers come at full multiples of it; NULL sends them when they are ready.",
                ) from None
            raise
        self._write_budget(dataset, "-", dataset.epsilon, dataset.delta)

    def _write_budget(
        self, dataset: Dataset, role: str, epsilon: Decimal, delta: Decimal, forever: bool = False
    ) -> None:
        self._run(
            "INSERT INTO discreet._budget (dataset, role, epsilon_limit, delta_limit, amount_limit, forever)"
            " VALUES (:dataset::text, :role::regrole, :epsilon::numeric, :delta::numeric, :amount::numeric,"
            " :forever::boolean)"
            " ON CONFLICT (dataset, role) DO UPDATE SET granted = true, epsilon_limit = excluded.epsilon_limit,"
            " delta_limit = excluded.delta_limit, amount_limit = excluded.amount_limit, forever = excluded.forever",
            dataset=dataset.name, role=role, epsilon=epsilon, delta=delta, amount=amount_limit(dataset, epsilon),
            forever=forever,
        )  # fmt: skip

    def unit(self, relation: Relation) -> str | None:
        rows = self._run(
            "SELECT discreet._unit_text(p.relation) AS unit"
            " FROM discreet._protected_table p WHERE p.relation = :oid::oid AND p.policy <> 'public'",
            oid=relation.oid,
        )
        return rows[0]["unit"] if rows else None

    def referenced_key(self, relation: Relation, column: str, parent: Relation) -> str | None:
        rows = self._run(
            "SELECT b.attname FROM pg_constraint k"
            " JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]"
            " JOIN pg_attribute b ON b.attrelid = k.confrelid AND k.confkey = ARRAY[b.attnum]"
            " WHERE k.contype = 'f' AND k.conrelid = :oid::oid AND k.confrelid = :parent::oid"
            " AND a.attname = :column::name AND k.convalidated AND NOT k.condeferrable AND NOT EXISTS ("
            " SELECT FROM pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgenabled NOT IN ('O', 'A'))"
            " ORDER BY k.oid LIMIT 1",
            oid=relation.oid, parent=parent.oid, column=column,
        )  # fmt: skip
        return rows[0]["attname"] if rows else None

    def children(self, relation: Relation) -> list[str]:
        rows = self._run(
            "SELECT p.relation::text AS name FROM discreet._protected_table p WHERE p.parent = :oid::oid ORDER BY 1",
            oid=relation.oid,
        )
        return [row["name"] for row in rows]

    def add_protection(self, relation: Relation, dataset: str | None, policy: Policy, parent: Parent | None) -> None:
        self._run(
            "INSERT INTO discreet._protected_table (relation, dataset, unit, parent, parent_key, policy, max_groups,"
            ' max_rows, max_epsilon, max_delta, unit_epsilon, min_group, fallback, max_total_rows, "time")'
            " VALUES (:oid::oid, :dataset::text, :unit::name, :parent::oid, :parent_key::name, :policy::text,"
            " :max_groups::int, :max_rows::int, :max_epsilon::numeric, :max_delta::numeric,"
            " :unit_epsilon::numeric, :min_group::int, :fallback::text, :max_total_rows::int, :time::name)",
            oid=relation.oid, dataset=dataset, unit=policy.unit, policy=policy.policy, max_groups=policy.max_groups,
            parent=None if parent is None else parent.relation.oid, parent_key=None if parent is None else parent.key,
            max_rows=policy.max_rows or 1, max_epsilon=policy.max_epsilon, max_delta=policy.max_delta,
            unit_epsilon=policy.unit_epsilon, min_group=policy.min_group, fallback=policy.fallback,
            max_total_rows=policy.max_total_rows, time=policy.time,
        )  # fmt: skip
        if policy.time is not None:
            self._run(
                "SELECT discreet._keep_periods(:oid::oid, :time::name, d.period) FROM discreet._dataset d"
                " WHERE d.dataset = :dataset::text",
                oid=relation.oid, time=policy.time, dataset=dataset,
            )  # fmt: skip
        self._run(
            'INSERT INTO discreet._past_protection AS past (relation, dataset, unit, "time")'
            " SELECT r, :dataset::text, :unit::name, :time::name FROM (SELECT :oid::oid UNION ALL"
            " SELECT base FROM discreet._multilevel_table WHERE relation = :oid::oid) AS held(r)"
            " WHERE :dataset::text IS NOT NULL"
            " ON CONFLICT (relation) DO UPDATE SET dataset = excluded.dataset,"
            " unit = coalesce(excluded.unit, past.unit),"
            " unit_attnum = coalesce(excluded.unit_attnum, past.unit_attnum),"
            ' "time" = excluded."time", time_attnum = excluded.time_attnum',
            oid=relation.oid, dataset=dataset, unit=policy.unit if policy.policy == "personal" else None,
            time=policy.time,
        )  # fmt: skip

    def set_limits(self, relation: Relation, policy: Policy) -> None:
        self._run(
            "UPDATE discreet._protected_table SET max_groups = :max_groups::int, max_rows = :max_rows::int,"
            " max_total_rows = :max_total_rows::int, max_epsilon = :max_epsilon::numeric,"
            " max_delta = :max_delta::numeric WHERE relation = :oid::oid",
            oid=relation.oid, max_groups=policy.max_groups, max_rows=policy.max_rows,
            max_total_rows=policy.max_total_rows, max_epsilon=policy.max_epsilon, max_delta=policy.max_delta,
        )  # fmt: skip

    def begin_audit(self, relation: Relation) -> bool:
        found = self._run(
            "SELECT FROM discreet._protected_table p"
            " WHERE p.relation = :oid::oid AND discreet._one_row_per_person(p)"
            " AND discreet._keeps_versions(p.relation)",
            oid=relation.oid,
        )
        self._run(
            "INSERT INTO discreet._audit (relation, seed, unit, unit_type)"
            " SELECT p.relation, :seed::bigint, p.unit, format_type(u.atttypid, NULL)"
            " FROM discreet._protected_table p"
            " JOIN pg_attribute u ON u.attrelid = p.relation AND u.attnum = p.unit_attnum"
            " WHERE p.relation = :oid::oid"
            " ON CONFLICT (relation) DO UPDATE SET unit = excluded.unit, unit_attnum = excluded.unit_attnum,"
            " unit_type = excluded.unit_type WHERE _audit.unit IS NULL",
            oid=relation.oid, seed=secrets.randbits(64) - 2**63,
        )  # fmt: skip
        self._run("SELECT discreet._follow_audits(ARRAY[:oid::oid])", oid=relation.oid)
        self._refuse_forgotten_answers(relation)
        self._run(
            "INSERT INTO discreet._audit_name (schema_name, table_name, relation, dataset)"
            " SELECT :schema::name, :name::name, p.relation, p.dataset FROM discreet._protected_table p"
            " WHERE p.relation = :oid::oid ON CONFLICT DO NOTHING",
            oid=relation.oid, schema=relation.schema, name=relation.name,
        )  # fmt: skip
        return len(found) > 0

    def _refuse_forgotten_answers(self, relation: Relation) -> None:
        """People who are named otherwise, or a table in place of another, would begin an empty history."""
        hint = (
            f"discreet.audit_reset('{relation.quoted_name}', reason) forgets what was answered, and is logged:"
            " call it if that tells nothing of today's values."
        )
        other = self._run(
            "SELECT a.unit FROM discreet._audit a JOIN discreet._protected_table p USING (relation)"
            " WHERE a.relation = :oid::oid AND a.unit_attnum IS DISTINCT FROM p.unit_attnum",
            oid=relation.oid,
        )
        if len(other) > 0:
            raise InvalidParameterError(
                f"what was answered about {relation.quoted_name} is about people named by column {other[0]['unit']}",
                hint,
            )
        if self.audited_before(relation):
            raise InvalidParameterError(
                f"questions about another table of the name {relation.quoted_name} were answered,"
                " of which an audit of this one would know nothing",
                hint,
            )

    def audited_before(self, relation: Relation) -> str | None:
        """The dataset of another table that had this name when questions about it were answered."""
        rows = self._run(
            "SELECT n.dataset FROM discreet._audit_name n"
            " WHERE n.schema_name = :schema::name AND n.table_name = :name::name AND n.relation <> :oid::oid"
            " AND (n.relation = 0 OR EXISTS (SELECT FROM discreet._audit_event e WHERE e.relation = n.relation))"
            " ORDER BY n.relation LIMIT 1",
            oid=relation.oid, schema=relation.schema, name=relation.name,
        )  # fmt: skip
        return rows[0]["dataset"] if rows else None

    def set_column(self, relation: Relation, column: str, description: ColumnDescription) -> None:
        categories = None if description.categories is None else list(description.categories)
        self._run(
            "INSERT INTO discreet._protected_column (relation, column_name, lower, upper, categories, visibility,"
            " others) VALUES (:oid::oid, :name::name, :lower::numeric, :upper::numeric, :categories::text[],"
            " :visibility::text, :others::text)"
            " ON CONFLICT (relation, attnum) DO UPDATE SET lower = excluded.lower, upper = excluded.upper,"
            " categories = excluded.categories, visibility = excluded.visibility, others = excluded.others",
            oid=relation.oid, name=column, lower=description.lower, upper=description.upper, categories=categories,
            visibility=description.visibility, others=description.others,
        )  # fmt: skip

    def has_plain_parts(self, relation: Relation) -> bool:
        return not self._run(
            "SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = :oid::oid AND NOT c.relispartition",
            oid=relation.oid,
        )

    def remove_protection(self, relation: Relation) -> None:
        self._run("SELECT discreet._release_periods(:oid::oid)", oid=relation.oid)
        for table in ("_protected_column", "_protected_table"):
            self._run(f"DELETE FROM discreet.{table} WHERE relation = :oid::oid", oid=relation.oid)
        self._run("DELETE FROM discreet._protected_part WHERE whole = :oid::oid", oid=relation.oid)

    def set_budget(self, dataset: Dataset, role: str, epsilon: Decimal, delta: Decimal, forever: bool) -> None:
        if not self._run("SELECT FROM pg_roles WHERE oid = :role::regrole", role=role):
            raise UndefinedObjectError(f"there is no role {role}", "Make it first, with CREATE ROLE.")
        self._write_budget(dataset, role, epsilon, delta, forever)
        # the role's name comes quoted from regrole; membership opens the functions, the budget opens the dataset
        if self._run("SELECT WHERE NOT pg_has_role(:role::regrole, 'discreet_analyst', 'MEMBER')", role=role):
            self._plpy.execute(f"GRANT discreet_analyst TO {role}")

    def revoke_budget(self, dataset: str, role: str) -> bool:
        revoked = self._run(
            "UPDATE discreet._budget SET granted = false"
            " WHERE dataset = :dataset::text AND role = :role::regrole AND role <> 0 AND granted RETURNING role",
            dataset=dataset, role=role,
        )  # fmt: skip
        if revoked:
            self.end_reserve(dataset, role)
        return len(revoked) > 0

    def holds_budget(self, dataset: str, role: str) -> bool:
        rows = self._run(
            "SELECT FROM pg_roles r WHERE r.oid = :role::regrole AND discreet._holds_budget(r.rolname, :dataset::text)",
            role=role, dataset=dataset,
        )  # fmt: skip
        return len(rows) > 0

    def is_ahead(self, moment: str) -> bool:
        return len(self._run("SELECT WHERE :moment::timestamptz > clock_timestamp()", moment=moment)) > 0

    def keep_reserve(self, dataset: Dataset, role: str, epsilon: Decimal, until: str) -> Decimal | None:
        if not self._run("SELECT FROM pg_roles WHERE oid = :role::regrole", role=role):
            raise UndefinedObjectError(f"there is no role {role}", "Make it first, with CREATE ROLE.")
        amount = amount_limit(dataset, epsilon)
        rows = self._run(
            "SELECT discreet._keep_reserve(:dataset::text, :role::regrole, :epsilon::numeric, :amount::numeric,"
            " :until::timestamptz) AS free",
            dataset=dataset.name, role=role, epsilon=epsilon, amount=amount, until=until,
        )  # fmt: skip
        free: Decimal = rows[0]["free"]
        if amount <= free:
            return None
        free = max(free, Decimal(0))
        return free if dataset.accounting == "pure" else epsilon_spent(free, dataset.delta)

    def end_reserve(self, dataset: str, role: str) -> bool:
        rows = self._run(
            "SELECT discreet._end_reserve(:dataset::text, :role::regrole) AS ended", dataset=dataset, role=role
        )
        return bool(rows[0]["ended"])

    def protected_below(self, view: Relation) -> list[Below]:
        rows = self._run(BELOW, oid=view.oid)
        return [Below(row["relation"], row["dataset"], row["owned"]) for row in rows]

    def is_union(self, view: Relation) -> bool:
        found = (
            "SELECT FROM pg_rewrite r WHERE r.ev_class = :oid::oid AND r.ev_type = '1'"
            " AND discreet._tree_is_union(r.ev_action)"
        )
        return len(self._run(found, oid=view.oid)) > 0

    def exempt(self, view: Relation) -> None:
        # else a function in an analyst's WHERE could see the rows that it leaves out
        self._plpy.execute(f"ALTER VIEW {view.quoted_name} SET (security_barrier = true)")
        self._run("INSERT INTO discreet._exempt_view VALUES (:oid::oid) ON CONFLICT DO NOTHING", oid=view.oid)

    def guard(self, view: Relation) -> bool:
        return (
            len(self._run("DELETE FROM discreet._exempt_view WHERE view = :oid::oid RETURNING view", oid=view.oid)) > 0
        )

    def notice(self, message: str, hint: str) -> None:
        self._plpy.notice(message, hint=hint)
