-- discreet.datasets: the datasets and their limits.
CREATE VIEW discreet.datasets WITH (security_barrier) AS
SELECT d.dataset, b.epsilon_limit, b.delta_limit, d.accounting, d.neighbours, d.response_quantum, d.answer_lifetime, d.created_at, d.diagnose,
       d.period, d.lifetime_epsilon
FROM discreet._dataset d
JOIN discreet._budget b ON b.dataset = d.dataset AND b.role = 0;
COMMENT ON VIEW discreet.datasets IS 'The datasets and their limits.';

-- discreet.protected_tables: the tables under a policy.
CREATE VIEW discreet.protected_tables WITH (security_barrier) AS
SELECT p.relation, p.dataset, discreet._unit_text(p.relation) AS unit, p.policy,
       coalesce(p.max_groups, p.max_total_rows, 1) AS max_groups, p.max_rows, p.max_epsilon, p.max_delta,
       p.unit_epsilon, p.min_group, p.fallback, discreet._direct_readers(p.relation) AS direct_readers, p.time,
       p.protected_at, p.max_total_rows
FROM discreet._protected_table p;
COMMENT ON VIEW discreet.protected_tables IS 'The tables under a policy, and who was granted SELECT on them beside it.';

-- discreet.protected_columns: what was declared about columns.
CREATE VIEW discreet.protected_columns WITH (security_barrier) AS
SELECT c.relation, c.column_name, c.lower, c.upper, c.categories, c.visibility, c.others
FROM discreet._protected_column c;
COMMENT ON VIEW discreet.protected_columns IS 'What was declared about columns of protected tables.';
