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

-- Lines of labels are for sessions that dominate them; that one of them is read, level.c remembers when a statement begins.

-- discreet.budget_status: limits and what is left of them.
CREATE VIEW discreet.budget_status WITH (security_barrier) AS
WITH held AS (
    SELECT b.*, r.rolname, discreet._sees_all() OR (b.role <> 0 AND pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')) AS mine
    FROM discreet._budget b LEFT JOIN pg_catalog.pg_roles r ON r.oid = b.role
    WHERE b.granted AND (b.role = 0 OR r.oid IS NOT NULL)),
-- lines are made for those alone that the reader sees
shown AS MATERIALIZED (
    SELECT h.* FROM held h
    WHERE h.mine OR (h.role = 0 AND h.dataset IN (SELECT o.dataset FROM held o WHERE o.mine))),
multilevel AS (
    SELECT p.dataset FROM discreet._protected_table p JOIN discreet._multilevel_table m USING (relation)
    -- what was spent at labels is no secret of theirs only where the people are in tables without labels now
    UNION SELECT s.dataset FROM discreet._label_spent s
    WHERE NOT EXISTS (SELECT FROM discreet._protected_table p WHERE p.dataset = s.dataset)),
seen(dataset, role, label) AS (
    SELECT s.dataset, s.role, s.label FROM discreet._label_spent s
    WHERE discreet._sees_all() OR (s.label & ~discreet._label_bits(discreet._label(NULL))) = 0
    UNION
    SELECT b.dataset, b.role, discreet._label_bits(discreet._label(NULL)) FROM discreet._budget b
    WHERE discreet._label_bits(discreet._label(NULL)) IS NOT NULL),
line AS (
    SELECT b.dataset, b.role, l.label, NULL::date AS period, b.amount_spent + coalesce(s.amount_spent, 0) AS amount,
           b.delta_spent + coalesce(s.delta_spent, 0) AS delta_spent
    FROM shown b JOIN multilevel m USING (dataset) LEFT JOIN seen l USING (dataset, role)
    LEFT JOIN discreet._label_spent s USING (dataset, role, label)
    UNION ALL
    SELECT b.dataset, b.role, NULL, NULL, b.amount_spent + coalesce(s.amount, 0), b.delta_spent + coalesce(s.delta, 0)
    FROM shown b
    LEFT JOIN (SELECT dataset, role, sum(amount_spent) AS amount, sum(delta_spent) AS delta
               FROM discreet._label_spent GROUP BY dataset, role) s USING (dataset, role)
    WHERE b.dataset NOT IN (SELECT m.dataset FROM multilevel m)
      AND b.dataset NOT IN (SELECT d.dataset FROM discreet._dataset d WHERE d.period IS NOT NULL)
    UNION ALL
    -- of periods, the one of which least is left; then each that was opened, today's, and the lifetime
    SELECT b.dataset, b.role, NULL, NULL, CASE WHEN b.forever THEN b.amount_spent ELSE coalesce(max(s.amount_spent), 0) END,
           CASE WHEN b.forever THEN b.delta_spent ELSE coalesce(max(s.delta_spent), 0) END
    FROM discreet._dataset d JOIN shown b USING (dataset)
    LEFT JOIN discreet._period_spent s ON s.dataset = b.dataset AND s.role = b.role AND s.period < 'infinity'
    WHERE d.period IS NOT NULL GROUP BY b.role, b.dataset, b.forever, b.amount_spent, b.delta_spent
    UNION ALL
    SELECT b.dataset, b.role, NULL, p.period, coalesce(s.amount_spent, 0), coalesce(s.delta_spent, 0)
    FROM discreet._dataset d JOIN shown b USING (dataset)
    CROSS JOIN LATERAL (SELECT o.period FROM discreet._period_spent o WHERE o.dataset = d.dataset AND o.role = 0
                        UNION SELECT discreet._period_begin(statement_timestamp() AT TIME ZONE 'UTC', d.period)
                        UNION SELECT 'infinity') AS p(period)
    LEFT JOIN discreet._period_spent s ON s.dataset = b.dataset AND s.role = b.role AND s.period = p.period
    WHERE d.period IS NOT NULL),
-- what is kept for each role and not yet spent, in each line; of the dataset's own cap, all of them together
reserve AS (
    SELECT r.dataset, v.role, l.label, l.period, max(r.until) AS until,
           sum(greatest(r.amount * CASE WHEN l.period = 'infinity' THEN d.lifetime_amount / cap.amount_limit ELSE 1 END
                        - coalesce(s.amount_spent, 0), 0)) AS amount
    FROM discreet._reserve r
    JOIN pg_catalog.pg_roles p ON p.oid = r.role
    JOIN discreet._dataset d USING (dataset)
    JOIN discreet._budget cap ON cap.dataset = r.dataset AND cap.role = 0
    CROSS JOIN LATERAL (VALUES (0::oid), (r.role::oid)) AS v(role)
    JOIN line l ON l.dataset = r.dataset AND l.role = v.role
    -- in the line without a period, that of a period of which nothing is spent
    LEFT JOIN discreet._reserve_spent s ON s.dataset = r.dataset AND s.role = r.role AND s.label = coalesce(l.label, -1)
          AND s.period = CASE WHEN d.period IS NULL THEN '-infinity' ELSE l.period END
    WHERE r.until > statement_timestamp()
    GROUP BY r.dataset, v.role, l.label, l.period),
budget AS (
    SELECT b.dataset, b.role, b.delta_limit, l.label, l.period, l.delta_spent, b.rolname, k.until,
           CASE WHEN l.period = 'infinity' THEN trim_scale(round(b.epsilon_limit * d.lifetime_epsilon / cap.epsilon_limit, 20))
                ELSE b.epsilon_limit END AS epsilon_limit,
           CASE d.accounting WHEN 'pure' THEN l.amount
                ELSE discreet._zcdp_epsilon_spent(l.amount, cap.delta_limit) END AS epsilon_spent,
           CASE WHEN kept.amount IS NULL THEN 0 WHEN d.accounting = 'pure' THEN kept.amount
                ELSE discreet._zcdp_epsilon_spent(kept.amount, cap.delta_limit) END AS epsilon_kept
    FROM shown b
    JOIN line l USING (dataset, role)
    JOIN discreet._dataset d USING (dataset)
    JOIN discreet._budget cap ON cap.dataset = b.dataset AND cap.role = 0
    LEFT JOIN reserve k ON k.dataset = b.dataset AND k.role = b.role AND k.label IS NOT DISTINCT FROM l.label
         AND k.period IS NOT DISTINCT FROM l.period
    -- of the cap, no more than is left
    CROSS JOIN LATERAL (SELECT CASE WHEN k.amount IS NULL OR b.role <> 0 THEN k.amount ELSE greatest(least(
        k.amount, CASE WHEN l.period = 'infinity' THEN d.lifetime_amount ELSE b.amount_limit END - l.amount), 0) END) AS kept(amount))
SELECT b.dataset, b.rolname AS role, b.epsilon_limit, b.epsilon_spent,
       GREATEST(b.epsilon_limit - b.epsilon_spent, 0) AS epsilon_left, b.delta_limit, b.delta_spent,
       CASE WHEN b.label IS NOT NULL THEN discreet._label(b.label) END AS label, discreet._period_name(b.period) AS period,
       trim_scale(b.epsilon_kept) AS epsilon_kept, b.until AS kept_until
FROM budget b;
COMMENT ON VIEW discreet.budget_status IS
'Limits and what is left of them; role NULL is the dataset''s own cap. Of multilevel tables each label has its own line, and so has each period, besides a line without one for the period of which least is left. epsilon_kept is what reserve_budget() keeps and is not spent. Analysts see the budgets they can spend, at the labels they can.';

-- discreet.charges: every charge ever made.
CREATE VIEW discreet.charges WITH (security_barrier) AS
SELECT c.id, c.at, c.role, c.dataset, c.epsilon, c.delta, c.question, c.details, c.hash, c.amount,
       CASE WHEN c.label >= 0 THEN discreet._label(c.label) END AS label,
       ARRAY(SELECT discreet._period_name(p) FROM unnest(discreet._periods_of(c.details)) p) AS periods
FROM discreet._charge c
WHERE discreet._sees_all()
   OR (c.role = session_user AND (c.label < 0 OR (c.label & ~discreet._label_bits(discreet._label(NULL))) = 0));
COMMENT ON VIEW discreet.charges IS 'Every charge ever made, and the periods that paid it, each its whole price; an analyst sees the own ones.';

-- discreet.refusals: questions that were refused.
CREATE VIEW discreet.refusals WITH (security_barrier) AS
SELECT f.at, f.role, f.code, f.message, f.question, CASE WHEN f.label IS NOT NULL THEN discreet._label(f.label) END AS label
FROM discreet._refusal f
WHERE discreet._sees_all()
   OR (f.role = session_user AND (f.label IS NULL OR (f.label & ~discreet._label_bits(discreet._label(NULL))) = 0));
COMMENT ON VIEW discreet.refusals IS 'Questions that were refused; an analyst sees the own ones.';
