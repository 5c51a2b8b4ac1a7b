-- Questions about the shop of tests/shop.py, in the shapes of decision support; each is compared with PostgreSQL's answer.

-- ===== one table, its people over a path

SELECT flag, sum(quantity) AS quantity, sum(amount) AS amount, sum(amount * (1 - discount)) AS paid, avg(quantity) AS mean,
       count(*) AS items
FROM shop.item WHERE shipped <= date '2025-12-01' - interval '90 days' GROUP BY flag ORDER BY flag;
SELECT sum(amount * discount) AS saved FROM shop.item
WHERE shipped >= '2024-01-01' AND shipped < '2025-01-01' AND discount BETWEEN 0.05 AND 0.07 AND quantity < 24;
SELECT count(*) FROM shop.item;
SELECT count(*) FROM shop.complaint;
SELECT avg(refund) FROM shop.complaint;
SELECT ship_mode, count(*) FROM shop.item GROUP BY ship_mode;

-- ===== joins on foreign keys

SELECT o.priority, sum(i.amount * (1 - i.discount)) AS revenue
FROM shop.customer c, shop.orders o, shop.item i
WHERE c.segment = 'home' AND c.customer_id = o.customer_id AND i.order_id = o.order_id AND o.ordered < '2025-03-15'
  AND i.shipped > '2024-03-15' GROUP BY o.priority;
SELECT o.status, count(*) FROM shop.orders o JOIN shop.item i USING (order_id) GROUP BY o.status;
SELECT o.status, count(*) FROM shop.item i JOIN shop.orders o ON o.order_id = i.order_id GROUP BY o.status;
SELECT count(*) FROM shop.orders o LEFT JOIN shop.item i ON i.order_id = o.order_id;
SELECT o.priority, count(i.item_id) FROM shop.orders o LEFT JOIN shop.item i USING (order_id) GROUP BY o.priority;
SELECT count(*) FROM shop.item i JOIN shop.complaint c USING (item_id) JOIN shop.orders o USING (order_id)
WHERE o.status = 'done';
SELECT c.segment, avg(k.refund) FROM shop.complaint k JOIN shop.item i ON k.item_id = i.item_id
JOIN shop.orders o ON i.order_id = o.order_id JOIN shop.customer c ON c.customer_id = o.customer_id GROUP BY c.segment;
SELECT count(*) FROM shop.item a JOIN shop.item b ON a.order_id = b.order_id WHERE a.flag = 'R' AND b.flag = 'A';
SELECT c.segment, sum(i.amount) FROM shop.customer c, shop.item i, shop.orders o
WHERE i.order_id = o.order_id AND c.customer_id = o.customer_id GROUP BY c.segment;
SELECT o.priority, sum(i.amount * (1 - i.discount)) AS volume
FROM shop.customer c, shop.orders o, shop.item i, shop.supplier s, shop.country n, shop.region r
WHERE c.customer_id = o.customer_id AND i.order_id = o.order_id AND i.supplier_id = s.supplier_id
  AND c.country_id = s.country_id AND s.country_id = n.country_id AND n.region_id = r.region_id AND r.region = 'East'
GROUP BY o.priority;
SELECT sum(CASE WHEN p.kind = 'steel' THEN i.amount * (1 - i.discount) ELSE 0 END) AS steel,
       sum(i.amount * (1 - i.discount)) AS every
FROM shop.item i, shop.product p WHERE i.product_id = p.product_id AND i.shipped >= '2024-06-01';
SELECT i.flag, sum(i.amount * (1 - i.discount) - s.cost * i.quantity) AS profit
FROM shop.product p, shop.item i, shop.stock s, shop.orders o
WHERE s.product_id = i.product_id AND s.supplier_id = i.supplier_id AND p.product_id = i.product_id
  AND o.order_id = i.order_id AND p.brand LIKE 'brand%' GROUP BY i.flag;
SELECT sum(i.amount * (1 - i.discount)) AS revenue FROM shop.item i, shop.product p
WHERE (p.product_id = i.product_id AND p.brand = 'brand 1' AND i.quantity BETWEEN 1 AND 11 AND p.size BETWEEN 1 AND 15)
   OR (p.product_id = i.product_id AND p.brand = 'brand 2' AND i.quantity BETWEEN 10 AND 20 AND p.size BETWEEN 1 AND 20);

-- ===== within one person

SELECT o.priority, count(*) AS orders FROM shop.orders o
WHERE o.ordered >= '2024-07-01' AND o.ordered < '2025-07-01'
  AND EXISTS (SELECT * FROM shop.item i WHERE i.order_id = o.order_id AND i.due < i.received) GROUP BY o.priority;
SELECT i.ship_mode, sum(CASE WHEN o.priority = 'high' THEN 1 ELSE 0 END) AS high,
       sum(CASE WHEN o.priority <> 'high' THEN 1 ELSE 0 END) AS low
FROM shop.orders o, shop.item i
WHERE o.order_id = i.order_id AND i.ship_mode IN ('air', 'ship') AND i.due < i.received GROUP BY i.ship_mode;
SELECT orders, count(*) AS customers FROM (
    SELECT c.customer_id, count(o.order_id) FROM shop.customer c
    LEFT OUTER JOIN shop.orders o ON c.customer_id = o.customer_id AND o.comment NOT LIKE '%special%requests%'
    GROUP BY c.customer_id) AS each (customer_id, orders)
GROUP BY orders ORDER BY orders;
SELECT count(*) AS large, sum(total) FROM (
    SELECT o.order_id, sum(i.quantity) AS total FROM shop.customer c, shop.orders o, shop.item i
    WHERE o.order_id IN (SELECT order_id FROM shop.item GROUP BY order_id HAVING sum(quantity) > 60)
      AND c.customer_id = o.customer_id AND o.order_id = i.order_id GROUP BY c.customer_id, o.order_id) x;
SELECT count(*) AS waiting FROM shop.supplier s, shop.item l1, shop.orders o
WHERE s.supplier_id = l1.supplier_id AND o.order_id = l1.order_id AND o.status = 'done' AND l1.received > l1.due
  AND EXISTS (SELECT * FROM shop.item l2 WHERE l2.order_id = l1.order_id AND l2.supplier_id <> l1.supplier_id)
  AND NOT EXISTS (SELECT * FROM shop.item l3
                  WHERE l3.order_id = l1.order_id AND l3.supplier_id <> l1.supplier_id AND l3.received > l3.due);
SELECT segment, count(*) AS customers, sum(balance) AS total FROM shop.customer c
WHERE substring(phone FROM 1 FOR 2) IN ('13', '21', '23') AND balance > 0
  AND NOT EXISTS (SELECT * FROM shop.orders o WHERE o.customer_id = c.customer_id) GROUP BY segment;
SELECT sum(i.amount) / 7.0 AS yearly FROM shop.item i, shop.product p
WHERE p.product_id = i.product_id AND p.brand = 'brand 3' AND i.quantity < 20;
SELECT avg(total) FROM (SELECT o.order_id, sum(i.amount) AS total FROM shop.orders o JOIN shop.item i USING (order_id)
    GROUP BY o.order_id) x;
SELECT avg(spent) FROM (SELECT o.customer_id, sum(i.amount) AS spent FROM shop.orders o JOIN shop.item i USING (order_id)
    GROUP BY o.customer_id) x;
SELECT count(*) FROM shop.customer c WHERE c.customer_id IN (
    SELECT o.customer_id FROM shop.orders o JOIN shop.item i USING (order_id) WHERE i.flag = 'R');
SELECT segment, avg((SELECT count(*) FROM shop.orders o WHERE o.customer_id = c.customer_id)) AS orders
FROM shop.customer c GROUP BY segment;
SELECT count(*) FROM (SELECT customer_id FROM shop.orders WHERE status = 'open'
    INTERSECT SELECT customer_id FROM shop.orders WHERE status = 'done') x;
SELECT avg(least(greatest(gap, 0), 700)) FROM (SELECT ordered - lag(ordered) OVER (PARTITION BY customer_id ORDER BY ordered, order_id) AS gap
    FROM shop.orders) x WHERE gap IS NOT NULL;
SELECT status, count(*) FROM (SELECT DISTINCT ON (customer_id) customer_id, status FROM shop.orders
    ORDER BY customer_id, ordered, order_id) first GROUP BY status;
SELECT avg(x.amount) FROM shop.orders o CROSS JOIN LATERAL (
    SELECT i.amount FROM shop.item i WHERE i.order_id = o.order_id ORDER BY i.amount DESC LIMIT 1) x;
SELECT c.segment, count(*) FROM shop.customer c JOIN LATERAL (
    SELECT o.status FROM shop.orders o WHERE o.customer_id = c.customer_id ORDER BY o.ordered DESC, o.order_id LIMIT 1) last
    ON last.status = 'open' GROUP BY c.segment;
SELECT first.status, count(*) AS customers, avg(n) AS orders FROM (
    SELECT customer_id, status, row_number() OVER w AS place, count(*) OVER (PARTITION BY customer_id) AS n
    FROM shop.orders WINDOW w AS (PARTITION BY customer_id ORDER BY ordered, order_id)) first
WHERE place = 1 GROUP BY first.status;
SELECT count(*) FROM shop.item i WHERE i.amount > (
    SELECT 1.2 * avg(o.amount) FROM shop.item o WHERE o.order_id = i.order_id);
