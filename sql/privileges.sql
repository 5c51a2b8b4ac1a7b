-- Every grant there is. PUBLIC gets nothing.
REVOKE ALL ON SCHEMA discreet FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA discreet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA discreet FROM PUBLIC;

GRANT USAGE ON SCHEMA discreet TO discreet_curator, discreet_analyst, discreet_auditor, discreet_trusted, discreet_ledger;

GRANT EXECUTE ON FUNCTION discreet.version() TO discreet_curator, discreet_analyst, discreet_auditor, discreet_trusted;
GRANT EXECUTE ON FUNCTION discreet.check_installation() TO discreet_curator, discreet_auditor;

-- curators declare what is protected, and who may ask
GRANT EXECUTE ON FUNCTION
    discreet.create_dataset(text, numeric, numeric, text, text, interval),
    discreet.protect(regclass, text, text, numeric, numeric, text, int, int, numeric, numeric, numeric, int, text),
    discreet.describe_column(regclass, name, numeric, numeric, text[], text),
    discreet.unprotect(regclass),
    discreet.grant_budget(text, regrole, numeric, numeric),
    discreet.revoke_budget(text, regrole)
TO discreet_curator;

-- what is protected is no secret; budgets, charges and refusals show each reader what is theirs to see
GRANT SELECT ON discreet.datasets, discreet.protected_tables, discreet.protected_columns
TO discreet_curator, discreet_analyst, discreet_auditor;
GRANT SELECT ON discreet.budget_status, discreet.charges, discreet.refusals
TO discreet_curator, discreet_analyst, discreet_auditor;

-- the views call these with the rights of the reader
GRANT EXECUTE ON FUNCTION
    discreet._sees_all(), discreet._direct_readers(oid), discreet._relation_family(oid),
    discreet._zcdp_epsilon_spent(numeric, numeric)
TO discreet_curator, discreet_analyst, discreet_auditor;

GRANT EXECUTE ON FUNCTION discreet._ledger_ping(jsonb) TO discreet_ledger;
