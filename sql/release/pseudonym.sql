-- Secrets are made and given by curators; pseudonym, record_key and add_noise use them (extension/release_secrets.c).

-- discreet._new_key: 256 random bits.
CREATE FUNCTION discreet._new_key()
RETURNS bytea
LANGUAGE sql
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    -- 122 bits of each come from the source that PostgreSQL uses for passwords
    SELECT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
$sql$;
COMMENT ON FUNCTION discreet._new_key() IS '256 random bits.';

-- discreet._own_secret: stops a caller who does not own a secret.
CREATE FUNCTION discreet._own_secret(secret text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    owner_name name := (SELECT s.owner FROM discreet._secret s WHERE s.secret = $1);
    owner_role oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = owner_name);
BEGIN
    IF owner_name IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('there is no secret "%s"', $1),
            HINT = 'A curator makes one with discreet.create_secret().';
    END IF;
    IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = discreet._caller())
       AND NOT coalesce(pg_has_role(discreet._caller(), owner_role, 'USAGE'), false) THEN
        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format('secret "%s" belongs to %s', $1, owner_name),
            HINT = 'Only its owner gives, takes, renews and drops it.';
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._own_secret(text) IS 'Stops a caller who does not own a secret.';

-- discreet.create_secret: makes a secret with a first random key.
CREATE FUNCTION discreet.create_secret(secret text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    IF coalesce($1, '') = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'a secret needs a name',
            HINT = 'Give a text that is not empty.';
    END IF;
    INSERT INTO discreet._secret (secret, owner)
    SELECT $1, r.rolname FROM pg_roles r WHERE r.oid = discreet._caller()
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format('there is a secret "%s" already', $1),
            HINT = 'discreet.rotate_secret() gives it a new key.';
    END IF;
    INSERT INTO discreet._secret_key (secret, version, key) VALUES ($1, 1, discreet._new_key());
END
$plpgsql$;
COMMENT ON FUNCTION discreet.create_secret(text) IS
'Makes a secret with a random key that no role can read; it belongs to the caller.';

-- discreet.rotate_secret: gives a secret a new key.
CREATE FUNCTION discreet.rotate_secret(secret text, forget boolean DEFAULT false)
RETURNS int
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
DECLARE
    newest int;
BEGIN
    PERFORM discreet._own_secret($1);
    PERFORM FROM discreet._secret s WHERE s.secret = $1 FOR UPDATE;
    INSERT INTO discreet._secret_key (secret, version, key)
    SELECT $1, coalesce(max(k.version), 0) + 1, discreet._new_key() FROM discreet._secret_key k WHERE k.secret = $1
    RETURNING version INTO newest;
    IF forget THEN
        DELETE FROM discreet._secret_key k WHERE k.secret = $1 AND k.version < newest;
    END IF;
    RETURN newest;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.rotate_secret(text, boolean) IS
'Gives a secret a new key, and tells its version. With forget, older keys are destroyed: nothing made with them can be recognised again.';

-- discreet.drop_secret: destroys a secret with all its keys.
CREATE FUNCTION discreet.drop_secret(secret text)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._own_secret($1);
    DELETE FROM discreet._secret_holder h WHERE h.secret = $1;
    DELETE FROM discreet._secret_key k WHERE k.secret = $1;
    DELETE FROM discreet._secret s WHERE s.secret = $1;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.drop_secret(text) IS 'Destroys a secret with all its keys.';

-- discreet.grant_secret: lets a role compute under a secret.
CREATE FUNCTION discreet.grant_secret(secret text, role regrole)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._own_secret($1);
    IF $2 IS NULL OR $2 = 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'role must not be NULL',
            HINT = 'Name a role.';
    END IF;
    INSERT INTO discreet._secret_holder (secret, role) VALUES ($1, $2) ON CONFLICT DO NOTHING;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.grant_secret(text, regrole) IS
'Lets a role, and its members, compute under a secret: also pseudonyms of names of their own choice.';

-- discreet.revoke_secret: takes a secret away from a role.
CREATE FUNCTION discreet.revoke_secret(secret text, role regrole)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
BEGIN
    PERFORM discreet._own_secret($1);
    DELETE FROM discreet._secret_holder h WHERE h.secret = $1 AND h.role = $2;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('%s does not hold secret "%s"', $2, $1),
            HINT = 'View discreet.secrets shows who does.';
    END IF;
END
$plpgsql$;
COMMENT ON FUNCTION discreet.revoke_secret(text, regrole) IS 'Takes a secret away from a role.';

CREATE VIEW discreet.secrets AS
SELECT s.secret, s.owner,
       (SELECT pg_catalog.max(k.version) FROM discreet._secret_key k WHERE k.secret OPERATOR(pg_catalog.=) s.secret) AS version,
       ARRAY(SELECT k.version FROM discreet._secret_key k
             WHERE k.secret OPERATOR(pg_catalog.=) s.secret ORDER BY k.version) AS kept_versions,
       ARRAY(SELECT h.role::pg_catalog.text FROM discreet._secret_holder h
             WHERE h.secret OPERATOR(pg_catalog.=) s.secret ORDER BY 1) AS holders
FROM discreet._secret s;
COMMENT ON VIEW discreet.secrets IS 'Secrets, the versions of their keys, and who may compute under them; the keys are not shown.';

-- discreet.pseudonym: 128 bits, as 32 digits, that stand for a value; always the same under the same key.
CREATE FUNCTION discreet.pseudonym(value text, secret text)
RETURNS text
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_pseudonym';
COMMENT ON FUNCTION discreet.pseudonym(text, text) IS
'What stands for a value in every table: HMAC-SHA-256 under the newest key of a secret, 128 bits as hexadecimal digits.';

CREATE FUNCTION discreet.pseudonym(value text, secret text, version int)
RETURNS text
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_pseudonym';
COMMENT ON FUNCTION discreet.pseudonym(text, text, int) IS
'The pseudonym under an older key, for the owner of the secret.';

CREATE FUNCTION discreet.pseudonym(value bigint, secret text)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN discreet.pseudonym(value::text, secret);
COMMENT ON FUNCTION discreet.pseudonym(bigint, text) IS 'The pseudonym of a number: that of its digits.';

CREATE FUNCTION discreet.pseudonym(value uuid, secret text)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURN discreet.pseudonym(value::text, secret);
COMMENT ON FUNCTION discreet.pseudonym(uuid, text) IS 'The pseudonym of a uuid: that of its text.';
