-- Made by this script, never IF NOT EXISTS: so no role can plant objects in it beforehand.
CREATE SCHEMA discreet;
COMMENT ON SCHEMA discreet IS 'Answers questions about people without giving the people away.';

-- Group roles belong to the whole cluster: another database may have made them already.
DO $plpgsql$
DECLARE
    group_role text;
BEGIN
    FOREACH group_role IN ARRAY ARRAY['discreet_curator', 'discreet_analyst', 'discreet_auditor', 'discreet_trusted',
                                      'discreet_ledger']
    LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = group_role) THEN
            EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', group_role);
        END IF;
    END LOOP;
END
$plpgsql$;
COMMENT ON ROLE discreet_curator IS 'discreet: declares what is protected and who may ask.';
COMMENT ON ROLE discreet_analyst IS 'discreet: may ask questions about datasets in which it holds a budget.';
COMMENT ON ROLE discreet_auditor IS 'discreet: sees all charges and refusals, and verifies the log.';
COMMENT ON ROLE discreet_trusted IS 'discreet: may give labels when it writes to multilevel tables, and declassify.';
COMMENT ON ROLE discreet_ledger IS 'discreet: what the ledger worker runs as; may execute the _ledger_ functions, nothing else.';

-- discreet._call_handler: runs PL/Python; its errors come without a Python traceback.
CREATE FUNCTION discreet._call_handler()
RETURNS language_handler
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'discreet_call_handler';
COMMENT ON FUNCTION discreet._call_handler() IS 'Runs PL/Python; its errors come without a Python traceback.';

CREATE LANGUAGE discreet_python
HANDLER discreet._call_handler
VALIDATOR pg_catalog.plpython3_validator;
COMMENT ON LANGUAGE discreet_python IS 'PL/Python whose errors reach the user as SQLSTATE, message and hint.';

-- discreet._worker_call_handler: lets a gate worker of the database think, and runs the statements that it gives back.
CREATE FUNCTION discreet._worker_call_handler()
RETURNS language_handler
LANGUAGE c
VOLATILE
PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'discreet_worker_call_handler';
COMMENT ON FUNCTION discreet._worker_call_handler() IS 'Lets a gate worker think, and runs the statements that it gives back.';

CREATE LANGUAGE discreet_worker
HANDLER discreet._worker_call_handler;
COMMENT ON LANGUAGE discreet_worker IS 'Functions that a gate worker computes; the body is the name of an entry in discreet.worker.';

-- discreet._worker_step: a step of a gate worker, which alone calls it.
CREATE FUNCTION discreet._worker_step(conversation bigint, sender text, catalog bigint, message bytea)
RETURNS bytea
LANGUAGE plpython3u
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $python$
    # @PYTHON_PATH@
    from discreet.core.parser import load_parser
    load_parser()
    from discreet.worker.steps import watched_step
    return watched_step(plpy, conversation, sender, catalog, message)
$python$;
COMMENT ON FUNCTION discreet._worker_step(bigint, text, bigint, bytea) IS 'A step of a gate worker: takes a message, and gives the next one.';

-- discreet._caller: the role that a SECURITY DEFINER function acts for.
CREATE FUNCTION discreet._caller()
RETURNS regrole
LANGUAGE c
STABLE
PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'discreet_caller';
COMMENT ON FUNCTION discreet._caller() IS 'The role that a SECURITY DEFINER function acts for: the session user, or what SET ROLE made of it.';
