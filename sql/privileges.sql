-- Every grant there is. PUBLIC gets no table, and functions that compute from their arguments, or ask for a secret or for the
-- label of the session user: of the run step, which owners of tables execute; of multilevel tables; of microdata; of cell keys.
REVOKE ALL ON SCHEMA discreet FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA discreet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA discreet FROM PUBLIC;

GRANT USAGE ON SCHEMA discreet TO PUBLIC;

GRANT EXECUTE ON FUNCTION discreet.version() TO discreet_curator, discreet_analyst, discreet_auditor, discreet_trusted;
GRANT EXECUTE ON FUNCTION discreet.check_installation(), discreet.selftest() TO discreet_curator, discreet_auditor;

-- curators declare what is protected, and who may ask
GRANT EXECUTE ON FUNCTION
    discreet.create_dataset(text, numeric, numeric, text, text, interval, interval, numeric, interval, numeric),
    discreet.protect(regclass, text, text, numeric, numeric, text, int, int, numeric, numeric, numeric, int, text, int, text),
    discreet.alter_protection(regclass, int, int, int, numeric, numeric),
    discreet.propose(text, text[]),
    discreet.adopt(text, numeric, numeric, text[], numeric),
    discreet.describe_column(regclass, name, numeric, numeric, text[], text, text),
    discreet.describe_column(regclass, name, date, date, text[], text, text),
    discreet.describe_column(regclass, name, timestamptz, timestamptz, text[], text, text),
    discreet.describe_column(regclass, name, text, text, text[], text, text),
    discreet.unprotect(regclass),
    discreet.grant_budget(text, regrole, numeric, numeric, boolean),
    discreet.revoke_budget(text, regrole),
    discreet.reserve_budget(text, regrole, numeric, timestamptz),
    discreet.release_budget(text, regrole),
    discreet.exempt_view(regclass, boolean),
    discreet.set_personal_budget(regclass, text, numeric),
    discreet.personal_status(regclass),
    discreet.audit_known(regclass, text),
    discreet.audit_reset(regclass, text),
    discreet.suggest_rows(regclass, text, text, numeric)
TO discreet_curator;
GRANT EXECUTE ON FUNCTION discreet.audit_state(regclass) TO discreet_curator, discreet_auditor;

-- what is protected is no secret; budgets, charges and refusals show each reader what is theirs to see
GRANT SELECT ON discreet.datasets, discreet.protected_tables, discreet.protected_columns, discreet.exempt_views,
    discreet.catalog
TO discreet_curator, discreet_analyst, discreet_auditor;
-- in place of information_schema's and the catalog's
GRANT SELECT ON discreet._information_tables, discreet._information_columns, discreet._listed_tables, discreet._listed_views
TO discreet_analyst;
GRANT SELECT ON discreet.budget_status, discreet.charges, discreet.accuracy, discreet.refusals, discreet.last_answer
TO discreet_curator, discreet_analyst, discreet_auditor;

-- the views call these with the rights of the reader
GRANT EXECUTE ON FUNCTION
    discreet._catalog(), discreet._askable_tables(), discreet._askable_columns(), discreet._asks(oid, text, text),
    discreet._sees_all(), discreet._last_answer(), discreet._direct_readers(oid), discreet._unit_text(oid),
    discreet._relation_family(oid), discreet._sealed_twin(oid),
    discreet._zcdp_epsilon_spent(numeric, numeric),
    discreet._period_name(date), discreet._periods_of(jsonb)
TO discreet_curator, discreet_analyst, discreet_auditor;

-- arithmetic of privacy reads nothing and spends nothing
GRANT EXECUTE ON FUNCTION
    discreet.compose_sequential(numeric[]),
    discreet.compose_parallel(numeric[]),
    discreet.group_epsilon(numeric, int),
    discreet.gaussian_rho(numeric, numeric),
    discreet.zcdp_epsilon(numeric, numeric),
    discreet.laplace_scale(numeric, numeric),
    discreet.sensitivity(text, numeric, numeric, bigint, text, boolean)
TO discreet_curator, discreet_analyst, discreet_auditor;

-- randomised responses: drawn before anything is stored, and estimated from what is stored
GRANT EXECUTE ON FUNCTION
    discreet.rr(boolean, float8), discreet.rr(text, text[], float8),
    discreet.rr_bits(text, text[], float8),
    discreet.cms_encode(text, float8, int, int),
    discreet.rr_epsilon(float8, int),
    discreet.mechanism_epsilon(float8[]),
    discreet.rr_estimate(boolean, float8), discreet.rr_stderr(boolean, float8),
    discreet.rr_frequencies(text, text[], float8),
    discreet.rr_bits_frequencies(bit varying, text[], float8),
    discreet.cms_estimate(bytea, text[], float8)
TO discreet_curator, discreet_analyst, discreet_auditor;
-- _respond: the role that adds a partition makes its trigger
GRANT EXECUTE ON FUNCTION discreet.rr_column(regclass, name, float8, text[], text), discreet._respond() TO discreet_curator;
GRANT SELECT ON discreet.response_columns TO discreet_curator, discreet_analyst, discreet_auditor;

-- the aggregates are for roles that may read the table; the C module checks that and charges
GRANT EXECUTE ON FUNCTION
    discreet.dp_count(), discreet.dp_count("any"), discreet.dp_count("any", numeric),
    discreet.dp_count_distinct(anyelement), discreet.dp_count_distinct(anyelement, numeric),
    discreet.dp_sum(anycompatible, anycompatible, anycompatible),
    discreet.dp_sum(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_avg(anycompatible, anycompatible, anycompatible),
    discreet.dp_avg(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_variance(anycompatible, anycompatible, anycompatible),
    discreet.dp_variance(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_stddev(anycompatible, anycompatible, anycompatible),
    discreet.dp_stddev(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_median(anycompatible, anycompatible, anycompatible),
    discreet.dp_median(anycompatible, anycompatible, anycompatible, numeric),
    discreet.dp_quantile(anycompatible, float8, anycompatible, anycompatible),
    discreet.dp_quantile(anycompatible, float8, anycompatible, anycompatible, numeric)
TO discreet_curator, discreet_analyst;

GRANT EXECUTE ON FUNCTION discreet.verify_log() TO discreet_curator, discreet_auditor;

-- the gate: every role that holds a budget may ask
GRANT EXECUTE ON FUNCTION
    discreet.query(text, numeric, text[], boolean, numeric, boolean, numeric, timestamptz, bigint),
    discreet.query_json(text, numeric, text[], boolean),
    discreet.ask(text, numeric, text),
    discreet.explain(text, numeric),
    discreet.explain_text(text, numeric, text[], timestamptz),
    discreet.lint(text),
    discreet.create_view(text, text, numeric, interval),
    discreet._answer_columns(text, numeric),
    discreet.suggest_bounds(regclass, name, numeric),
    discreet.suggest_bounds(regclass, numeric),
    discreet.synthesis_report(jsonb),
    discreet.synthesize(regclass, text, numeric, numeric, text[], bigint, text, text[], numeric),
    discreet.synthesize(text, text, numeric, numeric, text[], bigint, text, text[], numeric),
    discreet.synthesize(regclass[], text[], numeric, numeric, text[], bigint, text, text[], numeric),
    discreet._parameter(anyelement),
    discreet._clock(timestamptz),
    discreet._as_of(),
    discreet.round_time(timestamptz, interval),
    discreet.bucket(numeric, numeric)
TO discreet_curator, discreet_analyst;

-- measuring reads with the rights of who measures
GRANT EXECUTE ON FUNCTION
    discreet.k_anonymity(regclass, text[], text, text),
    discreet.l_diversity(regclass, text[], text, text, numeric, text, text),
    discreet.l_diversity(regclass, text[], text[], text, numeric, text, text),
    discreet.t_closeness(regclass, text[], text, text, jsonb, text),
    discreet.t_closeness(regclass, text[], text[], text, jsonb, text),
    discreet.measure(regclass, text[], text[], text, text),
    discreet.disclosure_risk(regclass, text[], bigint, text, text),
    discreet.best_ranges(regclass, text, int, text[], numeric, numeric)
TO discreet_curator, discreet_analyst, discreet_auditor;

-- publishing is for curators, who need SELECT on the table as well
GRANT EXECUTE ON FUNCTION
    discreet.anonymize(regclass, text, jsonb, int, int, float8, text, float8, text, text[], text, text),
    discreet.create_release_view(text, regclass, text[], int, text, int, text[], text),
    discreet.forget_release(text),
    discreet._remember_release(jsonb, text[], bigint[]),
    discreet._earlier_releases(text)
TO discreet_curator;
GRANT EXECUTE ON FUNCTION discreet.release_report(text) TO discreet_curator, discreet_auditor;
GRANT SELECT ON discreet.releases TO discreet_curator, discreet_auditor;
GRANT EXECUTE ON FUNCTION discreet.report() TO discreet_curator;

GRANT EXECUTE ON FUNCTION
    discreet._ledger_ping(jsonb),
    discreet._ledger_charge_aggregates(jsonb),
    discreet._ledger_price_aggregates(jsonb),
    discreet._ledger_charge_together(jsonb),
    discreet._ledger_describe(jsonb),
    discreet._ledger_recall(jsonb),
    discreet._ledger_charge_question(jsonb),
    discreet._ledger_charge_curation(jsonb),
    discreet._ledger_create_dataset(jsonb),
    discreet._ledger_opened(jsonb),
    discreet._ledger_left(jsonb),
    discreet._ledger_shortage(jsonb),
    discreet._ledger_store(jsonb),
    discreet._ledger_refused(jsonb),
    discreet._ledger_label_event(jsonb),
    discreet._ledger_charge_personal(jsonb),
    discreet._ledger_personal_people(jsonb, bytea),
    discreet._ledger_personal_add(jsonb, bytea),
    discreet._ledger_personal_pay(jsonb, bytea),
    discreet._ledger_audit_read(jsonb),
    discreet._ledger_audit_record(jsonb),
    discreet._ledger_audit_base(jsonb)
TO discreet_ledger;

-- integrity rules: a curator adds them to tables of her own, with her own rights; triggers are made of two of these
GRANT EXECUTE ON FUNCTION
    discreet.add_rule(regclass, text, text),
    discreet.add_limit(regclass, text, text, int),
    discreet.drop_rule(regclass, text),
    discreet._refuse_row(),
    discreet._keep_limit(),
    discreet._keep_trigger(oid, name[], name, text),
    discreet._forget_trigger(oid, text)
TO discreet_curator;
GRANT SELECT ON discreet.rules TO discreet_curator, discreet_auditor;

-- the security officer
GRANT EXECUTE ON FUNCTION
    discreet.mls_define(text[], text[], jsonb),
    discreet.mls_clear(regrole, text, text),
    discreet.mls_table(regclass, text[], text[], jsonb),
    discreet.mls_rule(regclass, text, text),
    discreet.mls_reference(regclass, text[], regclass),
    discreet.mls_keep_history(regclass, boolean),
    discreet.mls_drop(regclass),
    discreet.mls_plain(regclass)
TO discreet_curator;
GRANT EXECUTE ON FUNCTION
    discreet.mls_declassify(regclass, jsonb, text[], text, text),
    discreet.mls_relabel(regclass, text, text[], text, text),
    discreet.mls_purge(regclass, text)
TO discreet_trusted;
-- subjects need be no members of anything but have a clearance
GRANT EXECUTE ON FUNCTION
    discreet.mls_uplevel(regclass, jsonb, text, text),
    discreet.mls_report(regclass),
    discreet.mls_history(regclass, jsonb),
    discreet.mls_import(text, text),
    discreet.mls_export(text, text),
    discreet.mls_upsert(regclass, jsonb),
    discreet._multilevel_description(oid)
TO PUBLIC;
GRANT SELECT ON discreet.clearances, discreet.multilevel_tables, discreet.mls_log TO discreet_curator, discreet_auditor;

-- views and triggers of multilevel tables call these by the rights of who uses them; they look at the session user alone
GRANT EXECUTE ON FUNCTION
    discreet._session_label(), discreet._written_label(), discreet._written_label("any"), discreet._label(bigint),
    discreet._label_bits(text), discreet._is_trusted(), discreet._random_id(), discreet._visible(bigint),
    discreet._is_single(bigint, bigint, bigint[], bigint), discreet._is_version(bigint, text[], bigint), discreet._sees(text)
TO PUBLIC;

-- the run step, in the name of who owns the tables
GRANT EXECUTE ON FUNCTION
    discreet._text(anyelement),
    discreet._cut(text, int),
    discreet._joined(text, text),
    discreet._padded(character, int),
    discreet._floating(float8, "char", float8),
    discreet._seconds(interval),
    discreet._date(bigint, bigint, bigint),
    discreet._double(numeric),
    discreet._real(numeric),
    discreet._real(float8),
    discreet._on_grid(anyelement, int, bigint, bigint),
    discreet._clamped(anyelement, int, int),
    discreet._bin(anyelement, float8, float8, int),
    discreet._log_bin(anyelement, int, int, int),
    discreet._people("any", bigint, int, int, bigint, text, "any"),
    discreet._people_alone("any", bigint, int, int, bigint, text, "any"),
    discreet._synthesis_code(text, text[]),
    discreet._synthesis_count(int[], "any"),
    discreet._personal_count("any", boolean),
    discreet._personal_paid("any"),
    discreet._person("any", oid, xid, tid, bigint),
    discreet._query_set(uuid),
    -- roles that update a row, or add a partition, of a table with a time
    discreet._period_begin(timestamp, interval),
    discreet._refuse_other_period()
TO PUBLIC;

-- microdata: pure functions, and such as ask for the secret they are given
GRANT EXECUTE ON FUNCTION
    discreet.top_code(int, int),
    discreet.top_code(bigint, bigint),
    discreet.top_code(numeric, numeric),
    discreet.top_code(double precision, double precision),
    discreet.top_code(date, date),
    discreet.top_code(timestamp, timestamp),
    discreet.top_code(timestamptz, timestamptz),
    discreet.bottom_code(int, int),
    discreet.bottom_code(bigint, bigint),
    discreet.bottom_code(numeric, numeric),
    discreet.bottom_code(double precision, double precision),
    discreet.bottom_code(date, date),
    discreet.bottom_code(timestamp, timestamp),
    discreet.bottom_code(timestamptz, timestamptz),
    discreet.mask(text, int, int, text),
    discreet.add_noise(double precision, double precision), discreet.add_noise(double precision, double precision, text, text),
    discreet.add_noise(numeric, numeric), discreet.add_noise(numeric, numeric, text, text),
    discreet.pseudonym(text, text), discreet.pseudonym(text, text, int),
    discreet.pseudonym(bigint, text), discreet.pseudonym(uuid, text)
TO PUBLIC;
GRANT EXECUTE ON FUNCTION
    discreet.create_secret(text), discreet.rotate_secret(text, boolean), discreet.drop_secret(text),
    discreet.grant_secret(text, regrole), discreet.revoke_secret(text, regrole)
TO discreet_curator;
GRANT SELECT ON discreet.secrets TO discreet_curator, discreet_auditor;

-- cell keys ask for their secret; what writes a table does so with the rights of the caller
GRANT EXECUTE ON FUNCTION
    discreet.record_key(text, text), discreet.record_key(bigint, text), discreet.cell_key(bigint), discreet._low_bits(bigint),
    discreet.random_round(bigint, bigint, bigint), discreet._not_a_base(bigint), discreet.perturb(bigint, bigint, jsonb)
TO PUBLIC;
GRANT EXECUTE ON FUNCTION
    discreet.ptable(float8, int, int),
    discreet.controlled_round(regclass, text[], text, int, text, text, jsonb, text, float8),
    discreet.suppress(regclass, text[], text, numeric, text, jsonb, text, int, numeric, numeric, numeric, text, text, boolean),
    discreet.audit_cells(regclass, text[], text, jsonb, text),
    discreet.microaggregate(regclass, text[], int, text),
    discreet.swap(regclass, text[], text[], text[], text, int, float8)
TO discreet_curator;

-- sealed columns: a key asks for its secret, and values for an open key; what alters a table does so in the name of its owner
GRANT EXECUTE ON FUNCTION
    discreet.open_key(text, bytea), discreet.close_key(text),
    discreet._seal(anyelement, bigint, uuid), discreet._unseal(bytea, bigint, uuid, anyelement),
    discreet._seal_search(anyelement, uuid), discreet._seal_search_many(anyarray, uuid),
    discreet._is_unsealed(uuid), discreet._closed_key(oid), discreet._ciphertext_of(oid), discreet._sealed_row(), discreet._sealed_version(bytea), discreet._sealed_insert()
TO PUBLIC;
GRANT EXECUTE ON FUNCTION
    discreet.create_key(text, bytea, boolean), discreet.rotate_key(text, bytea, bytea),
    discreet.grant_key(text, regrole), discreet.revoke_key(text, regrole),
    discreet.seal_column(regclass, name, text, boolean), discreet.unseal_column(regclass, name),
    discreet.renew_column_key(regclass, name), discreet.reseal_column(regclass, name, int)
TO discreet_curator;
GRANT SELECT ON discreet.keys, discreet.sealed_columns TO discreet_curator, discreet_auditor;
