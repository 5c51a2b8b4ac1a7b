-- discreet._sees_all: whether the current user is a curator or an auditor.
CREATE FUNCTION discreet._sees_all()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT pg_has_role(current_user, 'discreet_curator', 'MEMBER')
        OR pg_has_role(current_user, 'discreet_auditor', 'MEMBER')
$sql$;
COMMENT ON FUNCTION discreet._sees_all() IS 'Whether the current user is a curator or an auditor.';

-- discreet.budget_status: limits and what is left of them.
CREATE VIEW discreet.budget_status WITH (security_barrier) AS
WITH budget AS (
    SELECT b.*, d.accounting, r.rolname,
           CASE d.accounting WHEN 'pure' THEN b.amount_spent
                ELSE discreet._zcdp_epsilon_spent(b.amount_spent, cap.delta_limit) END AS epsilon_spent
    FROM discreet._budget b
    JOIN discreet._dataset d USING (dataset)
    JOIN discreet._budget cap ON cap.dataset = b.dataset AND cap.role = 0
    LEFT JOIN pg_catalog.pg_roles r ON r.oid = b.role
    WHERE b.granted AND (b.role = 0 OR r.oid IS NOT NULL)),
mine AS (
    SELECT dataset, role, discreet._sees_all() OR pg_catalog.pg_has_role(current_user, role, 'MEMBER') AS visible
    FROM budget WHERE role <> 0)
SELECT b.dataset, b.rolname AS role, b.epsilon_limit, b.epsilon_spent,
       GREATEST(b.epsilon_limit - b.epsilon_spent, 0) AS epsilon_left, b.delta_limit, b.delta_spent
FROM budget b
WHERE discreet._sees_all()
   OR EXISTS (SELECT FROM mine m WHERE m.dataset = b.dataset AND m.visible AND (b.role = 0 OR m.role = b.role));
COMMENT ON VIEW discreet.budget_status IS
'Limits and what is left of them; role NULL is the dataset''s own cap. Analysts see the budgets they can spend.';

-- discreet.charges: every charge ever made.
CREATE VIEW discreet.charges WITH (security_barrier) AS
SELECT c.id, c.at, c.role, c.dataset, c.epsilon, c.delta, c.question, c.details, c.hash, c.amount
FROM discreet._charge c
WHERE discreet._sees_all() OR c.role = session_user;
COMMENT ON VIEW discreet.charges IS 'Every charge ever made; an analyst sees the own ones.';

-- discreet.refusals: questions that were refused.
CREATE VIEW discreet.refusals WITH (security_barrier) AS
SELECT f.at, f.role, f.code, f.message, f.question
FROM discreet._refusal f
WHERE discreet._sees_all() OR f.role = session_user;
COMMENT ON VIEW discreet.refusals IS 'Questions that were refused; an analyst sees the own ones.';
