-- What changes in tables of 0.1.0. All else follows from the install scripts (dev/upgrade.py) and takes the place of the mark.

-- the keys were those of statements, now they are those of measurements: no old one would be found
DELETE FROM discreet._answer;
ALTER TABLE discreet._answer ADD COLUMN epoch bigint NOT NULL;

ALTER TABLE discreet._accuracy ADD COLUMN role name, ADD COLUMN label bigint;

ALTER TABLE discreet._budget DROP CONSTRAINT _budget_pkey, ADD PRIMARY KEY (role, dataset);
ALTER TABLE discreet._label_spent DROP CONSTRAINT _label_spent_pkey, ADD PRIMARY KEY (role, dataset, label);

ALTER TABLE discreet._clearance ADD COLUMN write_from bigint NOT NULL DEFAULT 0 CHECK ((write_from & ~label) = 0);

ALTER TABLE discreet._multilevel_table ADD COLUMN history uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid();

ALTER TABLE discreet._budget ADD COLUMN forever boolean NOT NULL DEFAULT false;

ALTER TABLE discreet._dataset
    ADD COLUMN diagnose numeric NOT NULL DEFAULT 0 CHECK (diagnose >= 0 AND diagnose < 1),
    ADD COLUMN period interval CHECK (
        period IN (pg_catalog.make_interval(months => (extract(year FROM period) * 12 + extract(month FROM period))::int),
                   pg_catalog.make_interval(days => extract(day FROM period)::int))
        AND period > '0' AND (extract(day FROM period) = 0 OR extract(year FROM period) * 12 + extract(month FROM period) = 0)),
    ADD COLUMN lifetime_epsilon numeric CHECK (lifetime_epsilon > 0 AND lifetime_epsilon < 'Infinity'),
    ADD COLUMN lifetime_amount numeric CHECK (lifetime_amount >= 0 AND lifetime_amount < 'Infinity'),
    ADD CHECK ((period IS NULL) = (lifetime_epsilon IS NULL) AND (period IS NULL) = (lifetime_amount IS NULL)),
    ADD CHECK (period IS NULL OR neighbours = 'unbounded');

ALTER TABLE discreet._protected_column ADD COLUMN others text CHECK (others IS NULL OR categories IS NOT NULL);

ALTER TABLE discreet._protected_table
    ADD COLUMN parent regclass,
    ADD COLUMN parent_key name,
    ADD COLUMN parent_key_attnum int2,
    ALTER max_groups DROP NOT NULL,
    ADD CHECK (policy = 'noisy' OR parent IS NULL),
    ADD CHECK ((parent IS NULL) = (parent_key IS NULL) AND (parent IS NULL) = (parent_key_attnum IS NULL)),
    ADD COLUMN "time" name,
    ADD COLUMN time_attnum int2,
    ADD CHECK (("time" IS NULL) = (time_attnum IS NULL) AND (policy = 'noisy' OR "time" IS NULL));
ALTER TABLE discreet._past_protection ADD COLUMN "time" name, ADD COLUMN time_attnum int2;

-- views of multilevel tables, which are made anew below, call nothing of 0.1.0 until then
CREATE FUNCTION discreet._outside_update(statement text)
RETURNS void
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'discreet_outside_update';
DO $plpgsql$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT v.oid::pg_catalog.regclass AS name, pg_catalog.string_agg(pg_catalog.format(
            'NULL::%s%s AS %I', pg_catalog.format_type(a.atttypid, a.atttypmod),
            ' COLLATE ' || NULLIF(a.attcollation, 0)::pg_catalog.regcollation::pg_catalog.text, a.attname), ', '
            ORDER BY a.attnum) AS columns
        FROM discreet._multilevel_table t JOIN pg_catalog.pg_class b ON b.oid = t.base
        JOIN pg_catalog.pg_class v ON v.relnamespace = b.relnamespace AND v.relkind = 'v'
            AND v.relname IN (b.relname || '_single', b.relname || '_several', b.relname || '_others')
        JOIN pg_catalog.pg_attribute a ON a.attrelid = v.oid AND a.attnum > 0
        GROUP BY v.oid
    LOOP
        PERFORM discreet._outside_update(pg_catalog.format(
            'CREATE OR REPLACE VIEW %s WITH (security_barrier) AS SELECT %s WHERE false', part.name, part.columns));
    END LOOP;
END
$plpgsql$;

-- the unit is text now, since it may be a path
DROP VIEW discreet.protected_tables;

/* @EVERYTHING_ELSE@ */

-- their functions were made by 0.1.0, and which triggers are ours was not written down
SELECT discreet._outside_update('SELECT discreet._mls_rebuild()');
