-- Questions that analysts of people ask, about the shop of tests/shop: retention, funnels, sessions, first and favourite
-- things, calendars, shares. Each is compared with PostgreSQL's answer.

SELECT avg(n) FROM (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id) x;
SELECT count(*) FROM (SELECT customer_id FROM shop.orders GROUP BY customer_id HAVING count(*) >= 3) x;
SELECT n, count(*) AS customers FROM (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id) x GROUP
    BY n ORDER BY n;
SELECT least(n, 5) AS orders, count(*) FROM (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY 1) x GROUP BY
    1 ORDER BY 1;
SELECT date_trunc('month', first) AS cohort, count(*) FROM (SELECT customer_id, min(ordered) AS first FROM shop.orders
    GROUP BY customer_id) f GROUP BY 1 ORDER BY 1;
WITH first AS (SELECT customer_id, min(ordered) AS started FROM shop.orders GROUP BY customer_id)
SELECT date_trunc('quarter', f.started)::date AS cohort, extract(year FROM age(o.ordered, f.started)) * 12 +
    extract(month FROM age(o.ordered, f.started)) AS month_no, count(DISTINCT o.customer_id) AS active
FROM shop.orders o JOIN first f USING (customer_id) GROUP BY 1, 2 ORDER BY 1, 2;
WITH first AS (SELECT customer_id, date_trunc('month', min(ordered)) AS cohort FROM shop.orders GROUP BY customer_id)
SELECT cohort, (o.ordered - cohort::date) / 90 AS quarter, count(DISTINCT o.customer_id) FROM shop.orders o JOIN first
    USING (customer_id) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(DISTINCT a.customer_id) FROM shop.orders a JOIN shop.orders b ON a.customer_id = b.customer_id AND
    b.ordered > a.ordered AND b.ordered <= a.ordered + 90;
SELECT count(*) FILTER (WHERE viewed) AS viewed, count(*) FILTER (WHERE viewed AND carted) AS carted, count(*) FILTER
    (WHERE viewed AND carted AND paid) AS paid FROM (
  SELECT customer_id, bool_or(kind = 'view') AS viewed, bool_or(kind = 'cart') AS carted, bool_or(kind = 'pay') AS
    paid FROM shop.event GROUP BY customer_id) f;
SELECT count(*) AS a, count(c.at) AS b, count(p.at) AS c FROM
  (SELECT customer_id, min(at) AS at FROM shop.event WHERE kind = 'view' GROUP BY 1) v
  LEFT JOIN (SELECT customer_id, min(at) AS at FROM shop.event WHERE kind = 'cart' GROUP BY 1) c ON c.customer_id =
    v.customer_id AND c.at > v.at
  LEFT JOIN (SELECT customer_id, max(at) AS at FROM shop.event WHERE kind = 'pay' GROUP BY 1) p ON p.customer_id =
    c.customer_id AND p.at > c.at;
WITH g AS (SELECT customer_id, at, CASE WHEN at - lag(at) OVER (PARTITION BY customer_id ORDER BY at, event_id) >
    interval '30 minutes' THEN 1 ELSE 0 END AS new FROM shop.event),
 s AS (SELECT customer_id, at, sum(new) OVER (PARTITION BY customer_id ORDER BY at ROWS UNBOUNDED PRECEDING) AS
    session FROM g)
SELECT count(*) AS sessions FROM (SELECT customer_id, session FROM s GROUP BY customer_id, session) x;
WITH g AS (SELECT customer_id, at, (at - lag(at) OVER (PARTITION BY customer_id ORDER BY at) > interval '2 days')::int
    AS new FROM shop.event),
 s AS (SELECT customer_id, at, sum(new) OVER (PARTITION BY customer_id ORDER BY at) AS session FROM g)
SELECT avg(least(n, 9)) FROM (SELECT customer_id, session, count(*) AS n FROM s GROUP BY customer_id, session) x;
SELECT d.day, count(e.event_id) FROM shop.day d LEFT JOIN shop.event e ON e.at::date = d.day GROUP BY d.day ORDER BY
    d.day;
SELECT d.day, count(DISTINCT e.customer_id) AS people FROM shop.day d LEFT JOIN shop.event e ON e.at >= d.day AND e.at
    < d.day + 1 GROUP BY d.day ORDER BY 1;
SELECT d.day, d.holiday, count(e.event_id) FROM shop.day d LEFT JOIN shop.event e ON date_trunc('day', e.at) = d.day
    GROUP BY d.day, d.holiday ORDER BY 1;
SELECT d.holiday, count(e.event_id) FROM shop.day d LEFT JOIN shop.event e ON e.at::date = d.day GROUP BY d.holiday;
SELECT m::date AS month, count(o.order_id) FROM generate_series(date '2024-01-01', date '2025-12-01', interval '1
    month') m LEFT JOIN shop.orders o ON date_trunc('month', o.ordered) = m GROUP BY 1 ORDER BY 1;
SELECT r.region, n.country, count(c.customer_id) FROM shop.region r JOIN shop.country n USING (region_id) LEFT JOIN
    shop.customer c USING (country_id) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT r.region, count(c.customer_id) FROM shop.region r LEFT JOIN (shop.country n JOIN shop.customer c USING
    (country_id)) USING (region_id) GROUP BY 1 ORDER BY 1;
SELECT to_char(ordered, 'YYYY-MM') AS month, count(*) FROM shop.orders GROUP BY 1 ORDER BY 1;
SELECT to_char(at, 'Dy') AS d, to_char(at, 'HH24') AS h, count(*) FROM shop.event GROUP BY 1, 2;
SELECT extract(isodow FROM at) AS dow, extract(hour FROM at) AS h, count(*) FROM shop.event GROUP BY 1, 2 ORDER BY 1,
    2;
SELECT date_bin('15 minutes', at, timestamptz '2024-01-01') AS slot, count(*) FROM shop.event WHERE at < '2024-03-02'
    GROUP BY 1 ORDER BY 1;
SELECT date_trunc('week', at AT TIME ZONE 'Europe/Berlin') AS week, count(DISTINCT customer_id) FROM shop.event GROUP
    BY 1 ORDER BY 1;
SELECT split_part(page, '?', 1) AS path, count(*) FROM shop.event GROUP BY 1 ORDER BY 2 DESC;
SELECT split_part(page, '/', 3) AS p, count(*) FROM shop.event GROUP BY 1;
SELECT regexp_replace(page, '\?.*$', '') AS path, count(*) FROM shop.event GROUP BY 1;
SELECT substring(page FROM '/p/([0-9]+)') AS product, count(*) FROM shop.event GROUP BY 1;
SELECT count(*) FROM shop.event WHERE page ~ '^/p/1[01]\?';
SELECT detail ->> 'device' AS device, count(*), avg(least(greatest((detail ->> 'ms')::numeric, 0), 300)) FROM
    shop.event GROUP BY 1;
SELECT detail ->> 'device' AS device, count(*) FROM shop.event GROUP BY 1;
SELECT count(*) FROM shop.event WHERE (detail ->> 'ok')::boolean;
SELECT tag, count(*) FROM shop.event, unnest(tags) tag GROUP BY tag;
SELECT count(*) FROM shop.event WHERE 'a' = ANY (tags);
SELECT o.status, sum(i.amount * i.quantity) FROM shop.orders o JOIN shop.item i USING (order_id) GROUP BY o.status;
SELECT p.kind, sum(i.quantity) FROM shop.item i JOIN shop.product p USING (product_id) GROUP BY p.kind ORDER BY 2
    DESC;
SELECT p.brand, count(DISTINCT o.customer_id) AS buyers FROM shop.product p JOIN shop.item i USING (product_id) JOIN
    shop.orders o USING (order_id) GROUP BY p.brand ORDER BY p.brand;
SELECT count(*) FILTER (WHERE n >= 2) * 1.0 / count(*) AS repeat_rate FROM (SELECT customer_id, count(*) AS n FROM
    shop.orders GROUP BY 1) x;
SELECT round(100.0 * count(*) FILTER (WHERE status = 'done') / nullif(count(*), 0), 2) AS share FROM shop.orders;
SELECT count(*) FROM shop.customer c WHERE NOT EXISTS (SELECT 1 FROM shop.orders o WHERE o.customer_id = c.customer_id
    AND o.status = 'done');
SELECT count(*) FROM shop.customer WHERE customer_id NOT IN (SELECT customer_id FROM shop.orders WHERE ordered >=
    '2025-01-01');
SELECT count(*) FROM (SELECT customer_id FROM shop.orders EXCEPT SELECT customer_id FROM shop.event) x;
SELECT count(*) FROM (SELECT customer_id FROM shop.orders UNION SELECT customer_id FROM shop.event) x;
SELECT status, avg(rn) FROM (SELECT status, row_number() OVER (PARTITION BY customer_id ORDER BY ordered) AS rn FROM
    shop.orders) x GROUP BY status;
SELECT sum(amount) FROM (SELECT i.amount, row_number() OVER (PARTITION BY o.customer_id ORDER BY i.amount DESC) AS rn
    FROM shop.item i JOIN shop.orders o USING (order_id)) x WHERE rn <= 3;
SELECT p.kind, count(*) FROM (SELECT i.product_id, rank() OVER (PARTITION BY o.customer_id ORDER BY i.amount DESC) AS
    rn FROM shop.item i JOIN shop.orders o ON o.order_id = i.order_id) x JOIN shop.product p USING (product_id) WHERE
    rn = 1 GROUP BY 1;
SELECT c.segment, avg(o.n) FROM shop.customer c LEFT JOIN (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY
    1) o USING (customer_id) GROUP BY c.segment;
SELECT c.segment, avg(coalesce(o.n, 0)) FROM shop.customer c LEFT JOIN (SELECT customer_id, count(*) AS n FROM
    shop.orders GROUP BY 1) o USING (customer_id) GROUP BY c.segment;
SELECT sum(amount) / count(DISTINCT o.customer_id) AS per_customer FROM shop.item i JOIN shop.orders o USING
    (order_id);
SELECT avg(total) FROM (SELECT o.customer_id, sum(i.amount * (1 - i.discount)) AS total FROM shop.orders o JOIN
    shop.item i USING (order_id) GROUP BY o.customer_id) x;
SELECT width_bucket(total, 0, 10000, 10) AS b, count(*) FROM (SELECT o.customer_id, sum(i.amount) AS total FROM
    shop.orders o JOIN shop.item i USING (order_id) GROUP BY 1) x GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN total < 1000 THEN 'low' WHEN total < 5000 THEN 'middle' ELSE 'high' END AS band, count(*) FROM
    (SELECT o.customer_id, sum(i.amount) AS total FROM shop.orders o JOIN shop.item i USING (order_id) GROUP BY 1) x
    GROUP BY 1;
SELECT ntile, count(*) FROM (SELECT ntile(4) OVER (PARTITION BY customer_id ORDER BY ordered) FROM shop.orders) x
    GROUP BY 1;
SELECT count(*) FROM shop.customer c WHERE (SELECT count(*) FROM shop.orders o WHERE o.customer_id = c.customer_id) >
    3;
SELECT c.segment, sum((SELECT sum(i.amount) FROM shop.item i JOIN shop.orders o USING (order_id) WHERE o.customer_id =
    c.customer_id)) AS revenue FROM shop.customer c GROUP BY 1;
SELECT count(*) FROM shop.orders o WHERE o.ordered = (SELECT max(ordered) FROM shop.orders l WHERE l.customer_id =
    o.customer_id);
SELECT status, count(*) FROM shop.orders o WHERE (o.customer_id, o.ordered) IN (SELECT customer_id, max(ordered) FROM
    shop.orders GROUP BY customer_id) GROUP BY status;
SELECT last.status, count(*) FROM shop.customer c, LATERAL (SELECT status FROM shop.orders o WHERE o.customer_id =
    c.customer_id ORDER BY ordered DESC, order_id DESC LIMIT 1) last GROUP BY 1;
SELECT corr(quantity, amount), regr_slope(amount, quantity) FROM shop.item;
SELECT kind, count(*), count(*) * 100.0 / sum(count(*)) OVER () AS pct FROM shop.event GROUP BY kind ORDER BY 2 DESC;
SELECT date_trunc('month', ordered) AS m, count(*), sum(count(*)) OVER (ORDER BY date_trunc('month', ordered)) AS
    running FROM shop.orders GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', ordered) AS m, count(*) - lag(count(*)) OVER (ORDER BY date_trunc('month', ordered)) AS
    growth FROM shop.orders GROUP BY 1 ORDER BY 1;
SELECT fav, count(*) FROM (SELECT customer_id, mode() WITHIN GROUP (ORDER BY kind) AS fav FROM shop.event GROUP BY
    customer_id) x GROUP BY fav;
SELECT avg(med) FROM (SELECT customer_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY spent) AS med FROM shop.event
    GROUP BY customer_id) x;
SELECT avg(med) FROM (SELECT customer_id, percentile_disc(0.5) WITHIN GROUP (ORDER BY spent) AS med FROM shop.event
    GROUP BY customer_id) x;
SELECT kinds, count(*) FROM (SELECT customer_id, string_agg(DISTINCT kind, ',' ORDER BY kind) AS kinds FROM shop.event
    GROUP BY customer_id) x GROUP BY kinds;
SELECT x.kind, count(*) FROM shop.customer c, LATERAL (SELECT kind, count(*) AS n FROM shop.event e WHERE
    e.customer_id = c.customer_id GROUP BY kind ORDER BY n DESC, kind LIMIT 1) x GROUP BY x.kind;
SELECT kind, count(*) FROM (SELECT customer_id, kind, count(*) AS n, row_number() OVER (PARTITION BY customer_id ORDER
    BY count(*) DESC, kind) AS rn FROM shop.event GROUP BY customer_id, kind) x WHERE rn = 1 GROUP BY kind;
SELECT d.day, s.segment, count(e.event_id) FROM shop.day d CROSS JOIN (VALUES ('home'), ('work')) s(segment) LEFT JOIN
    (shop.event e JOIN shop.customer c USING (customer_id)) ON e.at::date = d.day AND c.segment = s.segment GROUP BY
    1, 2 ORDER BY 1, 2;
SELECT avg(share) FROM (SELECT customer_id, count(*) FILTER (WHERE kind = 'pay')::numeric / count(*) AS share FROM
    shop.event GROUP BY 1) x;
SELECT avg(share) FROM (SELECT customer_id, avg(CASE WHEN kind = 'pay' THEN 1.0 ELSE 0 END) AS share FROM shop.event
    GROUP BY 1) x;
SELECT n, count(*) FROM shop.customer c CROSS JOIN LATERAL (SELECT -extract(month FROM o.ordered) AS ordered,
    extract(month FROM o.ordered) AS n FROM shop.orders o WHERE o.customer_id = c.customer_id ORDER BY ordered LIMIT
    1) l GROUP BY n ORDER BY n;
SELECT n, count(*) FROM shop.customer c CROSS JOIN LATERAL (SELECT extract(month FROM o.ordered) AS n FROM shop.orders
    o WHERE o.customer_id = c.customer_id ORDER BY ordered LIMIT 1) l GROUP BY n ORDER BY n;
SELECT kind, count(*) FROM (SELECT DISTINCT ON (customer_id) customer_id, kind FROM shop.event GROUP BY customer_id,
    kind ORDER BY customer_id, count(*) DESC, kind) x GROUP BY kind;
SELECT count(*), sum(n) FROM (SELECT DISTINCT customer_id, count(*) AS n FROM shop.event GROUP BY customer_id, kind)
    x;
SELECT avg(least(greatest(g, -30), 30)) FROM (SELECT customer_id, count(*) - lag(count(*)) OVER (PARTITION BY
    customer_id ORDER BY date_trunc('day', at)) AS g FROM shop.event GROUP BY customer_id, date_trunc('day', at)) x;
SELECT count(*) FROM (SELECT customer_id, at::date AS d, at::date - (row_number() OVER (PARTITION BY customer_id ORDER
    BY at::date))::int AS island FROM shop.event GROUP BY customer_id, at::date) x;
SELECT max, count(*) FROM (SELECT customer_id, max(n) FROM (SELECT customer_id, island, count(*) AS n FROM (SELECT
    customer_id, at::date AS d, at::date - (row_number() OVER (PARTITION BY customer_id ORDER BY at::date))::int AS
    island FROM shop.event GROUP BY customer_id, at::date) x GROUP BY 1, 2) y GROUP BY 1) z GROUP BY 1 ORDER BY 1;
SELECT c.segment, avg((SELECT count(*) FROM shop.event e WHERE e.customer_id = c.customer_id GROUP BY kind ORDER BY
    count(*) DESC LIMIT 1)) FROM shop.customer c GROUP BY 1;
SELECT count(*) FROM shop.customer c WHERE 'pay' = (SELECT kind FROM shop.event e WHERE e.customer_id = c.customer_id
    GROUP BY kind ORDER BY count(*) DESC, kind LIMIT 1);
SELECT count(*) FROM (SELECT customer_id, count(*) AS n, max(at) AS last, ntile(2) OVER (PARTITION BY customer_id
    ORDER BY max(at)) AS half FROM shop.event GROUP BY customer_id, kind) x WHERE half = 1;
SELECT count(*) FROM (SELECT customer_id, sum(count(*)) OVER w AS n FROM shop.event GROUP BY customer_id, kind WINDOW
    w AS (PARTITION BY customer_id ORDER BY kind)) x WHERE n > 2;
SELECT b, count(*) FROM (SELECT o.customer_id, p.brand AS b, sum(i.amount) AS s, rank() OVER (PARTITION BY
    o.customer_id ORDER BY sum(i.amount) DESC) AS r FROM shop.orders o JOIN shop.item i USING (order_id) JOIN
    shop.product p USING (product_id) GROUP BY o.customer_id, p.brand) x WHERE r = 1 GROUP BY b ORDER BY b;
SELECT count(*) FROM (SELECT product_id, count(*) AS n FROM shop.stock GROUP BY product_id ORDER BY n DESC LIMIT 3) x
    JOIN shop.item USING (product_id);
SELECT first, count(*) FROM (SELECT DISTINCT customer_id, first_value(status) OVER (PARTITION BY customer_id ORDER BY
    ordered, order_id) AS first FROM shop.orders) x GROUP BY first;
SELECT n, count(*) FROM (SELECT DISTINCT ON (customer_id) customer_id, status, count(*) OVER (PARTITION BY
    customer_id) AS n FROM shop.orders ORDER BY customer_id, ordered) x GROUP BY n ORDER BY n;
SELECT gap, count(*) FROM shop.customer c, LATERAL (SELECT least(greatest(o.ordered - lag(o.ordered) OVER (ORDER BY
    o.ordered), 0), 300) / 100 AS gap FROM shop.orders o WHERE o.customer_id = c.customer_id ORDER BY o.ordered DESC
    LIMIT 1) l GROUP BY gap ORDER BY gap;
SELECT count(*) FROM (SELECT DISTINCT customer_id, kind, sum(count(*)) OVER (PARTITION BY customer_id) AS n FROM
    shop.event GROUP BY customer_id, kind, page) x WHERE n > 3;
SELECT count(*) FROM (SELECT DISTINCT customer_id, row_number() OVER (PARTITION BY customer_id ORDER BY status) AS n
    FROM shop.orders) x WHERE n > 3;
SELECT avg(med) FROM (SELECT customer_id, percentile_disc(0.5) WITHIN GROUP (ORDER BY spent DESC) AS med FROM
    shop.event GROUP BY customer_id) x;
SELECT path, count(*) FROM (SELECT customer_id, string_agg(kind, ' > ' ORDER BY at, event_id) AS path FROM shop.event
    GROUP BY customer_id) x GROUP BY path ORDER BY 2 DESC LIMIT 3;
SELECT count(*) FROM (SELECT customer_id, string_agg(kind, '>' ORDER BY at) AS path FROM shop.event GROUP BY
    customer_id) x WHERE path LIKE '%view>cart%';
SELECT count(*) FROM (SELECT customer_id, string_agg(left(kind, 1), '' ORDER BY at) AS path FROM shop.event GROUP BY
    customer_id) x WHERE path ~ 'v.*c.*p';
SELECT mid, count(*) FROM (SELECT customer_id, percentile_disc(0.5) WITHIN GROUP (ORDER BY at)::date AS mid FROM
    shop.event GROUP BY customer_id) x GROUP BY mid;
SELECT count(*) FILTER (WHERE paid > 20) AS n FROM (SELECT customer_id, percentile_cont(0.9) WITHIN GROUP (ORDER BY
    spent) FILTER (WHERE kind = 'view') AS paid FROM shop.event GROUP BY customer_id) x;
SELECT c.segment, avg((SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY spent) FROM shop.event e WHERE e.customer_id
    = c.customer_id)) FROM shop.customer c GROUP BY 1;
SELECT count(*) FROM shop.customer c WHERE 'pay' = (SELECT mode() WITHIN GROUP (ORDER BY kind) FROM shop.event e WHERE
    e.customer_id = c.customer_id);
SELECT count(*) FROM (SELECT customer_id, mode() WITHIN GROUP (ORDER BY kind = 'pay') AS m FROM shop.event GROUP BY
    customer_id) x WHERE m;
SELECT avg(least(greatest(m, 0), 50)) FROM (SELECT o.customer_id, percentile_disc(0.25) WITHIN GROUP (ORDER BY
    i.quantity) AS m FROM shop.orders o JOIN shop.item i USING (order_id) GROUP BY 1) x;
SELECT n, count(*) FROM (SELECT customer_id, length(string_agg(kind, ',' ORDER BY kind DESC)) / 20 AS n FROM
    shop.event GROUP BY 1) x GROUP BY n;
SELECT status, count(*) FROM shop.orders WHERE (customer_id, ordered) IN (SELECT customer_id, max(ordered) FROM
    shop.orders GROUP BY customer_id) GROUP BY status;
SELECT status, count(*) FROM shop.orders WHERE (customer_id, ordered) NOT IN (SELECT customer_id, max(ordered) FROM
    shop.orders GROUP BY customer_id) GROUP BY status;
SELECT status, count(*) FROM shop.orders WHERE (ordered, customer_id) = ANY (SELECT min(ordered), customer_id FROM
    shop.orders GROUP BY customer_id) GROUP BY status;
SELECT flag, count(*) FROM shop.item WHERE (order_id, amount) IN (SELECT order_id, max(amount) FROM shop.item GROUP BY
    order_id) GROUP BY flag;
SELECT avg(least(greatest(o.ordered - f.first, 0), 365)) FROM shop.orders o JOIN (SELECT customer_id, min(ordered) AS
    first FROM shop.orders GROUP BY 1) f USING (customer_id);
SELECT (extract(year FROM o.ordered) - extract(year FROM f.first)) * 12 + extract(month FROM o.ordered) -
    extract(month FROM f.first) AS m, count(DISTINCT customer_id) FROM shop.orders o JOIN (SELECT customer_id,
    min(ordered) AS first FROM shop.orders GROUP BY 1) f USING (customer_id) GROUP BY 1 ORDER BY 1;
SELECT floor(extract(epoch FROM e.at - f.first) / 86400) AS day_no, count(DISTINCT customer_id) FROM shop.event e JOIN
    (SELECT customer_id, min(at) AS first FROM shop.event GROUP BY 1) f USING (customer_id) GROUP BY 1 ORDER BY 1;
SELECT width_bucket(ordered - first, 0, 360, 4) AS b, count(*) FROM (SELECT ordered, min(ordered) OVER (PARTITION BY
    customer_id) AS first FROM shop.orders) x GROUP BY 1 ORDER BY 1;
SELECT avg(d) FROM (SELECT customer_id, least(greatest((max(ordered) - min(ordered)) / 7.0, 0), 100) AS d FROM
    shop.orders GROUP BY 1) x;
SELECT island_days, count(*) FROM (SELECT customer_id, max(n) AS island_days FROM (SELECT customer_id, island,
    count(*) AS n FROM (SELECT DISTINCT customer_id, at::date AS d, at::date - (dense_rank() OVER (PARTITION BY
    customer_id ORDER BY at::date))::int AS island FROM shop.event) x GROUP BY 1, 2) y GROUP BY 1) z GROUP BY 1 ORDER
    BY 1;
SELECT count(*) FROM shop.orders o JOIN shop.item i USING (order_id) WHERE i.received > o.ordered + i.quantity::int;
SELECT count(*) FROM shop.orders o WHERE EXISTS (SELECT 1 FROM shop.orders p WHERE p.customer_id = o.customer_id AND
    p.ordered BETWEEN o.ordered + 1 AND o.ordered + 100);
SELECT o.priority, count(DISTINCT o.customer_id) FROM shop.orders o JOIN shop.item i USING (order_id) JOIN
    shop.complaint k USING (item_id) GROUP BY 1;
SELECT count(*) FROM shop.customer c WHERE EXISTS (SELECT 1 FROM shop.event e WHERE e.customer_id = c.customer_id AND
    e.kind = 'cart') AND NOT EXISTS (SELECT 1 FROM shop.event e WHERE e.customer_id = c.customer_id AND e.kind =
    'pay');
SELECT avg(n) FROM (SELECT c.customer_id, count(e.event_id) AS n FROM shop.customer c LEFT JOIN shop.event e ON
    e.customer_id = c.customer_id AND e.kind = 'pay' GROUP BY c.customer_id) x;
SELECT c.segment, count(*) FILTER (WHERE n = 0) AS none, count(*) FILTER (WHERE n BETWEEN 1 AND 2) AS few, count(*)
    FILTER (WHERE n > 2) AS many FROM (SELECT c.customer_id, c.segment, count(o.order_id) AS n FROM shop.customer c
    LEFT JOIN shop.orders o USING (customer_id) GROUP BY c.customer_id, c.segment) c GROUP BY 1;
SELECT count(*) FROM (SELECT customer_id, max(ordered) AS last FROM shop.orders GROUP BY 1) x WHERE last < date
    '2025-12-01' - 180;
SELECT CASE WHEN last >= '2025-06-01' THEN 'active' WHEN last >= '2025-01-01' THEN 'lapsed' ELSE 'lost' END AS state,
    count(*) FROM (SELECT customer_id, max(ordered) AS last FROM shop.orders GROUP BY 1) x GROUP BY 1;
SELECT r, f, count(*) FROM (SELECT customer_id, width_bucket(date '2026-01-01' - max(ordered), 0, 700, 3) AS r,
    least(count(*), 4) AS f FROM shop.orders GROUP BY customer_id) x GROUP BY r, f ORDER BY r, f;
SELECT a.kind AS from_kind, b.kind AS to_kind, count(*) FROM (SELECT customer_id, kind, row_number() OVER (PARTITION
    BY customer_id ORDER BY at, event_id) AS n FROM shop.event) a JOIN (SELECT customer_id, kind, row_number() OVER
    (PARTITION BY customer_id ORDER BY at, event_id) AS n FROM shop.event) b ON a.customer_id = b.customer_id AND b.n
    = a.n + 1 GROUP BY 1, 2;
SELECT kind, next, count(*) FROM (SELECT kind, lead(kind) OVER (PARTITION BY customer_id ORDER BY at, event_id) AS
    next FROM shop.event) x WHERE next IS NOT NULL GROUP BY 1, 2;
SELECT count(*) FROM (SELECT customer_id, kind, lag(kind) OVER w AS before FROM shop.event WINDOW w AS (PARTITION BY
    customer_id ORDER BY at, event_id)) x WHERE kind = 'pay' AND before = 'checkout';
SELECT date_trunc('month', d)::date AS month, count(DISTINCT o.customer_id) FROM generate_series(date '2024-01-01',
    date '2025-12-01', '1 month') d LEFT JOIN shop.orders o ON o.ordered >= d AND o.ordered < d + interval '1 month'
    GROUP BY 1 ORDER BY 1;
SELECT n.country, sum(i.amount) AS revenue, rank() OVER (ORDER BY sum(i.amount) DESC) FROM shop.item i JOIN
    shop.orders o USING (order_id) JOIN shop.customer c USING (customer_id) JOIN shop.country n ON n.country_id =
    c.country_id GROUP BY n.country;
SELECT region, country, sum(amount) FROM shop.item JOIN shop.orders USING (order_id) JOIN shop.customer USING
    (customer_id) JOIN shop.country USING (country_id) JOIN shop.region USING (region_id) GROUP BY ROLLUP (region,
    country) ORDER BY 1, 2;
SELECT s.rating, avg(least(greatest(i.received - i.shipped, 0), 60)) FROM shop.item i JOIN shop.supplier s USING
    (supplier_id) GROUP BY 1 ORDER BY 1;
SELECT count(*) FILTER (WHERE received > due)::numeric / count(*) AS late FROM shop.item;
SELECT avg((received > due)::int) AS late FROM shop.item WHERE received IS NOT NULL;
SELECT extract(quarter FROM ordered) AS q, count(*) FILTER (WHERE extract(year FROM ordered) = 2024) AS y2024,
    count(*) FILTER (WHERE extract(year FROM ordered) = 2025) AS y2025 FROM shop.orders GROUP BY 1 ORDER BY 1;
SELECT date_part('month', ordered) AS m, count(*) FROM shop.orders WHERE ordered BETWEEN '2024-01-01' AND '2024-12-31'
    GROUP BY 1 ORDER BY 1;
SELECT ordered - (extract(isodow FROM ordered)::int - 1) AS week, count(*) FROM shop.orders WHERE ordered <
    '2024-03-01' GROUP BY 1 ORDER BY 1;
SELECT to_char(date_trunc('week', ordered), 'IYYY-"W"IW') AS week, count(*) FROM shop.orders GROUP BY 1;
WITH buyers AS (SELECT DISTINCT customer_id FROM shop.orders), viewers AS (SELECT DISTINCT customer_id FROM
    shop.event) SELECT count(*) FROM buyers JOIN viewers USING (customer_id);
WITH buyers AS (SELECT DISTINCT customer_id FROM shop.orders) SELECT c.segment, count(b.customer_id)::numeric /
    count(*) AS share FROM shop.customer c LEFT JOIN buyers b ON b.customer_id = c.customer_id GROUP BY 1;
SELECT count(*) FROM shop.customer c LEFT JOIN shop.orders o USING (customer_id) WHERE o.order_id IS NULL;
SELECT count(*) FROM shop.customer c FULL JOIN (SELECT customer_id, count(*) AS n FROM shop.event GROUP BY 1) e USING
    (customer_id) WHERE e.n IS NULL OR e.n > 3;
SELECT lower(segment) || '/' || status AS key, count(*) FROM shop.customer JOIN shop.orders USING (customer_id) GROUP
    BY 1;
SELECT coalesce(nullif(split_part(phone, '-', 1), ''), '?') AS code, count(*) FROM shop.customer GROUP BY 1;
SELECT page ILIKE '%x=1%' AS one, count(*) FROM shop.event GROUP BY 1;
SELECT position('?' IN page) AS p, count(*) FROM shop.event GROUP BY 1;
SELECT bucket, count(*) FROM (SELECT customer_id, floor(sum(spent) / 50) * 50 AS bucket FROM shop.event GROUP BY 1) x
    GROUP BY 1 ORDER BY 1;
SELECT round(avg(total), 2), round(stddev(total), 2) FROM (SELECT customer_id, sum(spent) AS total FROM shop.event
    GROUP BY 1) x;
SELECT sum(CASE WHEN rn = 1 THEN 1 ELSE 0 END) AS firsts, sum(CASE WHEN rn > 1 THEN 1 ELSE 0 END) AS repeats FROM
    (SELECT row_number() OVER (PARTITION BY customer_id ORDER BY ordered, order_id) AS rn FROM shop.orders) x;
SELECT date_trunc('quarter', ordered) AS q, count(*) FILTER (WHERE rn = 1) AS new, count(*) FILTER (WHERE rn > 1) AS
    returning FROM (SELECT ordered, row_number() OVER (PARTITION BY customer_id ORDER BY ordered, order_id) AS rn FROM
    shop.orders) x GROUP BY 1 ORDER BY 1;
SELECT avg(x.running) FROM (SELECT customer_id, sum(spent) OVER (PARTITION BY customer_id ORDER BY at, event_id) AS
    running FROM shop.event) x WHERE running IS NOT NULL;
SELECT count(DISTINCT customer_id) FROM (SELECT customer_id, count(*) OVER (PARTITION BY customer_id ORDER BY at RANGE
    BETWEEN interval '1 day' PRECEDING AND CURRENT ROW) AS n FROM shop.event) x WHERE n >= 3;
SELECT count(*) FROM shop.customer c WHERE c.customer_id = ANY (SELECT customer_id FROM shop.orders WHERE status =
    'open') AND c.balance > (SELECT avg(balance) FROM shop.customer);
SELECT count(*) FROM shop.orders o WHERE 100 < ALL (SELECT amount FROM shop.item i WHERE i.order_id = o.order_id);
SELECT count(*) FROM shop.orders o WHERE o.order_id IN (SELECT order_id FROM shop.item GROUP BY order_id HAVING
    count(DISTINCT product_id) > 1);
SELECT o.status, avg(i.n) FROM shop.orders o JOIN (SELECT order_id, count(*) AS n FROM shop.item GROUP BY order_id) i
    USING (order_id) GROUP BY 1;
SELECT kind, count(DISTINCT customer_id) AS people, count(*) AS events, count(*)::numeric / count(DISTINCT
    customer_id) AS per_person FROM shop.event GROUP BY kind;
SELECT bool_and(n >= 1) AS all_have FROM (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY 1) x;
SELECT covar_pop(n, total), corr(n, total) FROM (SELECT customer_id, count(*) AS n, sum(spent) AS total FROM
    shop.event GROUP BY 1) x;
SELECT date '2024-03-01' + n AS day, count(e.event_id) FROM generate_series(0, 10) n LEFT JOIN shop.event e ON
    e.at::date = date '2024-03-01' + n GROUP BY 1 ORDER BY 1;
SELECT d.day, count(e.customer_id) FILTER (WHERE e.kind = 'pay') AS pays, count(e.customer_id) AS all FROM shop.day d
    LEFT JOIN (SELECT customer_id, at::date AS day, kind FROM shop.event) e USING (day) GROUP BY d.day ORDER BY 1;
SELECT d.day, avg(e.spent) FROM shop.day d LEFT JOIN shop.event e ON e.at::date = d.day WHERE d.day < '2024-03-10'
    GROUP BY 1 ORDER BY 1;
SELECT d.day, k.kind, count(e.event_id) FROM shop.day d CROSS JOIN (VALUES ('view'), ('pay')) k(kind) LEFT JOIN
    shop.event e ON e.at::date = d.day AND e.kind = k.kind WHERE d.day < '2024-03-05' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT d.day, r.region, count(o.order_id) FROM shop.day d CROSS JOIN shop.region r LEFT JOIN (shop.orders o JOIN
    shop.customer c USING (customer_id) JOIN shop.country n USING (country_id)) ON o.ordered = d.day AND n.region_id =
    r.region_id WHERE d.day < '2024-03-05' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT least(greatest((detail ->> 'ms')::int, 0), 300) / 50 AS b, count(*) FROM shop.event GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM shop.event WHERE (detail ->> 'ms')::int > 100 AND CAST(detail ->> 'ms' AS double precision) <
    200;
SELECT max, count(*) FROM (SELECT customer_id, max((split_part(page, '=', 2))::int) FROM shop.event GROUP BY 1) x
    GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM shop.customer WHERE split_part(phone, '-', 1)::int BETWEEN 12 AND 20;
SELECT sum(least(greatest(split_part(phone, '-', 2)::bigint, 0), 999)) FROM shop.customer;

-- ===== around the answer: functions of aggregates, GROUPING(), windows over groups

SELECT ln(count(*)) AS log, power(count(*), 2) AS squared FROM shop.customer;
SELECT sqrt(count(DISTINCT customer_id)::float8) AS root, to_char(count(*), '999,999') AS orders FROM shop.orders;
SELECT segment, GROUPING(segment) AS total, count(*) FROM shop.customer GROUP BY GROUPING SETS ((segment), ())
    ORDER BY 2, 1;
SELECT segment, count(*), rank() OVER (ORDER BY count(*) DESC) AS place, sum(count(*)) OVER () AS total,
    round(count(*) * 100.0 / sum(count(*)) OVER (), 1) AS share FROM shop.customer GROUP BY segment ORDER BY segment;
SELECT status, count(*) - lag(count(*)) OVER (ORDER BY status) AS more FROM shop.orders GROUP BY status ORDER BY status;
