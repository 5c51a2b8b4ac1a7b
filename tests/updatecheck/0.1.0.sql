-- A database of version 0.1.0, as tests/updatecheck/history.sql made it and its people used it, dumped by that version's software.
-- PostgreSQL database dump

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = error;
SET row_security = off;

CREATE EXTENSION IF NOT EXISTS plpython3u WITH SCHEMA pg_catalog;

COMMENT ON EXTENSION plpython3u IS 'PL/Python3U untrusted procedural language';

CREATE EXTENSION discreet WITH SCHEMA pg_catalog VERSION '0.1.0';

COMMENT ON EXTENSION discreet IS 'answers questions about people without giving the people away';

CREATE SCHEMA hr;

ALTER SCHEMA hr OWNER TO postgres;

CREATE FUNCTION hr.port_mls_delete() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    _c bigint := discreet._written_label();
    _at bigint;
BEGIN
    IF EXISTS (SELECT FROM hr.ship k WHERE k."port" = OLD."name") THEN
        RAISE foreign_key_violation USING
            MESSAGE = 'row of "hr"."port" is named by visible rows of hr.ship';
    END IF;
    UPDATE "hr"."port_mls" t
    SET _dead = true, _slot = CASE WHEN t._entity IS NULL THEN t._row_id ELSE t._slot END
    WHERE t."name" = OLD."name" AND t._row_id = OLD.row_id AND t._label = _c AND NOT t._dead;
    IF NOT FOUND THEN
        SELECT s._label INTO _at FROM "hr"."port_mls" s
        WHERE s."name" = OLD."name" AND s._row_id = OLD.row_id;
        IF _at <> _c THEN
            PERFORM discreet._deny('"hr"."port"', 'DELETE',
                'a row that lives at a lower label cannot be deleted',
                'A session deletes rows at its own label; tc and the labels of the row tell where it lives.');
        END IF;
        RETURN NULL;
    END IF;
    RETURN OLD;
END
$$;

ALTER FUNCTION hr.port_mls_delete() OWNER TO postgres;

CREATE FUNCTION hr.port_mls_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    _c bigint := discreet._written_label(NEW."name_label", NEW."depth_label", NEW.tc);
BEGIN
    IF NEW."name" IS NULL THEN
        RAISE not_null_violation USING MESSAGE = 'a key of multilevel table "hr"."port" is NULL';
    END IF;
    IF pg_catalog.pg_column_size(NEW."name") OPERATOR(pg_catalog.>) 2000 THEN
        RAISE program_limit_exceeded USING MESSAGE = 'a key of multilevel table "hr"."port" is too long';
    END IF;
    IF _c IS NULL THEN
        NEW.row_id := discreet._random_id();
        RETURN "hr"."port_mls_load"(NEW);
    END IF;
    IF NOT coalesce((SELECT (depth > 0) FROM (SELECT NEW."name" AS "name", NEW."depth" AS "depth") written), true) THEN
        RAISE check_violation USING
            MESSAGE = 'row of multilevel table "hr"."port" violates check port_depth_check';
    END IF;
    NEW.row_id := discreet._insert_root(
        '"hr"."port_mls"'::pg_catalog.regclass, NEW, _c,
        CASE WHEN NOT (NEW."depth" IS NOT NULL) THEN ARRAY[CASE WHEN NEW."depth" IS NULL THEN -1 ELSE -2 END]::bigint[] END,
        'duplicate key in multilevel table "hr"."port"');
    RETURN NEW;
END
$$;

ALTER FUNCTION hr.port_mls_insert() OWNER TO postgres;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE hr.port_mls (
    name text NOT NULL,
    depth integer,
    _key_label bigint NOT NULL,
    _slot bigint NOT NULL,
    _row_id bigint NOT NULL,
    _label bigint NOT NULL,
    _dead boolean DEFAULT false NOT NULL,
    _entity bigint,
    _source bigint[]
);

ALTER TABLE hr.port_mls OWNER TO postgres;

CREATE VIEW hr.port_mls_others WITH (security_barrier='true') AS
 SELECT x.name,
    discreet._label(x._key_label) AS name_label,
    x.depth,
    discreet._label(x.depth_label) AS depth_label,
    discreet._label((x._key_label | x.depth_label)) AS tc,
    x._row_id AS row_id
   FROM ( SELECT i.name,
            i._key_label,
            (i._shown)._row_id AS _row_id,
            (i._shown).depth AS depth,
            (i._shown)._source[1] AS depth_label
           FROM ( SELECT _above.name,
                    _above._key_label,
                    discreet._instances('hr.port_mls'::regclass, _above._rows, ARRAY['depth'::text], NULL::bigint) AS _shown
                   FROM ( SELECT _above_1.name,
                            _above_1._key_label,
                            _above_1.*::hr.port_mls AS _rows
                           FROM hr.port_mls _above_1
                          WHERE ((_above_1._entity IS NOT NULL) AND (_above_1._label = ANY (discreet._above_labels('hr.port_mls'::regclass))) AND (_above_1._row_id >= '4611686018427387904'::bigint))
                          ORDER BY _above_1.name) _above) i) x;

ALTER TABLE hr.port_mls_others OWNER TO postgres;

CREATE VIEW hr.port_mls_several WITH (security_barrier='true') AS
 SELECT x.name,
    discreet._label(x._key_label) AS name_label,
    x.depth,
    discreet._label(x.depth_label) AS depth_label,
    discreet._label((x._key_label | x.depth_label)) AS tc,
    x._row_id AS row_id
   FROM ( SELECT i.name,
            i._key_label,
            (i._shown)._row_id AS _row_id,
            (i._shown).depth AS depth,
            (i._shown)._source[1] AS depth_label
           FROM ( SELECT _above.name,
                    _above._key_label,
                    discreet._instances('hr.port_mls'::regclass, _above._rows, ARRAY['depth'::text], NULL::bigint) AS _shown
                   FROM ( SELECT _above_1.name,
                            _above_1._key_label,
                            _above_1.*::hr.port_mls AS _rows
                           FROM hr.port_mls _above_1
                          WHERE ((_above_1._entity IS NOT NULL) AND (_above_1._label = ANY (discreet._above_labels('hr.port_mls'::regclass))) AND (_above_1._row_id < '4611686018427387904'::bigint))
                          ORDER BY _above_1.name) _above) i) x;

ALTER TABLE hr.port_mls_several OWNER TO postgres;

CREATE VIEW hr.port_mls_single WITH (security_barrier='true') AS
 SELECT x.name,
    discreet._label(x._key_label) AS name_label,
    x.depth,
    discreet._label(x.depth_label) AS depth_label,
    discreet._label((x._key_label | x.depth_label)) AS tc,
    x._row_id AS row_id
   FROM ( SELECT r.name,
            r._key_label,
            r._row_id,
            r.depth,
                CASE
                    WHEN ((r._source IS NULL) OR (r._source[1] <> '-1'::integer)) THEN r._key_label
                    ELSE NULL::bigint
                END AS depth_label
           FROM hr.port_mls r
          WHERE discreet._is_single('hr.port_mls'::regclass, r._key_label, r._slot, r._row_id)) x;

ALTER TABLE hr.port_mls_single OWNER TO postgres;

CREATE VIEW hr.port WITH (security_barrier='true') AS
 SELECT port_mls_single.name,
    port_mls_single.name_label,
    port_mls_single.depth,
    port_mls_single.depth_label,
    port_mls_single.tc,
    port_mls_single.row_id
   FROM hr.port_mls_single
UNION ALL
 SELECT port_mls_several.name,
    port_mls_several.name_label,
    port_mls_several.depth,
    port_mls_several.depth_label,
    port_mls_several.tc,
    port_mls_several.row_id
   FROM hr.port_mls_several
UNION ALL
 SELECT port_mls_others.name,
    port_mls_others.name_label,
    port_mls_others.depth,
    port_mls_others.depth_label,
    port_mls_others.tc,
    port_mls_others.row_id
   FROM hr.port_mls_others;

ALTER TABLE hr.port OWNER TO postgres;

CREATE FUNCTION hr.port_mls_load(new hr.port) RETURNS hr.port
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    _c bigint := discreet._written_label();
    _key bigint := coalesce(discreet._label_bits(NEW."name_label"), _c);
    _labels bigint[] := ARRAY[coalesce(discreet._label_bits(NEW."depth_label"), _c)]::bigint[];
    _top bigint := _key;
    _root bigint := NEW.row_id;
    _l bigint;
BEGIN
    IF NOT discreet._is_trusted() THEN
        PERFORM discreet._deny('"hr"."port"', 'INSERT', 'only trusted sessions give labels when they write',
            'Leave the label columns out: what is written has the label of the session.');
    END IF;
    IF EXISTS (SELECT FROM unnest(ARRAY[discreet._label_bits(NEW."name_label")]::bigint[]) k WHERE k <> _key) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the columns of a key have one label';
    END IF;
    IF EXISTS (SELECT FROM unnest(_labels || _key) k WHERE (k & ~_c) <> 0) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a label is above that of the session',
            HINT = 'Load with a session whose label dominates all labels that it gives.';
    END IF;
    IF EXISTS (SELECT FROM unnest(_labels) k WHERE (_key & ~k) <> 0) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the label of a cell does not dominate that of the key';
    END IF;
    IF NEW."depth" IS NULL AND _labels[1] = _c THEN _labels[1] := -1; END IF;
    IF NOT coalesce((SELECT (depth > 0) FROM (SELECT NEW."name" AS "name", NEW."depth" AS "depth") written), true) THEN
        RAISE check_violation USING
            MESSAGE = 'row of multilevel table "hr"."port" violates check port_depth_check';
    END IF;
    FOREACH _l IN ARRAY _labels LOOP
        _top := _top | CASE WHEN _l = -1 THEN 0 ELSE _l END;
    END LOOP;
    FOR _l IN SELECT DISTINCT k FROM unnest(_labels || _key || _top) k WHERE k <> -1 ORDER BY k LOOP
        INSERT INTO "hr"."port_mls" ("name", "depth", _row_id, _entity, _key_label, _label, _slot, _dead, _source)
        SELECT NEW."name", CASE WHEN _labels[1] = _l THEN NEW."depth" END,
            NEW.row_id, CASE WHEN _l <> _key THEN _root END, _key, _l,
            CASE WHEN _l = _key THEN 0 ELSE _root # (_l << 1) END, false, ARRAY[CASE WHEN _labels[1] = _l THEN -2 WHEN _l = _key THEN -1 WHEN _labels[1] <> -1 AND (_labels[1] & ~_l) = 0 THEN _labels[1] ELSE _key END]::bigint[]
        WHERE _l <> _key OR NOT EXISTS (SELECT FROM "hr"."port_mls" s WHERE s."name" OPERATOR(pg_catalog.=) NEW."name" AND NOT s._dead AND (s._label OPERATOR(pg_catalog.&) OPERATOR(pg_catalog.~) _c) OPERATOR(pg_catalog.=) 0)
        ON CONFLICT ("name", _key_label, _slot) DO NOTHING;
        IF NOT FOUND THEN
            RAISE unique_violation USING
            MESSAGE = 'duplicate key in multilevel table "hr"."port"',
            HINT = 'A row with this key is visible at the label of the session.';
        END IF;
        EXIT WHEN _l = _top;
        NEW.row_id := discreet._random_id();
    END LOOP;
    NEW."name_label" := discreet._label(_key);
    NEW."depth_label" := discreet._label(NULLIF(_labels[1], -1));
    NEW.tc := discreet._label(CASE WHEN -1 = ANY (_labels) THEN _c ELSE _top END);
    RETURN NEW;
END
$$;

ALTER FUNCTION hr.port_mls_load(new hr.port) OWNER TO postgres;

CREATE FUNCTION hr.port_mls_update() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    _c bigint := discreet._written_label();
    _named int2[];
    _is_set boolean[];
    _acted record;
BEGIN
    IF (NEW."name" = OLD."name" AND NEW."name_label" = OLD."name_label" AND NEW."depth_label" = OLD."depth_label" AND NEW.row_id = OLD.row_id) IS NOT TRUE THEN
        RAISE feature_not_supported USING
            MESSAGE = 'keys, labels and ids of multilevel table "hr"."port" cannot be updated',
            HINT = 'DELETE and INSERT give a row another key; discreet.mls_declassify() lowers a label.';
    END IF;
    NEW."name" := OLD."name";
    -- the columns that the statement sets, which a hook of the extension tells; else those that differ
    -- where somebody else tells, through a view around this one, all other columns are judged as they were
    IF starts_with(NEW.tc, '{') THEN
        _named := NEW.tc;
        _is_set := ARRAY[coalesce(3 = ANY (_named), false)]::boolean[];
        IF NOT _is_set[1] THEN NEW."depth" := OLD."depth"; END IF;
    ELSIF NEW.tc IS DISTINCT FROM OLD.tc THEN
        RAISE feature_not_supported USING MESSAGE = 'column tc cannot be set',
            HINT = 'It is the least upper bound of the labels of the row.';
    ELSE
        _is_set := ARRAY[NEW."depth" IS DISTINCT FROM OLD."depth"]::boolean[];
    END IF;
    NEW.tc := OLD.tc;
    IF NOT coalesce(true = ANY (_is_set), false) THEN
        RETURN NEW;
    END IF;
    IF NOT coalesce((SELECT (depth > 0) FROM (SELECT NEW."name" AS "name", NEW."depth" AS "depth") written), true) THEN
        RAISE check_violation USING
            MESSAGE = 'row of multilevel table "hr"."port" violates check port_depth_check';
    END IF;
    UPDATE "hr"."port_mls" t SET "depth" = CASE WHEN _is_set[1] THEN NEW."depth" ELSE t."depth" END,
        _source = CASE WHEN t._source IS NOT NULL THEN ARRAY[CASE WHEN _is_set[1] THEN -2 ELSE t._source[1] END] END
    WHERE t."name" = OLD."name" AND t._row_id = OLD.row_id AND t._label = _c AND NOT t._dead;
    IF NOT FOUND THEN
        -- the row lives at a lower label; of several it must be the highest
        SELECT s._label AS label, coalesce(s._entity, s._row_id) AS entity, s._dead AS dead,
            coalesce(bool_or((s._label & ~o._label) = 0), false) AS is_below, count(o._label) > 0 AS has_others
        INTO _acted
        FROM "hr"."port_mls" s LEFT JOIN "hr"."port_mls" o ON o."name" = s."name" AND o._key_label = s._key_label AND o._entity = coalesce(s._entity, s._row_id)
            AND NOT o._dead AND (o._label & ~_c) = 0 AND (o._label & ~s._label) <> 0
        WHERE s."name" = OLD."name" AND s._row_id = OLD.row_id
        GROUP BY s._label, s._entity, s._row_id, s._dead;
        IF _acted.entity IS NULL OR _acted.dead OR _acted.label = _c OR _acted.is_below THEN
            RETURN NULL;
        END IF;
        IF _acted.has_others THEN
            RAISE feature_not_supported USING
                MESSAGE = 'an entity of multilevel table "hr"."port" has several highest versions',
                HINT = 'At the label of one of them, or above both, discreet.mls_uplevel() settles which value holds.';
        END IF;
        NEW.row_id := discreet._random_id();
        INSERT INTO "hr"."port_mls" AS t ("name", "depth", _row_id, _entity, _key_label, _label, _slot, _dead, _source)
        SELECT s."name", CASE WHEN _is_set[1] THEN NEW."depth" END,
            NEW.row_id, _acted.entity, s._key_label, _c, _acted.entity # (_c << 1), false, ARRAY[CASE WHEN _is_set[1] THEN -2 WHEN s._source[1] >= 0 THEN s._source[1] ELSE s._label END]
        FROM "hr"."port_mls" s
        WHERE s."name" = OLD."name" AND s._row_id = OLD.row_id
        ON CONFLICT ("name", _key_label, _slot) DO UPDATE SET "depth" = CASE WHEN t._dead OR _is_set[1] THEN excluded."depth" ELSE t."depth" END,
            _source = ARRAY[CASE WHEN t._dead OR _is_set[1] THEN excluded._source[1] ELSE t._source[1] END], _dead = false
        RETURNING t._row_id INTO NEW.row_id;
    END IF;
    IF _is_set[1] THEN NEW."depth_label" := discreet._label(_c); END IF;
    NEW.tc := discreet._label(_c);
    RETURN NEW;
END
$$;

ALTER FUNCTION hr.port_mls_update() OWNER TO postgres;

CREATE FUNCTION hr.ship_mls_delete() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    _c bigint := discreet._written_label();
    _at bigint;
BEGIN
    UPDATE "hr"."ship_mls" t
    SET _dead = true, _slot = CASE WHEN t._entity IS NULL THEN t._row_id ELSE t._slot END
    WHERE t."name" = OLD."name" AND t._row_id = OLD.row_id AND t._label = _c AND NOT t._dead;
    IF NOT FOUND THEN
        SELECT s._label INTO _at FROM "hr"."ship_mls" s
        WHERE s."name" = OLD."name" AND s._row_id = OLD.row_id;
        IF _at <> _c THEN
            PERFORM discreet._deny('"hr"."ship"', 'DELETE',
                'a row that lives at a lower label cannot be deleted',
                'A session deletes rows at its own label; tc and the labels of the row tell where it lives.');
        END IF;
        RETURN NULL;
    END IF;
    RETURN OLD;
END
$$;

ALTER FUNCTION hr.ship_mls_delete() OWNER TO postgres;

CREATE FUNCTION hr.ship_mls_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    _c bigint := discreet._written_label(NEW."name_label", NEW."port_label", NEW."cargo_label", NEW."tons_label", NEW.tc);
BEGIN
    IF NEW."name" IS NULL THEN
        RAISE not_null_violation USING MESSAGE = 'a key of multilevel table "hr"."ship" is NULL';
    END IF;
    IF pg_catalog.pg_column_size(NEW."name") OPERATOR(pg_catalog.>) 2000 THEN
        RAISE program_limit_exceeded USING MESSAGE = 'a key of multilevel table "hr"."ship" is too long';
    END IF;
    IF _c IS NULL THEN
        NEW.row_id := discreet._random_id();
        RETURN "hr"."ship_mls_load"(NEW);
    END IF;
    IF NEW."port" IS NOT NULL AND NOT EXISTS (SELECT FROM hr.port p WHERE p."name" = NEW."port") THEN
        RAISE foreign_key_violation USING
            MESSAGE = 'row of "hr"."ship" names no visible row of hr.port';
    END IF;
    NEW.row_id := discreet._insert_root(
        '"hr"."ship_mls"'::pg_catalog.regclass, NEW, _c,
        CASE WHEN NOT (NEW."port" IS NOT NULL AND NEW."cargo" IS NOT NULL AND NEW."tons" IS NOT NULL) THEN ARRAY[CASE WHEN NEW."port" IS NULL THEN -1 ELSE -2 END, CASE WHEN NEW."cargo" IS NULL THEN -1 ELSE -2 END, CASE WHEN NEW."tons" IS NULL THEN -1 ELSE -2 END]::bigint[] END,
        'duplicate key in multilevel table "hr"."ship"');
    RETURN NEW;
END
$$;

ALTER FUNCTION hr.ship_mls_insert() OWNER TO postgres;

CREATE TABLE hr.ship_mls (
    name text NOT NULL,
    port text,
    cargo text,
    tons integer,
    _key_label bigint NOT NULL,
    _slot bigint NOT NULL,
    _row_id bigint NOT NULL,
    _label bigint NOT NULL,
    _dead boolean DEFAULT false NOT NULL,
    _entity bigint,
    _source bigint[]
);

ALTER TABLE hr.ship_mls OWNER TO postgres;

CREATE VIEW hr.ship_mls_others WITH (security_barrier='true') AS
 SELECT x.name,
    discreet._label(x._key_label) AS name_label,
    x.port,
    discreet._label(x.port_label) AS port_label,
    x.cargo,
    discreet._label(x.cargo_label) AS cargo_label,
    x.tons,
    discreet._label(x.tons_label) AS tons_label,
    discreet._label((((x._key_label | x.port_label) | x.cargo_label) | x.tons_label)) AS tc,
    x._row_id AS row_id
   FROM ( SELECT i.name,
            i._key_label,
            (i._shown)._row_id AS _row_id,
            (i._shown).port AS port,
            (i._shown)._source[1] AS port_label,
            (i._shown).cargo AS cargo,
            (i._shown)._source[2] AS cargo_label,
            (i._shown).tons AS tons,
            (i._shown)._source[3] AS tons_label
           FROM ( SELECT _above.name,
                    _above._key_label,
                    discreet._instances('hr.ship_mls'::regclass, _above._rows, ARRAY['port'::text, 'cargo'::text, 'tons'::text], NULL::bigint) AS _shown
                   FROM ( SELECT _above_1.name,
                            _above_1._key_label,
                            _above_1.*::hr.ship_mls AS _rows
                           FROM hr.ship_mls _above_1
                          WHERE ((_above_1._entity IS NOT NULL) AND (_above_1._label = ANY (discreet._above_labels('hr.ship_mls'::regclass))) AND (_above_1._row_id >= '4611686018427387904'::bigint))
                          ORDER BY _above_1.name) _above) i) x;

ALTER TABLE hr.ship_mls_others OWNER TO postgres;

CREATE VIEW hr.ship_mls_several WITH (security_barrier='true') AS
 SELECT x.name,
    discreet._label(x._key_label) AS name_label,
    x.port,
    discreet._label(x.port_label) AS port_label,
    x.cargo,
    discreet._label(x.cargo_label) AS cargo_label,
    x.tons,
    discreet._label(x.tons_label) AS tons_label,
    discreet._label((((x._key_label | x.port_label) | x.cargo_label) | x.tons_label)) AS tc,
    x._row_id AS row_id
   FROM ( SELECT i.name,
            i._key_label,
            (i._shown)._row_id AS _row_id,
            (i._shown).port AS port,
            (i._shown)._source[1] AS port_label,
            (i._shown).cargo AS cargo,
            (i._shown)._source[2] AS cargo_label,
            (i._shown).tons AS tons,
            (i._shown)._source[3] AS tons_label
           FROM ( SELECT _above.name,
                    _above._key_label,
                    discreet._instances('hr.ship_mls'::regclass, _above._rows, ARRAY['port'::text, 'cargo'::text, 'tons'::text], NULL::bigint) AS _shown
                   FROM ( SELECT _above_1.name,
                            _above_1._key_label,
                            _above_1.*::hr.ship_mls AS _rows
                           FROM hr.ship_mls _above_1
                          WHERE ((_above_1._entity IS NOT NULL) AND (_above_1._label = ANY (discreet._above_labels('hr.ship_mls'::regclass))) AND (_above_1._row_id < '4611686018427387904'::bigint))
                          ORDER BY _above_1.name) _above) i) x;

ALTER TABLE hr.ship_mls_several OWNER TO postgres;

CREATE VIEW hr.ship_mls_single WITH (security_barrier='true') AS
 SELECT x.name,
    discreet._label(x._key_label) AS name_label,
    x.port,
    discreet._label(x.port_label) AS port_label,
    x.cargo,
    discreet._label(x.cargo_label) AS cargo_label,
    x.tons,
    discreet._label(x.tons_label) AS tons_label,
    discreet._label((((x._key_label | x.port_label) | x.cargo_label) | x.tons_label)) AS tc,
    x._row_id AS row_id
   FROM ( SELECT r.name,
            r._key_label,
            r._row_id,
            r.port,
                CASE
                    WHEN ((r._source IS NULL) OR (r._source[1] <> '-1'::integer)) THEN r._key_label
                    ELSE NULL::bigint
                END AS port_label,
            r.cargo,
                CASE
                    WHEN ((r._source IS NULL) OR (r._source[2] <> '-1'::integer)) THEN r._key_label
                    ELSE NULL::bigint
                END AS cargo_label,
            r.tons,
                CASE
                    WHEN ((r._source IS NULL) OR (r._source[3] <> '-1'::integer)) THEN r._key_label
                    ELSE NULL::bigint
                END AS tons_label
           FROM hr.ship_mls r
          WHERE discreet._is_single('hr.ship_mls'::regclass, r._key_label, r._slot, r._row_id)) x;

ALTER TABLE hr.ship_mls_single OWNER TO postgres;

CREATE VIEW hr.ship WITH (security_barrier='true') AS
 SELECT ship_mls_single.name,
    ship_mls_single.name_label,
    ship_mls_single.port,
    ship_mls_single.port_label,
    ship_mls_single.cargo,
    ship_mls_single.cargo_label,
    ship_mls_single.tons,
    ship_mls_single.tons_label,
    ship_mls_single.tc,
    ship_mls_single.row_id
   FROM hr.ship_mls_single
UNION ALL
 SELECT ship_mls_several.name,
    ship_mls_several.name_label,
    ship_mls_several.port,
    ship_mls_several.port_label,
    ship_mls_several.cargo,
    ship_mls_several.cargo_label,
    ship_mls_several.tons,
    ship_mls_several.tons_label,
    ship_mls_several.tc,
    ship_mls_several.row_id
   FROM hr.ship_mls_several
UNION ALL
 SELECT ship_mls_others.name,
    ship_mls_others.name_label,
    ship_mls_others.port,
    ship_mls_others.port_label,
    ship_mls_others.cargo,
    ship_mls_others.cargo_label,
    ship_mls_others.tons,
    ship_mls_others.tons_label,
    ship_mls_others.tc,
    ship_mls_others.row_id
   FROM hr.ship_mls_others;

ALTER TABLE hr.ship OWNER TO postgres;

CREATE FUNCTION hr.ship_mls_load(new hr.ship) RETURNS hr.ship
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    _c bigint := discreet._written_label();
    _key bigint := coalesce(discreet._label_bits(NEW."name_label"), _c);
    _labels bigint[] := ARRAY[coalesce(discreet._label_bits(NEW."port_label"), _c), coalesce(discreet._label_bits(NEW."cargo_label"), _c), coalesce(discreet._label_bits(NEW."tons_label"), _c)]::bigint[];
    _top bigint := _key;
    _root bigint := NEW.row_id;
    _l bigint;
BEGIN
    IF NOT discreet._is_trusted() THEN
        PERFORM discreet._deny('"hr"."ship"', 'INSERT', 'only trusted sessions give labels when they write',
            'Leave the label columns out: what is written has the label of the session.');
    END IF;
    IF EXISTS (SELECT FROM unnest(ARRAY[discreet._label_bits(NEW."name_label")]::bigint[]) k WHERE k <> _key) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the columns of a key have one label';
    END IF;
    IF EXISTS (SELECT FROM unnest(_labels || _key) k WHERE (k & ~_c) <> 0) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a label is above that of the session',
            HINT = 'Load with a session whose label dominates all labels that it gives.';
    END IF;
    IF EXISTS (SELECT FROM unnest(_labels) k WHERE (_key & ~k) <> 0) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the label of a cell does not dominate that of the key';
    END IF;
    IF NEW."port" IS NULL AND _labels[1] = _c THEN _labels[1] := -1; END IF;
    IF NEW."cargo" IS NULL AND _labels[2] = _c THEN _labels[2] := -1; END IF;
    IF NEW."tons" IS NULL AND _labels[3] = _c THEN _labels[3] := -1; END IF;
    IF NEW."port" IS NOT NULL AND NOT EXISTS (SELECT FROM hr.port p WHERE p."name" = NEW."port") THEN
        RAISE foreign_key_violation USING
            MESSAGE = 'row of "hr"."ship" names no visible row of hr.port';
    END IF;
    FOREACH _l IN ARRAY _labels LOOP
        _top := _top | CASE WHEN _l = -1 THEN 0 ELSE _l END;
    END LOOP;
    FOR _l IN SELECT DISTINCT k FROM unnest(_labels || _key || _top) k WHERE k <> -1 ORDER BY k LOOP
        INSERT INTO "hr"."ship_mls" ("name", "port", "cargo", "tons", _row_id, _entity, _key_label, _label, _slot, _dead, _source)
        SELECT NEW."name", CASE WHEN _labels[1] = _l THEN NEW."port" END, CASE WHEN _labels[2] = _l THEN NEW."cargo" END, CASE WHEN _labels[3] = _l THEN NEW."tons" END,
            NEW.row_id, CASE WHEN _l <> _key THEN _root END, _key, _l,
            CASE WHEN _l = _key THEN 0 ELSE _root # (_l << 1) END, false, ARRAY[CASE WHEN _labels[1] = _l THEN -2 WHEN _l = _key THEN -1 WHEN _labels[1] <> -1 AND (_labels[1] & ~_l) = 0 THEN _labels[1] ELSE _key END, CASE WHEN _labels[2] = _l THEN -2 WHEN _l = _key THEN -1 WHEN _labels[2] <> -1 AND (_labels[2] & ~_l) = 0 THEN _labels[2] ELSE _key END, CASE WHEN _labels[3] = _l THEN -2 WHEN _l = _key THEN -1 WHEN _labels[3] <> -1 AND (_labels[3] & ~_l) = 0 THEN _labels[3] ELSE _key END]::bigint[]
        WHERE _l <> _key OR NOT EXISTS (SELECT FROM "hr"."ship_mls" s WHERE s."name" OPERATOR(pg_catalog.=) NEW."name" AND NOT s._dead AND (s._label OPERATOR(pg_catalog.&) OPERATOR(pg_catalog.~) _c) OPERATOR(pg_catalog.=) 0)
        ON CONFLICT ("name", _key_label, _slot) DO NOTHING;
        IF NOT FOUND THEN
            RAISE unique_violation USING
            MESSAGE = 'duplicate key in multilevel table "hr"."ship"',
            HINT = 'A row with this key is visible at the label of the session.';
        END IF;
        EXIT WHEN _l = _top;
        NEW.row_id := discreet._random_id();
    END LOOP;
    NEW."name_label" := discreet._label(_key);
    NEW."port_label" := discreet._label(NULLIF(_labels[1], -1));
    NEW."cargo_label" := discreet._label(NULLIF(_labels[2], -1));
    NEW."tons_label" := discreet._label(NULLIF(_labels[3], -1));
    NEW.tc := discreet._label(CASE WHEN -1 = ANY (_labels) THEN _c ELSE _top END);
    RETURN NEW;
END
$$;

ALTER FUNCTION hr.ship_mls_load(new hr.ship) OWNER TO postgres;

CREATE FUNCTION hr.ship_mls_update() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    _c bigint := discreet._written_label();
    _named int2[];
    _is_set boolean[];
    _acted record;
BEGIN
    IF (NEW."name" = OLD."name" AND NEW."name_label" = OLD."name_label" AND NEW."port_label" = OLD."port_label" AND NEW."cargo_label" = OLD."cargo_label" AND NEW."tons_label" = OLD."tons_label" AND NEW.row_id = OLD.row_id) IS NOT TRUE THEN
        RAISE feature_not_supported USING
            MESSAGE = 'keys, labels and ids of multilevel table "hr"."ship" cannot be updated',
            HINT = 'DELETE and INSERT give a row another key; discreet.mls_declassify() lowers a label.';
    END IF;
    NEW."name" := OLD."name";
    -- the columns that the statement sets, which a hook of the extension tells; else those that differ
    -- where somebody else tells, through a view around this one, all other columns are judged as they were
    IF starts_with(NEW.tc, '{') THEN
        _named := NEW.tc;
        _is_set := ARRAY[coalesce(3 = ANY (_named), false), coalesce(5 = ANY (_named), false), coalesce(7 = ANY (_named), false)]::boolean[];
        IF NOT _is_set[1] THEN NEW."port" := OLD."port"; END IF;
        IF NOT _is_set[2] THEN NEW."cargo" := OLD."cargo"; END IF;
        IF NOT _is_set[3] THEN NEW."tons" := OLD."tons"; END IF;
    ELSIF NEW.tc IS DISTINCT FROM OLD.tc THEN
        RAISE feature_not_supported USING MESSAGE = 'column tc cannot be set',
            HINT = 'It is the least upper bound of the labels of the row.';
    ELSE
        _is_set := ARRAY[NEW."port" IS DISTINCT FROM OLD."port", NEW."cargo" IS DISTINCT FROM OLD."cargo", NEW."tons" IS DISTINCT FROM OLD."tons"]::boolean[];
    END IF;
    NEW.tc := OLD.tc;
    IF NOT coalesce(true = ANY (_is_set), false) THEN
        RETURN NEW;
    END IF;
    IF NEW."port" IS NOT NULL AND NOT EXISTS (SELECT FROM hr.port p WHERE p."name" = NEW."port") THEN
        RAISE foreign_key_violation USING
            MESSAGE = 'row of "hr"."ship" names no visible row of hr.port';
    END IF;
    UPDATE "hr"."ship_mls" t SET "port" = CASE WHEN _is_set[1] THEN NEW."port" ELSE t."port" END, "cargo" = CASE WHEN _is_set[2] THEN NEW."cargo" ELSE t."cargo" END, "tons" = CASE WHEN _is_set[3] THEN NEW."tons" ELSE t."tons" END,
        _source = CASE WHEN t._source IS NOT NULL THEN ARRAY[CASE WHEN _is_set[1] THEN -2 ELSE t._source[1] END, CASE WHEN _is_set[2] THEN -2 ELSE t._source[2] END, CASE WHEN _is_set[3] THEN -2 ELSE t._source[3] END] END
    WHERE t."name" = OLD."name" AND t._row_id = OLD.row_id AND t._label = _c AND NOT t._dead;
    IF NOT FOUND THEN
        -- the row lives at a lower label; of several it must be the highest
        SELECT s._label AS label, coalesce(s._entity, s._row_id) AS entity, s._dead AS dead,
            coalesce(bool_or((s._label & ~o._label) = 0), false) AS is_below, count(o._label) > 0 AS has_others
        INTO _acted
        FROM "hr"."ship_mls" s LEFT JOIN "hr"."ship_mls" o ON o."name" = s."name" AND o._key_label = s._key_label AND o._entity = coalesce(s._entity, s._row_id)
            AND NOT o._dead AND (o._label & ~_c) = 0 AND (o._label & ~s._label) <> 0
        WHERE s."name" = OLD."name" AND s._row_id = OLD.row_id
        GROUP BY s._label, s._entity, s._row_id, s._dead;
        IF _acted.entity IS NULL OR _acted.dead OR _acted.label = _c OR _acted.is_below THEN
            RETURN NULL;
        END IF;
        IF _acted.has_others THEN
            RAISE feature_not_supported USING
                MESSAGE = 'an entity of multilevel table "hr"."ship" has several highest versions',
                HINT = 'At the label of one of them, or above both, discreet.mls_uplevel() settles which value holds.';
        END IF;
        NEW.row_id := discreet._random_id();
        INSERT INTO "hr"."ship_mls" AS t ("name", "port", "cargo", "tons", _row_id, _entity, _key_label, _label, _slot, _dead, _source)
        SELECT s."name", CASE WHEN _is_set[1] THEN NEW."port" END, CASE WHEN _is_set[2] THEN NEW."cargo" END, CASE WHEN _is_set[3] THEN NEW."tons" END,
            NEW.row_id, _acted.entity, s._key_label, _c, _acted.entity # (_c << 1), false, ARRAY[CASE WHEN _is_set[1] THEN -2 WHEN s._source[1] >= 0 THEN s._source[1] ELSE s._label END, CASE WHEN _is_set[2] THEN -2 WHEN s._source[2] >= 0 THEN s._source[2] ELSE s._label END, CASE WHEN _is_set[3] THEN -2 WHEN s._source[3] >= 0 THEN s._source[3] ELSE s._label END]
        FROM "hr"."ship_mls" s
        WHERE s."name" = OLD."name" AND s._row_id = OLD.row_id
        ON CONFLICT ("name", _key_label, _slot) DO UPDATE SET "port" = CASE WHEN t._dead OR _is_set[1] THEN excluded."port" ELSE t."port" END, "cargo" = CASE WHEN t._dead OR _is_set[2] THEN excluded."cargo" ELSE t."cargo" END, "tons" = CASE WHEN t._dead OR _is_set[3] THEN excluded."tons" ELSE t."tons" END,
            _source = ARRAY[CASE WHEN t._dead OR _is_set[1] THEN excluded._source[1] ELSE t._source[1] END, CASE WHEN t._dead OR _is_set[2] THEN excluded._source[2] ELSE t._source[2] END, CASE WHEN t._dead OR _is_set[3] THEN excluded._source[3] ELSE t._source[3] END], _dead = false
        RETURNING t._row_id INTO NEW.row_id;
    END IF;
    IF _is_set[1] THEN NEW."port_label" := discreet._label(_c); END IF;
    IF _is_set[2] THEN NEW."cargo_label" := discreet._label(_c); END IF;
    IF _is_set[3] THEN NEW."tons_label" := discreet._label(_c); END IF;
    NEW.tc := discreet._label(_c);
    RETURN NEW;
END
$$;

ALTER FUNCTION hr.ship_mls_update() OWNER TO postgres;

CREATE FUNCTION hr.ship_rule_20232ae7() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$BEGIN
    IF (new.tons > 0) IS FALSE THEN
        RAISE check_violation USING MESSAGE = E'a row of hr.ship breaks rule "some_tons"', HINT = E'The rule is: new.tons > 0';
    END IF;
    RETURN coalesce(NEW, OLD);
END$$;

ALTER FUNCTION hr.ship_rule_20232ae7() OWNER TO postgres;

CREATE TABLE hr.dept (
    name text NOT NULL
);

ALTER TABLE hr.dept OWNER TO postgres;

CREATE TABLE hr.grade (
    id integer NOT NULL,
    grade integer,
    dept text
);

ALTER TABLE hr.grade OWNER TO postgres;

CREATE VIEW hr.headcount AS
 SELECT t.count
   FROM discreet.query('SELECT count(*) FROM hr.person'::text, NULL::numeric) t(count bigint);

ALTER TABLE hr.headcount OWNER TO up_alice;

CREATE VIEW hr.my_charges AS
 SELECT charges.dataset,
    charges.id,
    charges.epsilon
   FROM discreet.charges;

ALTER TABLE hr.my_charges OWNER TO postgres;

CREATE TABLE hr.patient (
    id integer,
    age integer,
    sex text,
    illness text
);

ALTER TABLE hr.patient OWNER TO postgres;

CREATE TABLE hr.patient_anonymous (
    age integer,
    sex text
);

ALTER TABLE hr.patient_anonymous OWNER TO postgres;

CREATE TABLE hr.person (
    id integer NOT NULL,
    dept text,
    age integer,
    salary numeric
);

ALTER TABLE hr.person OWNER TO postgres;

CREATE TABLE hr.poll (
    id integer NOT NULL,
    smoker boolean
);

ALTER TABLE hr.poll OWNER TO postgres;

CREATE TABLE hr.pseudonyms (
    now text,
    former text
);

ALTER TABLE hr.pseudonyms OWNER TO postgres;

CREATE VIEW hr.public_ages WITH (security_barrier='true') AS
 SELECT person.dept,
    count(*) AS count
   FROM hr.person
  GROUP BY person.dept;

ALTER TABLE hr.public_ages OWNER TO postgres;

CREATE TABLE hr.visit (
    person integer NOT NULL,
    day date,
    cost numeric
);

ALTER TABLE hr.visit OWNER TO postgres;

CREATE TABLE hr.vote (
    voter integer NOT NULL,
    yes boolean NOT NULL
);

ALTER TABLE hr.vote OWNER TO postgres;

CREATE TABLE hr.wage (
    id integer NOT NULL,
    wage integer NOT NULL,
    bonus integer NOT NULL
);

ALTER TABLE hr.wage OWNER TO postgres;

ALTER TABLE ONLY hr.port ALTER COLUMN name_label SET DEFAULT discreet._label(NULL::bigint);

ALTER TABLE ONLY hr.port ALTER COLUMN depth_label SET DEFAULT discreet._label(NULL::bigint);

ALTER TABLE ONLY hr.port ALTER COLUMN tc SET DEFAULT discreet._label(NULL::bigint);

ALTER TABLE ONLY hr.ship ALTER COLUMN name_label SET DEFAULT discreet._label(NULL::bigint);

ALTER TABLE ONLY hr.ship ALTER COLUMN port_label SET DEFAULT discreet._label(NULL::bigint);

ALTER TABLE ONLY hr.ship ALTER COLUMN cargo_label SET DEFAULT discreet._label(NULL::bigint);

ALTER TABLE ONLY hr.ship ALTER COLUMN tons_label SET DEFAULT discreet._label(NULL::bigint);

ALTER TABLE ONLY hr.ship ALTER COLUMN tc SET DEFAULT discreet._label(NULL::bigint);

COPY discreet._accuracy (at, dataset, column_name, kind, numbers, half_width, relative) FROM stdin;
2026-11-18 21:08:01.036037+00	people	count	count	1	30	0.15
2026-11-18 21:08:01.128409+00	people	count	count	3	90	1.28571
2026-11-18 21:08:01.128416+00	people	avg	avg	3	100	2.38152
2026-11-18 21:08:01.210441+00	people	sum	sum	1	4494.35	1.80641
2026-11-18 21:08:01.363303+00	votes	count	count	1	30	1.03448
\.

COPY discreet._audit (relation, seed, unit, unit_attnum, unit_type, "position", floor) FROM stdin;
hr.wage	-5827222041251669280	id	1	integer	2	0
\.

COPY discreet._audit_column (relation, number, column_name, attnum) FROM stdin;
hr.wage	1	id	1
hr.wage	2	wage	2
hr.wage	3	bonus	3
\.

COPY discreet._audit_event (relation, "position", at, role, columns, questions, event) FROM stdin;
hr.wage	2	2026-11-18 21:08:01.698741+00	up_alice	{2}	{1}	\\x7801ab656060a8564a2c2a4aac2c56b252888e56b229b550d25130368cd55100714c70706a4a0d813226b140654a89c5d9a92940ddc686404e526609d8a492a2d2549064727e4e696e1ec47023b0f294a2fc8202b086eadada23abe4567097cc5399766e4e77fc250d5539d9f7773ddf8a6aa5c69fe35c70405fab28efb04af9654d23e1ae3becfd7597ddc21af41267272cf497715fc2ac6ea311ba6ec3bdf4b48dd743d39f779c360c368c36e43b131f7b5329ce475d7b998f4140bce3ff8beb74cf5ec8de6fbbecc31ff6ff251d9c75c15d660215b34d23171ffa7fbf25b471978b8d96675791b17bd4fd1aa649a1475f3188d82e9f92931df145f6b8c4828e6fd25957526217ff5bd975daeb89fbea95874bfe33b67cdfc27bd16b46eddbbb3ba597f970ff36afda53affceac715b1e5876a9f3c94d3d5a93db93fb333750a63d5e73553427c6e482ef9b6afe0f1c1f4bd867f22d7b55d2c6dfbf80f18ee0c8c40cc04c4cc40cc02c4ac40cc06c4ec40cc01c49c40cc05c4dc40cc03c4bc40cc07c4fc402c00c482402c04c4c2402c02c4a2402c06c4e2402c01c492402c05c4d2402c03c4b2402c07c427e689559f3c107474676e6a8c879acf410f1d91ab5a8ba54c6ead5fb82eb13267215f00634f4a60f00cdeb50b0e6aa6b4eff8c8d3f6f364dc978a757edc620bac187cff2f38cb272d70b8ccecefd42b5d8eff6dcc6e54e945c4a71efca0f07b8940eea4ca655d01a9178f96fe5aac6c5dd95065e938cf3ef4fe8b45120c4b628ef0fdffffff1f000e6ade17
\.

COPY discreet._audit_known (relation, unit_value, person) FROM stdin;
hr.wage	17	-4848837366820391411
\.

COPY discreet._audit_name (schema_name, table_name, relation, dataset) FROM stdin;
hr	wage	hr.wage	wages
\.

COPY discreet._budget (dataset, role, granted, epsilon_limit, delta_limit, amount_limit, amount_spent, delta_spent) FROM stdin;
people	-	t	5	0.000001	5	0.3	0
people	up_alice	t	2	0.0000001	2	0.3	0
votes	-	t	50	0	50	0	0
votes	up_alice	t	20	0	20	0.1	0
wages	-	t	1	0	1	0	0
wages	up_alice	t	1	0	1	0	0
\.

COPY discreet._charge (dataset, label, id, at, role, epsilon, amount, delta, question, details, hash) FROM stdin;
people	-1	1	2026-11-18 21:08:00.969386+00	up_alice	0.1	0.1	0	 SELECT count(*) AS count\n   FROM hr.person	{"measurements": 1, "grouping_sets": 1}	\\x7913f5b0fee93bcb61e89b13d600edb1efe30cb8654aeb83b35c9e0fa9f98b16
people	-1	2	2026-11-18 21:08:01.107904+00	up_alice	0.1	0.1	0	 SELECT dept,\n    count(*) AS count,\n    avg(age) AS avg\n   FROM hr.person\n  GROUP BY dept\n  ORDER BY dept	{"measurements": 3, "grouping_sets": 1}	\\x62d5b1c0e5cc9a41f3942c1da9584ed62417708ff998e8f1ee9f88e318636af3
people	-1	3	2026-11-18 21:08:01.200373+00	up_alice	0.1	0.1	0	 SELECT sum(cost) AS sum\n   FROM hr.visit\n  WHERE (day < '2026-02-01'::date)	{"measurements": 1, "grouping_sets": 1}	\\x270445fa9cd4b5989cd0372a5888a56e4134843a1158d05fad73f5f1f6d1b861
votes	-1	1	2026-11-18 21:08:01.298055+00	up_alice	0.1	0	0	 SELECT count(*) AS count\n   FROM hr.vote\n  WHERE yes	{"policy": "personal", "measurements": 1, "grouping_sets": 1}	\\x6e4ba4b368b9f6c2ef7c14e11975cc9180f9db2966759cb33e9a7fbfc2349fc5
wages	-1	1	2026-11-18 21:08:01.699475+00	up_alice	0	0	0	 SELECT sum(wage) AS sum\n   FROM hr.wage\n  WHERE ((id >= 100) AND (id <= 130))	{"policy": "audited", "query_sets": 1}	\\xe4445946194e19b659db1f8a0084d195b4d47487c233317dc1724a0721d909e7
\.

COPY discreet._clearance (role, label) FROM stdin;
up_low	0
up_high	32771
\.

COPY discreet._dataset (dataset, accounting, neighbours, response_quantum, answer_lifetime, owner, created_at) FROM stdin;
people	pure	unbounded	\N	1 day	postgres	2026-11-18 21:07:26.395488+00
votes	pure	unbounded	\N	1 day	postgres	2026-11-18 21:07:37.086125+00
wages	pure	unbounded	\N	1 day	postgres	2026-11-18 21:07:40.665392+00
\.

COPY discreet._exempt_view (view) FROM stdin;
hr.public_ages
\.

COPY discreet._label_event (id, at, role, act, relation, details, hash) FROM stdin;
1	2026-11-18 21:07:46.772502+00	postgres	mls_define	\N	{"label": null, "levels": ["U", "C", "S"], "compartments": ["crypto"]}	\\x6ab60b45aa8ba20fa593738b57b1ae9e158264f28aaa6b97ac80febc1aaed3e7
2	2026-11-18 21:07:46.818502+00	postgres	mls_clear	\N	{"role": "up_low", "label": null, "clearance": "U"}	\\x86643ef9b9d0f6a15f5412be04cbef8f9137111852428e1bb097cce29483d578
3	2026-11-18 21:07:46.838497+00	postgres	mls_clear	\N	{"role": "up_high", "label": null, "clearance": "S:crypto"}	\\x1980a898e80080c3df775df108d5473b05eb9e0566cf201edf792a16d2894c72
4	2026-11-18 21:07:47.151196+00	postgres	mls_table	hr.port	{"key": ["name"], "label": null}	\\x7b0c70f998ee9337d22d18fa99c85820490cf619363aab511f0c69561db6d93f
5	2026-11-18 21:07:50.142031+00	postgres	mls_table	hr.ship	{"key": ["name"], "label": null}	\\x92c9cb674c42b92f92535c8020d70990452d5c1dfcd4d2ca85d0685b3e88735b
6	2026-11-18 21:07:53.626783+00	postgres	mls_reference	"hr"."ship"	{"label": null, "parent": "\\"hr\\".\\"port\\"", "columns": ["port"]}	\\x73e9b5ed48b518a72692dbde7f51290b4d4235a3df83f15cd7fe39271a34faf6
\.

COPY discreet._label_part (is_level, "position", name) FROM stdin;
t	0	U
t	1	C
t	2	S
f	0	crypto
\.

COPY discreet._label_spent (dataset, label, role, amount_spent, delta_spent) FROM stdin;
\.

COPY discreet._multilevel_reference (child, columns, parent) FROM stdin;
hr.ship	{port}	hr.port
\.

COPY discreet._multilevel_table (relation, base, key, cells, checks, generated, former) FROM stdin;
hr.ship	hr.ship_mls	{name}	{port,cargo,tons}	[]	[]	{"unique": [], "primary": true, "defaults": {}, "identity": [], "not_null": ["name"]}
hr.port	hr.port_mls	{name}	{depth}	[{"name": "port_depth_check", "expression": "(depth > 0)"}]	[]	{"unique": [], "primary": true, "defaults": {}, "identity": [], "not_null": ["name"]}
\.

COPY discreet._past_protection (relation, dataset, unit, unit_attnum) FROM stdin;
hr.person	people	\N	\N
hr.visit	people	\N	\N
hr.vote	votes	voter	1
hr.wage	wages	\N	\N
\.

COPY discreet._personal_budget (ledger, number, budget) FROM stdin;
\.

COPY discreet._personal_ledger (dataset, ledger, people, digest, applied) FROM stdin;
votes	1	80	\\x392955d9e3a49d752eceef1677f9a70bd8dee091287862a426de87850605c4b3	1
\.

COPY discreet._personal_page (ledger, page, halves) FROM stdin;
1	0	\\x00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000100000000000000000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000102700000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
\.

COPY discreet._personal_people (ledger, first, units, digest) FROM stdin;
1	0	\\x013101320133013401350136013701380139023130023131023132023133023134023135023136023137023138023139023230023231023232023233023234023235023236023237023238023239023330023331023332023333023334023335023336023337023338023339023430023431023432023433023434023435023436023437023438023439023530023531023532023533023534023535023536023537023538023539023630023631023632023633023634023635023636023637023638023639023730023731023732023733023734023735023736023737023738023739023830	\\x392955d9e3a49d752eceef1677f9a70bd8dee091287862a426de87850605c4b3
\.

COPY discreet._protected_column (relation, column_name, attnum, lower, upper, categories, visibility) FROM stdin;
hr.person	age	4	0	100	\N	sensitive
hr.person	dept	3	\N	\N	{a,b,c}	sensitive
hr.person	salary	5	\N	\N	\N	hidden
hr.visit	cost	3	0	50	\N	sensitive
hr.wage	id	1	\N	\N	\N	public
\.

COPY discreet._protected_table (relation, dataset, unit, unit_attnum, policy, max_groups, max_rows, max_total_rows, max_epsilon, max_delta, unit_epsilon, min_group, fallback, protected_at) FROM stdin;
hr.person	people	id	2	noisy	1	1	\N	\N	\N	\N	10	\N	2026-11-18 21:07:26.873412+00
hr.visit	people	person	1	noisy	2	3	\N	\N	\N	\N	10	\N	2026-11-18 21:07:33.528982+00
hr.dept	\N	\N	\N	public	1	1	\N	\N	\N	\N	10	\N	2026-11-18 21:07:36.875399+00
hr.vote	votes	voter	1	personal	1	1	\N	\N	\N	1	10	\N	2026-11-18 21:07:40.589023+00
hr.wage	wages	id	1	audited	1	1	\N	\N	\N	\N	10	\N	2026-11-18 21:07:45.221191+00
\.

COPY discreet._refusal (at, role, code, message, question, label) FROM stdin;
\.

COPY discreet._release (id, release, relation, source, kind, quasi_identifiers, sensitive, k, l, t, definition, report, publisher, at) FROM stdin;
93a56074-c13b-4f6b-956b-f1baf3188be2	hr.patient_anonymous	hr.patient	hr.patient	table	{age,sex}	\N	5	\N	\N	{"types": {"age": "integer", "sex": "text"}, "method": "optimal", "columns": [{"wish": {"intervals": [10, 20, 40]}, "level": "as it is", "column": "age"}, {"wish": "suppress", "level": "as it is", "column": "sex"}]}	{"k": 10, "l": null, "t": null, "why": "of 4 combinations of levels 3 were tried, the others cannot lose less", "loss": 0.0, "risk": {"rows": 60, "classes": 6, "marketer risk": 0.1, "sample uniques": 0, "share of sample uniques": 0.0, "journalist risk, highest": 0.1, "prosecutor risk, average": 0.1, "prosecutor risk, highest": 0.1, "share of rows above risk 0.2": 0.0}, "rows": 60, "unit": null, "claim": {"k": 5, "l": null, "t": null}, "sizes": [[10, 6]], "method": "optimal", "classes": 6, "columns": [{"loss": 0.0, "level": "as it is", "column": "age"}, {"loss": 0.0, "level": "as it is", "column": "sex"}], "release": "hr.patient_anonymous", "relation": "hr.patient", "published": 60, "suppressed": 0, "risk_before": {"rows": 60, "classes": 6, "marketer risk": 0.1, "sample uniques": 0, "share of sample uniques": 0.0, "journalist risk, highest": 0.1, "prosecutor risk, average": 0.1, "prosecutor risk, highest": 0.1, "share of rows above risk 0.2": 0.0}, "sizes_before": [[10, 6]]}	postgres	2026-11-18 21:07:57.352322+00
\.

COPY discreet._release_class (release, class, label, size) FROM stdin;
93a56074-c13b-4f6b-956b-f1baf3188be2	0	["20", "f"]	10
93a56074-c13b-4f6b-956b-f1baf3188be2	1	["21", "m"]	10
93a56074-c13b-4f6b-956b-f1baf3188be2	2	["22", "f"]	10
93a56074-c13b-4f6b-956b-f1baf3188be2	3	["23", "m"]	10
93a56074-c13b-4f6b-956b-f1baf3188be2	4	["24", "f"]	10
93a56074-c13b-4f6b-956b-f1baf3188be2	5	["25", "m"]	10
\.

COPY discreet._response (id, person, response) FROM stdin;
1	\\x33f77eca57034f72579ac20f29c1f0e7dc23960fb5d77c3373e3b3f937f4676a	1
1	\\x7579b80a44c551040574f6741ce210cbe19efad55919379dda1f4cb23845aa7b	1
1	\\x6ac3319204fcef653763d4986eb0b1f83d175117b09708225e466c6d45f4a7a7	1
1	\\x6fbfbd30133e4c18c22f10962b767229f75d554d3e4a1f83592c095e51282ab7	1
1	\\x1e197556df9e5dbf28209e72aa93428cabffb0c994ee0f0484ed229e15bb69a1	1
1	\\xf7d2a8f6aec114b9c55502c899a879e535f1b8f9d82e0488d0be444ff539faec	0
1	\\x458a8740fd968c0ca81169582ea7b761cf563eb22512889ea799f40f8c4c57f6	0
1	\\x7b1a67de6d0c9b4155210f4a2e0c78b1d6f2f99a4f89616c28e132b66174f99a	1
1	\\x335384aae271f8a33c5b4a235d4df047407cca9a3f5ddaf6944276ba00914180	0
1	\\x8064bfc654da9a564faca7f8ce460149ea4e556d6d03673fcd88882297192643	1
1	\\xae8ac3f36a829c5d8439d8cd6954ebf1ade1d33ec19b61ddb6a7e1b89055119a	1
1	\\x7c11119a1c8b7cc5c6a945f63c5361aadcf86ef6a71ec9de53b77e82985292a0	0
1	\\x2244c79b5abf3bc43b226878cc0ccece8c669cb10c918666e4b38806271b3d74	1
1	\\x03130bb5a420e96470aa3cd9516dc4a29e0b962251230e7a66c98e072e0f8ea6	0
1	\\xecfe84ffb39bba97c0f0590ec2c19485775e852d7150dd20af7a31e72857f399	1
1	\\x58b538a337343600c3d4ebddc77b375b002c440d7d4f852fed136a6dc9071289	0
1	\\x72280d16a504cb99835419bb7463adc587d719d8d8f13df7c60c21d0ed1aa1a5	0
1	\\x8404118e424b281024bb0930ae594e65f9b3cee4dbf5dbf9ef25cacc12a12e40	0
1	\\xeed8605c33a7898092e01772610e15a5d3c7dbbde11ee6758829c2ecc687e52d	1
1	\\x153f0b35256b2e1c22f37e83545fb9783f65d5cb1260dc065646c46fe4ac1183	1
1	\\x990f3fe7e22cfcf73549e12b76c52c310a473925fc171d4c6adaa4dc1b22e24d	1
1	\\xde3384378bf6d899b94f16ed68c55434e72aed5cd8045d0f704f2b3d144fb8a9	0
1	\\xf30db98f6babad2663886a912b2a86ee60bf45efe1acfb64b5412f2c51ae9392	1
1	\\x4b0667071ab2caee01a165279f51e570692f25e6946b38b90d70b9193d21a66c	1
1	\\x42dea6ae45399284d88ae4dc21a39574e3bc792f17c971f324759d7ae924ecec	0
1	\\x7c68b0f1b08da447224c221d8af70e3edb49c4eaa619ea201a9c872ca3d6f6b6	0
1	\\x0e1cc08d1063fcbf3f386e02fb55b9a04f93fd4120047907db02f46d3825464a	0
1	\\xc57f479bc33e3103037efd76e4894adffd7c488ecfa7ba5b51b9cba44f827b97	1
1	\\x7020b04a4c01ad9341b9aab4720cd5465c1ce339d851ee628493a2e10c9f9159	1
1	\\xafb3d7327680c69f9502eec04ed441ceb49f4dea8ad55a6b858c8ce583cbaf12	0
1	\\x1903213cf59aecd019055a62f503a1c2cf14ed13b79b72600f4746065602d0f4	0
1	\\xec853f0e93e91dfdb8d226b6c3d886805c58b1efacfd99fe67032979762c4344	0
1	\\x811466513ba2e709f80a9608e54a5590b4d38f8bfae95d9425818e87b91a5c96	0
1	\\x6c348eebdc30e95cd645a954cc8978d2e204ff124de7ba9e6e5566f6f9abe040	0
1	\\x0904051718af299072826ec0d2f0a68954234ae9a53fd73d55dd65c750e69075	1
1	\\xfcf2bddc79ed2373cdab9ce11a1d5a30879941b1ea8d64c81e34f769d8d6cad9	0
1	\\x3eeb248f71b2237d36419079666bb660fda08b16de08e73c36991eb16c5fefcf	1
1	\\x7273489efcf9da7f52d7668a6d278d94fd921094b8dccd074bda1d5e289750e0	1
1	\\xa1ac67398fe1c481590cc3a4538f06d0f9e5c6ddd8bb93f306f2e74ed85539fb	1
1	\\xb29e2b1cb56e72a8d778b9ee073303dca99888028910e97631317d965b24842a	1
1	\\x304c6ee4202d1e25b93436a28c955be32f837f1370b80d3fb86d1667e8f1ca05	1
1	\\x92dc9dcd6cfecbb1341bd494b0a34b4fb4f10263f22c9754a0f164d31c09faec	1
1	\\xc5365ef056e57bb8cb7ccd91a59f36cfbb42b5f27d99be9c8c701b40b6034125	0
1	\\xd3acae2562d83cb5b846815fd511622327c5fdbfe3ee02d78f7e69d9302b3911	1
1	\\xc06c021b6832d45318f82cc9ee7700c4cc5d6596527221c69c05a256baa7bf04	1
1	\\x4fedba09de611403a432be62e76296b5166b1f59f25cdb39e6d11c650213048e	0
1	\\x6cfadf8814503ad515e4be40c2f35561dc544204fcf1ca24f9009a1c145eba53	1
1	\\xb22abc054b6494c7048705802cde02a962a1c3adf60f74631d63e0d343d1472a	1
1	\\x335e7fc5815a26522f255bd3bb621fcadbfce2355ca5e81ea5c44a5f8bc26d28	0
1	\\x1fd89cc23a64811be8f181ee037819f1538dce5f3a81f74ec7996f9698ee06e8	1
1	\\xf7e271d24ad2ec16bbd46bca7224586d1afc50e9bcb8f02cad4c9593770fc5f8	1
1	\\x393339839242ceb9e63344aeb613d6746573f22ba460fd03e57e403a966c7251	1
1	\\x74dcd8676f52d8582e18d87a56d2b7cf31ce7683a89e5a5e232121d3f81cbd44	1
1	\\x1f89c40f11be2f0ab9080901c07a5df3f871e57c97c115c2340fe2c376fea27a	1
1	\\x4c06015445ce7d926723e884eb94cb11c7376a0bd461ff52e580adb02c745b52	0
1	\\x5a1f0fd9b14670b778a51bd95a388d3edd5ae022e485cb4b33d62af54142f8b8	1
1	\\xf7a5cde37bce063ba1ebf43cf6b0b477c96b349b32d79804e7d8a75944834f5f	1
1	\\x1783bad966fe3255459e402a4125b42b2ccdaa9cdbf3ebb987595273fa389f39	0
1	\\x3fd617d0e39d1d0247324222974aab3ef7ea893f8604ddbd22b9c18e2e2f0d00	0
1	\\x45985aa8563413bb86e97959d464ec64932e37f5b55132f340724212bc468f34	1
\.

COPY discreet._response_column (id, relation, epsilon, domain, salt) FROM stdin;
1	hr.poll	0.5	{f,t}	\\x0eb00e87ea05430586d8f826e3c12b2de5fcc2005f2f497caff51c10c03b6278
\.

COPY discreet._secret (secret, owner, created_at) FROM stdin;
names	postgres	2026-11-18 21:07:56.086683+00
\.

COPY discreet._secret_holder (secret, role) FROM stdin;
names	up_alice
\.

COPY discreet._secret_key (secret, version, key, made_at) FROM stdin;
names	1	\\xa264a736f55a2f5c80f3ec1be13bd8894d8d2ccc1eaafb1ca81aa2761718761e	2026-11-18 21:07:56.087096+00
names	2	\\xafc80ccc7c9e24b1cde4aa43273eed5a2c2721f84d2138eacb2b32f87b6884a7	2026-11-18 21:07:56.095469+00
\.

COPY hr.dept (name) FROM stdin;
a
b
c
\.

COPY hr.grade (id, grade, dept) FROM stdin;
1	5	a
\.

COPY hr.patient (id, age, sex, illness) FROM stdin;
1	21	m	cold
2	22	f	cough
3	23	m	flu
4	24	f	cold
5	25	m	cough
6	20	f	flu
7	21	m	cold
8	22	f	cough
9	23	m	flu
10	24	f	cold
11	25	m	cough
12	20	f	flu
13	21	m	cold
14	22	f	cough
15	23	m	flu
16	24	f	cold
17	25	m	cough
18	20	f	flu
19	21	m	cold
20	22	f	cough
21	23	m	flu
22	24	f	cold
23	25	m	cough
24	20	f	flu
25	21	m	cold
26	22	f	cough
27	23	m	flu
28	24	f	cold
29	25	m	cough
30	20	f	flu
31	21	m	cold
32	22	f	cough
33	23	m	flu
34	24	f	cold
35	25	m	cough
36	20	f	flu
37	21	m	cold
38	22	f	cough
39	23	m	flu
40	24	f	cold
41	25	m	cough
42	20	f	flu
43	21	m	cold
44	22	f	cough
45	23	m	flu
46	24	f	cold
47	25	m	cough
48	20	f	flu
49	21	m	cold
50	22	f	cough
51	23	m	flu
52	24	f	cold
53	25	m	cough
54	20	f	flu
55	21	m	cold
56	22	f	cough
57	23	m	flu
58	24	f	cold
59	25	m	cough
60	20	f	flu
\.

COPY hr.patient_anonymous (age, sex) FROM stdin;
20	f
20	f
20	f
20	f
20	f
20	f
20	f
20	f
20	f
20	f
21	m
21	m
21	m
21	m
21	m
21	m
21	m
21	m
21	m
21	m
22	f
22	f
22	f
22	f
22	f
22	f
22	f
22	f
22	f
22	f
23	m
23	m
23	m
23	m
23	m
23	m
23	m
23	m
23	m
23	m
24	f
24	f
24	f
24	f
24	f
24	f
24	f
24	f
24	f
24	f
25	m
25	m
25	m
25	m
25	m
25	m
25	m
25	m
25	m
25	m
\.

COPY hr.person (id, dept, age, salary) FROM stdin;
1	b	21	1001
2	c	22	1002
3	a	23	1003
4	b	24	1004
5	c	25	1005
6	a	26	1006
7	b	27	1007
8	c	28	1008
9	a	29	1009
10	b	30	1010
11	c	31	1011
12	a	32	1012
13	b	33	1013
14	c	34	1014
15	a	35	1015
16	b	36	1016
17	c	37	1017
18	a	38	1018
19	b	39	1019
20	c	40	1020
21	a	41	1021
22	b	42	1022
23	c	43	1023
24	a	44	1024
25	b	45	1025
26	c	46	1026
27	a	47	1027
28	b	48	1028
29	c	49	1029
30	a	50	1030
31	b	51	1031
32	c	52	1032
33	a	53	1033
34	b	54	1034
35	c	55	1035
36	a	56	1036
37	b	57	1037
38	c	58	1038
39	a	59	1039
40	b	60	1040
41	c	61	1041
42	a	62	1042
43	b	63	1043
44	c	64	1044
45	a	65	1045
46	b	66	1046
47	c	67	1047
48	a	68	1048
49	b	69	1049
50	c	20	1050
51	a	21	1051
52	b	22	1052
53	c	23	1053
54	a	24	1054
55	b	25	1055
56	c	26	1056
57	a	27	1057
58	b	28	1058
59	c	29	1059
60	a	30	1060
61	b	31	1061
62	c	32	1062
63	a	33	1063
64	b	34	1064
65	c	35	1065
66	a	36	1066
67	b	37	1067
68	c	38	1068
69	a	39	1069
70	b	40	1070
71	c	41	1071
72	a	42	1072
73	b	43	1073
74	c	44	1074
75	a	45	1075
76	b	46	1076
77	c	47	1077
78	a	48	1078
79	b	49	1079
80	c	50	1080
81	a	51	1081
82	b	52	1082
83	c	53	1083
84	a	54	1084
85	b	55	1085
86	c	56	1086
87	a	57	1087
88	b	58	1088
89	c	59	1089
90	a	60	1090
91	b	61	1091
92	c	62	1092
93	a	63	1093
94	b	64	1094
95	c	65	1095
96	a	66	1096
97	b	67	1097
98	c	68	1098
99	a	69	1099
100	b	20	1100
101	c	21	1101
102	a	22	1102
103	b	23	1103
104	c	24	1104
105	a	25	1105
106	b	26	1106
107	c	27	1107
108	a	28	1108
109	b	29	1109
110	c	30	1110
111	a	31	1111
112	b	32	1112
113	c	33	1113
114	a	34	1114
115	b	35	1115
116	c	36	1116
117	a	37	1117
118	b	38	1118
119	c	39	1119
120	a	40	1120
121	b	41	1121
122	c	42	1122
123	a	43	1123
124	b	44	1124
125	c	45	1125
126	a	46	1126
127	b	47	1127
128	c	48	1128
129	a	49	1129
130	b	50	1130
131	c	51	1131
132	a	52	1132
133	b	53	1133
134	c	54	1134
135	a	55	1135
136	b	56	1136
137	c	57	1137
138	a	58	1138
139	b	59	1139
140	c	60	1140
141	a	61	1141
142	b	62	1142
143	c	63	1143
144	a	64	1144
145	b	65	1145
146	c	66	1146
147	a	67	1147
148	b	68	1148
149	c	69	1149
150	a	20	1150
151	b	21	1151
152	c	22	1152
153	a	23	1153
154	b	24	1154
155	c	25	1155
156	a	26	1156
157	b	27	1157
158	c	28	1158
159	a	29	1159
160	b	30	1160
161	c	31	1161
162	a	32	1162
163	b	33	1163
164	c	34	1164
165	a	35	1165
166	b	36	1166
167	c	37	1167
168	a	38	1168
169	b	39	1169
170	c	40	1170
171	a	41	1171
172	b	42	1172
173	c	43	1173
174	a	44	1174
175	b	45	1175
176	c	46	1176
177	a	47	1177
178	b	48	1178
179	c	49	1179
180	a	50	1180
181	b	51	1181
182	c	52	1182
183	a	53	1183
184	b	54	1184
185	c	55	1185
186	a	56	1186
187	b	57	1187
188	c	58	1188
189	a	59	1189
190	b	60	1190
191	c	61	1191
192	a	62	1192
193	b	63	1193
194	c	64	1194
195	a	65	1195
196	b	66	1196
197	c	67	1197
198	a	68	1198
199	b	69	1199
200	c	20	1200
\.

COPY hr.poll (id, smoker) FROM stdin;
1	t
2	t
3	t
4	t
5	t
6	f
7	f
8	t
9	f
10	t
11	t
12	f
13	t
14	f
15	t
16	f
17	f
18	f
19	t
20	t
21	t
22	f
23	t
24	t
25	f
26	f
27	f
28	t
29	t
30	f
31	f
32	f
33	f
34	f
35	t
36	f
37	t
38	t
39	t
40	t
41	t
42	t
43	f
44	t
45	t
46	f
47	t
48	t
49	f
50	t
51	t
52	t
53	t
54	t
55	f
56	t
57	t
58	f
59	f
60	t
\.

COPY hr.port_mls (name, depth, _key_label, _slot, _row_id, _label, _dead, _entity, _source) FROM stdin;
Colchis	9	0	0	160772675165651849	0	f	\N	\N
Troy	7	0	0	4548379478096765199	0	f	\N	\N
\.

COPY hr.pseudonyms (now, former) FROM stdin;
5f6d6b849a73a1c5a1acbbdba54cde56	e0918f0de026ef8ed900bf4640945d6c
\.

COPY hr.ship_mls (name, port, cargo, tons, _key_label, _slot, _row_id, _label, _dead, _entity, _source) FROM stdin;
Argo	Colchis	fleece	40	0	0	2656607711767405375	0	f	\N	\N
Argo	\N	gold	\N	0	2656607711767405369	7166922762154487807	3	f	2656607711767405375	{0,-2,0}
Ghost	Troy	spies	5	3	0	249355559854960989	3	f	\N	\N
Swan	Troy	wine	25	0	0	8891284573935940513	0	f	\N	\N
\.

COPY hr.visit (person, day, cost) FROM stdin;
1	2026-01-02	1
2	2026-01-03	2
3	2026-01-04	3
4	2026-01-05	4
5	2026-01-06	5
6	2026-01-07	6
7	2026-01-08	7
8	2026-01-09	8
9	2026-01-10	9
10	2026-01-11	10
11	2026-01-12	11
12	2026-01-13	12
13	2026-01-14	13
14	2026-01-15	14
15	2026-01-16	15
16	2026-01-17	16
17	2026-01-18	17
18	2026-01-19	18
19	2026-01-20	19
20	2026-01-21	20
21	2026-01-22	21
22	2026-01-23	22
23	2026-01-24	23
24	2026-01-25	24
25	2026-01-26	25
26	2026-01-27	26
27	2026-01-28	27
28	2026-01-29	28
29	2026-01-30	29
30	2026-01-31	30
31	2026-02-01	31
32	2026-02-02	32
33	2026-02-03	33
34	2026-02-04	34
35	2026-02-05	35
36	2026-02-06	36
37	2026-02-07	37
38	2026-02-08	38
39	2026-02-09	39
40	2026-02-10	0
41	2026-02-11	1
42	2026-02-12	2
43	2026-02-13	3
44	2026-02-14	4
45	2026-02-15	5
46	2026-02-16	6
47	2026-02-17	7
48	2026-02-18	8
49	2026-02-19	9
50	2026-02-20	10
51	2026-02-21	11
52	2026-02-22	12
53	2026-02-23	13
54	2026-02-24	14
55	2026-02-25	15
56	2026-02-26	16
57	2026-02-27	17
58	2026-02-28	18
59	2026-03-01	19
60	2026-03-02	20
61	2026-03-03	21
62	2026-03-04	22
63	2026-03-05	23
64	2026-03-06	24
65	2026-03-07	25
66	2026-03-08	26
67	2026-03-09	27
68	2026-03-10	28
69	2026-03-11	29
70	2026-03-12	30
71	2026-03-13	31
72	2026-03-14	32
73	2026-03-15	33
74	2026-03-16	34
75	2026-03-17	35
76	2026-03-18	36
77	2026-03-19	37
78	2026-03-20	38
79	2026-03-21	39
80	2026-03-22	0
81	2026-03-23	1
82	2026-03-24	2
83	2026-03-25	3
84	2026-03-26	4
85	2026-03-27	5
86	2026-03-28	6
87	2026-03-29	7
88	2026-03-30	8
89	2026-03-31	9
90	2026-04-01	10
91	2026-04-02	11
92	2026-04-03	12
93	2026-04-04	13
94	2026-04-05	14
95	2026-04-06	15
96	2026-04-07	16
97	2026-04-08	17
98	2026-04-09	18
99	2026-04-10	19
100	2026-01-01	20
101	2026-01-02	21
102	2026-01-03	22
103	2026-01-04	23
104	2026-01-05	24
105	2026-01-06	25
106	2026-01-07	26
107	2026-01-08	27
108	2026-01-09	28
109	2026-01-10	29
110	2026-01-11	30
111	2026-01-12	31
112	2026-01-13	32
113	2026-01-14	33
114	2026-01-15	34
115	2026-01-16	35
116	2026-01-17	36
117	2026-01-18	37
118	2026-01-19	38
119	2026-01-20	39
120	2026-01-21	0
121	2026-01-22	1
122	2026-01-23	2
123	2026-01-24	3
124	2026-01-25	4
125	2026-01-26	5
126	2026-01-27	6
127	2026-01-28	7
128	2026-01-29	8
129	2026-01-30	9
130	2026-01-31	10
131	2026-02-01	11
132	2026-02-02	12
133	2026-02-03	13
134	2026-02-04	14
135	2026-02-05	15
136	2026-02-06	16
137	2026-02-07	17
138	2026-02-08	18
139	2026-02-09	19
140	2026-02-10	20
141	2026-02-11	21
142	2026-02-12	22
143	2026-02-13	23
144	2026-02-14	24
145	2026-02-15	25
146	2026-02-16	26
147	2026-02-17	27
148	2026-02-18	28
149	2026-02-19	29
150	2026-02-20	30
151	2026-02-21	31
152	2026-02-22	32
153	2026-02-23	33
154	2026-02-24	34
155	2026-02-25	35
156	2026-02-26	36
157	2026-02-27	37
158	2026-02-28	38
159	2026-03-01	39
160	2026-03-02	0
161	2026-03-03	1
162	2026-03-04	2
163	2026-03-05	3
164	2026-03-06	4
165	2026-03-07	5
166	2026-03-08	6
167	2026-03-09	7
168	2026-03-10	8
169	2026-03-11	9
170	2026-03-12	10
171	2026-03-13	11
172	2026-03-14	12
173	2026-03-15	13
174	2026-03-16	14
175	2026-03-17	15
176	2026-03-18	16
177	2026-03-19	17
178	2026-03-20	18
179	2026-03-21	19
180	2026-03-22	20
181	2026-03-23	21
182	2026-03-24	22
183	2026-03-25	23
184	2026-03-26	24
185	2026-03-27	25
186	2026-03-28	26
187	2026-03-29	27
188	2026-03-30	28
189	2026-03-31	29
190	2026-04-01	30
191	2026-04-02	31
192	2026-04-03	32
193	2026-04-04	33
194	2026-04-05	34
195	2026-04-06	35
196	2026-04-07	36
197	2026-04-08	37
198	2026-04-09	38
199	2026-04-10	39
200	2026-01-01	0
\.

COPY hr.vote (voter, yes) FROM stdin;
1	f
2	t
3	f
4	t
5	f
6	t
7	f
8	t
9	f
10	t
11	f
12	t
13	f
14	t
15	f
16	t
17	f
18	t
19	f
20	t
21	f
22	t
23	f
24	t
25	f
26	t
27	f
28	t
29	f
30	t
31	f
32	t
33	f
34	t
35	f
36	t
37	f
38	t
39	f
40	t
41	f
42	t
43	f
44	t
45	f
46	t
47	f
48	t
49	f
50	t
51	f
52	t
53	f
54	t
55	f
56	t
57	f
58	t
59	f
60	t
61	f
62	t
63	f
64	t
65	f
66	t
67	f
68	t
69	f
70	t
71	f
72	t
73	f
74	t
75	f
76	t
77	f
78	t
79	f
80	t
\.

COPY hr.wage (id, wage, bonus) FROM stdin;
1	1001	1
2	1002	2
3	1003	3
4	1004	4
5	1005	5
6	1006	6
7	1007	7
8	1008	8
9	1009	9
10	1010	10
11	1011	11
12	1012	12
13	1013	13
14	1014	14
15	1015	15
16	1016	16
17	1017	17
18	1018	18
19	1019	19
20	1020	20
21	1021	21
22	1022	22
23	1023	23
24	1024	24
25	1025	25
26	1026	26
27	1027	27
28	1028	28
29	1029	29
30	1030	30
31	1031	31
32	1032	32
33	1033	33
34	1034	34
35	1035	35
36	1036	36
37	1037	37
38	1038	38
39	1039	39
40	1040	40
41	1041	41
42	1042	42
43	1043	43
44	1044	44
45	1045	45
46	1046	46
47	1047	47
48	1048	48
49	1049	49
50	1050	50
51	1051	51
52	1052	52
53	1053	53
54	1054	54
55	1055	55
56	1056	56
57	1057	57
58	1058	58
59	1059	59
60	1060	60
61	1061	61
62	1062	62
63	1063	63
64	1064	64
65	1065	65
66	1066	66
67	1067	67
68	1068	68
69	1069	69
70	1070	70
71	1071	71
72	1072	72
73	1073	73
74	1074	74
75	1075	75
76	1076	76
77	1077	77
78	1078	78
79	1079	79
80	1080	80
81	1081	81
82	1082	82
83	1083	83
84	1084	84
85	1085	85
86	1086	86
87	1087	87
88	1088	88
89	1089	89
90	1090	90
91	1091	91
92	1092	92
93	1093	93
94	1094	94
95	1095	95
96	1096	96
97	1097	97
98	1098	98
99	1099	99
100	1100	100
101	1101	101
102	1102	102
103	1103	103
104	1104	104
105	1105	105
106	1106	106
107	1107	107
108	1108	108
109	1109	109
110	1110	110
111	1111	111
112	1112	112
113	1113	113
114	1114	114
115	1115	115
116	1116	116
117	1117	117
118	1118	118
119	1119	119
120	1120	120
121	1121	121
122	1122	122
123	1123	123
124	1124	124
125	1125	125
126	1126	126
127	1127	127
128	1128	128
129	1129	129
130	1130	130
131	1131	131
132	1132	132
133	1133	133
134	1134	134
135	1135	135
136	1136	136
137	1137	137
138	1138	138
139	1139	139
140	1140	140
141	1141	141
142	1142	142
143	1143	143
144	1144	144
145	1145	145
146	1146	146
147	1147	147
148	1148	148
149	1149	149
150	1150	150
151	1151	151
152	1152	152
153	1153	153
154	1154	154
155	1155	155
156	1156	156
157	1157	157
158	1158	158
159	1159	159
160	1160	160
161	1161	161
162	1162	162
163	1163	163
164	1164	164
165	1165	165
166	1166	166
167	1167	167
168	1168	168
169	1169	169
170	1170	170
171	1171	171
172	1172	172
173	1173	173
174	1174	174
175	1175	175
176	1176	176
177	1177	177
178	1178	178
179	1179	179
180	1180	180
181	1181	181
182	1182	182
183	1183	183
184	1184	184
185	1185	185
186	1186	186
187	1187	187
188	1188	188
189	1189	189
190	1190	190
191	1191	191
192	1192	192
193	1193	193
194	1194	194
195	1195	195
196	1196	196
197	1197	197
198	1198	198
199	1199	199
200	1200	200
\.

ALTER TABLE ONLY hr.dept
    ADD CONSTRAINT dept_pkey PRIMARY KEY (name);

ALTER TABLE ONLY hr.grade
    ADD CONSTRAINT grade_pkey PRIMARY KEY (id);

ALTER TABLE ONLY hr.person
    ADD CONSTRAINT person_pkey PRIMARY KEY (id);

ALTER TABLE ONLY hr.poll
    ADD CONSTRAINT poll_pkey PRIMARY KEY (id);

ALTER TABLE ONLY hr.vote
    ADD CONSTRAINT vote_pkey PRIMARY KEY (voter);

ALTER TABLE ONLY hr.wage
    ADD CONSTRAINT wage_pkey PRIMARY KEY (id);

CREATE INDEX grade_few_a_limit ON hr.grade USING btree ((true)) WHERE (dept = 'a'::text);

CREATE INDEX port_mls_above ON hr.port_mls USING btree (_label, _entity) INCLUDE (_dead) WHERE (_entity IS NOT NULL);

CREATE UNIQUE INDEX port_mls_key ON hr.port_mls USING btree (name, _key_label, _slot);

CREATE INDEX ship_mls_above ON hr.ship_mls USING btree (_label, _entity) INCLUDE (_dead) WHERE (_entity IS NOT NULL);

CREATE UNIQUE INDEX ship_mls_key ON hr.ship_mls USING btree (name, _key_label, _slot);

CREATE TRIGGER "0_discreet_response_2" BEFORE INSERT OR UPDATE OF smoker, id ON hr.poll FOR EACH ROW EXECUTE FUNCTION discreet._respond('1');

CREATE TRIGGER discreet_mls_delete INSTEAD OF DELETE ON hr.port FOR EACH ROW EXECUTE FUNCTION hr.port_mls_delete();

CREATE TRIGGER discreet_mls_delete INSTEAD OF DELETE ON hr.ship FOR EACH ROW EXECUTE FUNCTION hr.ship_mls_delete();

CREATE TRIGGER discreet_mls_insert INSTEAD OF INSERT ON hr.port FOR EACH ROW EXECUTE FUNCTION hr.port_mls_insert();

CREATE TRIGGER discreet_mls_insert INSTEAD OF INSERT ON hr.ship FOR EACH ROW EXECUTE FUNCTION hr.ship_mls_insert();

CREATE TRIGGER discreet_mls_update INSTEAD OF UPDATE ON hr.port FOR EACH ROW EXECUTE FUNCTION hr.port_mls_update();

CREATE TRIGGER discreet_mls_update INSTEAD OF UPDATE ON hr.ship FOR EACH ROW EXECUTE FUNCTION hr.ship_mls_update();

CREATE TRIGGER "limit few_a" AFTER INSERT ON hr.grade FOR EACH ROW WHEN ((new.dept = 'a'::text)) EXECUTE FUNCTION discreet._keep_limit('2', 'grade_few_a_limit');

CREATE TRIGGER "rule grade_range" AFTER INSERT OR UPDATE ON hr.grade FOR EACH ROW WHEN ((((new.grade >= 1) AND (new.grade <= 6)) IS FALSE)) EXECUTE FUNCTION discreet._refuse_row();

CREATE TRIGGER "rule some_tons" INSTEAD OF INSERT OR UPDATE ON hr.ship FOR EACH ROW EXECUTE FUNCTION hr.ship_rule_20232ae7('new.tons > 0', '');

CREATE TRIGGER "update limit few_a" AFTER UPDATE ON hr.grade FOR EACH ROW WHEN (((new.dept = 'a'::text) AND ((old.dept = 'a'::text) IS NOT TRUE))) EXECUTE FUNCTION discreet._keep_limit('2', 'grade_few_a_limit');

ALTER TABLE ONLY hr.visit
    ADD CONSTRAINT visit_person_fkey FOREIGN KEY (person) REFERENCES hr.person(id);

GRANT ALL ON SCHEMA hr TO up_alice;
GRANT USAGE ON SCHEMA hr TO up_low;
GRANT USAGE ON SCHEMA hr TO up_high;

GRANT ALL ON FUNCTION discreet.query(sql text, epsilon numeric, params text[], fresh boolean, accuracy numeric, with_error boolean) TO up_reader;

GRANT ALL ON FUNCTION discreet.verify_log() TO up_reader;

REVOKE ALL ON FUNCTION hr.port_mls_delete() FROM PUBLIC;

REVOKE ALL ON FUNCTION hr.port_mls_insert() FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE hr.port TO up_low;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE hr.port TO up_high;

REVOKE ALL ON FUNCTION hr.port_mls_load(new hr.port) FROM PUBLIC;

REVOKE ALL ON FUNCTION hr.port_mls_update() FROM PUBLIC;

REVOKE ALL ON FUNCTION hr.ship_mls_delete() FROM PUBLIC;

REVOKE ALL ON FUNCTION hr.ship_mls_insert() FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE hr.ship TO up_low;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE hr.ship TO up_high;

REVOKE ALL ON FUNCTION hr.ship_mls_load(new hr.ship) FROM PUBLIC;

REVOKE ALL ON FUNCTION hr.ship_mls_update() FROM PUBLIC;

REVOKE ALL ON FUNCTION hr.ship_rule_20232ae7() FROM PUBLIC;

GRANT SELECT ON TABLE discreet.charges TO up_reader;

GRANT SELECT ON TABLE discreet.protected_tables TO up_reader;

-- PostgreSQL database dump complete

COPY discreet._answer (key, dataset, at, answer) FROM stdin;
\\xc98b76c5119fab20ed19c8a00941ed8ae466956b5c2160afd13a40057dd0f497	people	2026-11-18 21:08:01.035705+00	[["200", "30"]]
\\x2d688a0a3b7c8c0352eaede7238a7bfdb7cbdb55ff526b2b779b8a9e92d0844a	people	2026-11-18 21:08:01.128359+00	[["a", "70", "37.13", "90", "100"], ["b", "90", "62.94", "90", "100"], ["c", "69", "41.99", "90", "100"]]
\\xad866fb8b69e7588514f3f0b5c42030a6796c08477043555d90d3d8828078da6	people	2026-11-18 21:08:01.210392+00	[["2488", "4494.35"]]
\\x4b48aa83360ed4d169e0eb87a7711353fa930cde20d64832128d39637fc05423	votes	2026-11-18 21:08:01.363238+00	[["29", "30"]]
\.
