-- Personal budgets in C: on the asker's side, and on that of the ledger.

-- discreet._personal_run: selects, lets the ledger take the price, runs statements over those who have paid: in one snapshot.
CREATE FUNCTION discreet._personal_run(
    role oid, dataset text, by_integer boolean, selection text, terms text, most int, statements text[], places int[])
RETURNS TABLE (place int, value text)
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'discreet_personal_run';
COMMENT ON FUNCTION discreet._personal_run(oid, text, boolean, text, text, int, text[], int[]) IS
'Selects, lets the ledger take the price, and runs statements over the rows of those who have paid, all in one snapshot.';

-- Owners of tables execute these two in the run step, so PUBLIC may; outside of a question they fail.

CREATE FUNCTION discreet._personal_paid(unit "any")
RETURNS boolean
LANGUAGE c
STABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
COST 10
AS 'MODULE_PATHNAME', 'discreet_personal_paid';
COMMENT ON FUNCTION discreet._personal_paid("any") IS 'Whether a person has paid for the question under way.';

CREATE FUNCTION discreet._personal_count_transition(state internal, unit "any", takes_part boolean)
RETURNS internal
LANGUAGE c
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_transition';
COMMENT ON FUNCTION discreet._personal_count_transition(internal, "any", boolean) IS
'Counts a row that takes part for its person, or remembers a person who is not known yet.';

CREATE FUNCTION discreet._personal_count_combine(internal, internal)
RETURNS internal
LANGUAGE c
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_combine';
COMMENT ON FUNCTION discreet._personal_count_combine(internal, internal) IS 'Joins the unknown people of two workers.';

CREATE FUNCTION discreet._personal_count_serialize(internal)
RETURNS bytea
LANGUAGE c
VOLATILE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_serialize';
COMMENT ON FUNCTION discreet._personal_count_serialize(internal) IS 'The unknown people of a worker, for the leader.';

CREATE FUNCTION discreet._personal_count_deserialize(bytea, internal)
RETURNS internal
LANGUAGE c
VOLATILE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_deserialize';
COMMENT ON FUNCTION discreet._personal_count_deserialize(bytea, internal) IS 'The unknown people of a worker, in the leader.';

CREATE FUNCTION discreet._personal_count_final(internal)
RETURNS bytea
LANGUAGE c
VOLATILE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_count_final';
COMMENT ON FUNCTION discreet._personal_count_final(internal) IS 'The people who are not known yet, as a list; NULL when all are.';

CREATE AGGREGATE discreet._personal_count(unit "any", takes_part boolean) (
    SFUNC = discreet._personal_count_transition,
    STYPE = internal,
    COMBINEFUNC = discreet._personal_count_combine,
    SERIALFUNC = discreet._personal_count_serialize,
    DESERIALFUNC = discreet._personal_count_deserialize,
    FINALFUNC = discreet._personal_count_final,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE discreet._personal_count("any", boolean) IS
'Counts the rows of each person that take part in the question under way; its value is a list of people who are not known yet.';

-- discreet._personal_list: a list of one person.
CREATE FUNCTION discreet._personal_list(unit text)
RETURNS bytea
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_list';
COMMENT ON FUNCTION discreet._personal_list(text) IS 'A list of one person.';

-- discreet._personal_number: how many people are in a list.
CREATE FUNCTION discreet._personal_number(people bytea)
RETURNS int
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_number';
COMMENT ON FUNCTION discreet._personal_number(bytea) IS 'How many people are in a list.';

-- discreet._personal_units: what names the people of a list.
CREATE FUNCTION discreet._personal_units(people bytea)
RETURNS text[]
LANGUAGE c
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_units';
COMMENT ON FUNCTION discreet._personal_units(bytea) IS 'What names the people of a list.';

-- discreet._personal_blank: a page of people who have spent nothing.
CREATE FUNCTION discreet._personal_blank()
RETURNS bytea
LANGUAGE c
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_blank';
COMMENT ON FUNCTION discreet._personal_blank() IS 'A page of people who have spent nothing.';

-- discreet._personal_spent: what each person has spent, by number.
CREATE FUNCTION discreet._personal_spent(ledger int, applied bigint, people int)
RETURNS int[]
LANGUAGE c
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_spent';
COMMENT ON FUNCTION discreet._personal_spent(int, bigint, int) IS 'What each person has spent, by number.';

-- discreet._personal_pay: takes a price for the rows of each person who can pay it, in place; a bit for each, whether it is paid.
-- It counts when the transaction commits that writes applied + 1 into the head of the ledger, whose row is locked.
CREATE FUNCTION discreet._personal_pay(
    ledger int, applied bigint, people int, rows bytea, price bigint, budget int, numbers int[], budgets int[])
RETURNS bytea
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_personal_pay';
COMMENT ON FUNCTION discreet._personal_pay(int, bigint, int, bytea, bigint, int, int[], int[]) IS
'Takes a price for the rows of each person who can pay it, in place; a bit for each person, whether it is paid.';
