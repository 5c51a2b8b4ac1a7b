-- Twenty-two questions of decision support about the shop of tests/shop, in the shapes of a well known benchmark: customers are the
-- people, orders have them by a foreign key and items by a path of two; products, suppliers, countries and regions are public.
-- A refused one stands after its SQLSTATE, words of the message, and the reason, which is a theorem.

-- 1: sums and averages of items by two keys
SELECT flag, ship_mode, sum(quantity) AS quantity, sum(amount) AS amount, sum(amount * (1 - discount)) AS paid,
       sum(amount * (1 - discount) * (1 + discount)) AS charged, avg(quantity) AS mean_quantity, avg(amount) AS mean_amount,
       avg(discount) AS mean_discount, count(*) AS items
FROM shop.item WHERE shipped <= date '2025-12-01' - interval '90' day GROUP BY flag, ship_mode ORDER BY flag, ship_mode;
-- 2: public tables alone, with a correlated minimum
SELECT s.supplier, s.rating, n.country, p.product_id FROM shop.product p, shop.supplier s, shop.stock k, shop.country n, shop.region r
WHERE p.product_id = k.product_id AND s.supplier_id = k.supplier_id AND p.size = 15 AND p.kind LIKE '%eel'
  AND s.country_id = n.country_id AND n.region_id = r.region_id AND r.region = 'East'
  AND k.cost = (SELECT min(k2.cost) FROM shop.stock k2, shop.supplier s2 WHERE p.product_id = k2.product_id
                AND s2.supplier_id = k2.supplier_id) ORDER BY s.rating DESC LIMIT 100;
-- 3: the ten best orders. Each order belongs to one person, so a group of it is a person, and its sum is this person's.
-- DP002: using column order_id singles out a person
SELECT i.order_id, sum(i.amount * (1 - i.discount)) AS revenue, o.ordered FROM shop.customer c, shop.orders o, shop.item i
WHERE c.segment = 'home' AND c.customer_id = o.customer_id AND i.order_id = o.order_id AND o.ordered < date '2025-03-15'
GROUP BY i.order_id, o.ordered ORDER BY revenue DESC, o.ordered LIMIT 10;
-- 4: orders with a late item
SELECT priority, count(*) AS orders FROM shop.orders o
WHERE ordered >= date '2024-07-01' AND ordered < date '2024-07-01' + interval '3' month
  AND EXISTS (SELECT * FROM shop.item WHERE order_id = o.order_id AND due < received) GROUP BY priority ORDER BY priority;
-- 5: items whose supplier is of the customer's country, by country
SELECT n.country, sum(i.amount * (1 - i.discount)) AS revenue
FROM shop.customer c, shop.orders o, shop.item i, shop.supplier s, shop.country n, shop.region r
WHERE c.customer_id = o.customer_id AND i.order_id = o.order_id AND i.supplier_id = s.supplier_id AND c.country_id = s.country_id
  AND s.country_id = n.country_id AND n.region_id = r.region_id AND r.region = 'East' AND o.ordered >= date '2024-01-01'
  AND o.ordered < date '2024-01-01' + interval '2' year GROUP BY n.country ORDER BY n.country;
-- 6: one sum with ranges
SELECT sum(amount * discount) AS saved FROM shop.item WHERE shipped >= date '2024-01-01'
AND shipped < date '2024-01-01' + interval '1' year AND discount BETWEEN .06 - 0.01 AND .06 + 0.01 AND quantity < 24;
-- 7: trade between two regions by year, over a derived table
SELECT supplied_from, sold_to, year, sum(volume) AS revenue FROM (
    SELECT r1.region AS supplied_from, r2.region AS sold_to, extract(year FROM i.shipped) AS year,
           i.amount * (1 - i.discount) AS volume
    FROM shop.supplier s, shop.item i, shop.orders o, shop.customer c, shop.country n1, shop.country n2, shop.region r1, shop.region r2
    WHERE s.supplier_id = i.supplier_id AND o.order_id = i.order_id AND c.customer_id = o.customer_id
      AND s.country_id = n1.country_id AND c.country_id = n2.country_id AND n1.region_id = r1.region_id AND n2.region_id = r2.region_id
      AND ((r1.region = 'North' AND r2.region = 'South') OR (r1.region = 'South' AND r2.region = 'North'))
      AND i.shipped BETWEEN date '2024-01-01' AND date '2025-12-31') AS shipping
GROUP BY supplied_from, sold_to, year ORDER BY supplied_from, sold_to, year;
-- 8: the share of one region in a market, by year
SELECT year, sum(CASE WHEN region = 'North' THEN volume ELSE 0 END) / sum(volume) AS share FROM (
    SELECT extract(year FROM o.ordered) AS year, i.amount * (1 - i.discount) AS volume, r.region
    FROM shop.product p, shop.supplier s, shop.item i, shop.orders o, shop.customer c, shop.country n, shop.region r
    WHERE p.product_id = i.product_id AND s.supplier_id = i.supplier_id AND i.order_id = o.order_id AND o.customer_id = c.customer_id
      AND s.country_id = n.country_id AND n.region_id = r.region_id
      AND o.ordered BETWEEN date '2024-01-01' AND date '2025-12-31' AND p.kind = 'steel') AS all_regions
GROUP BY year ORDER BY year;
-- 9: profit by region and year
SELECT region, year, sum(profit) AS profit FROM (
    SELECT r.region, extract(year FROM o.ordered) AS year, i.amount * (1 - i.discount) - k.cost * i.quantity AS profit
    FROM shop.product p, shop.supplier s, shop.item i, shop.stock k, shop.orders o, shop.country n, shop.region r
    WHERE s.supplier_id = i.supplier_id AND k.supplier_id = i.supplier_id AND k.product_id = i.product_id
      AND p.product_id = i.product_id AND o.order_id = i.order_id AND s.country_id = n.country_id AND n.region_id = r.region_id
      AND p.brand LIKE '%rand%') AS profits
GROUP BY region, year ORDER BY region, year DESC;
-- 10: the twenty customers who sent most back. A group is a person.
-- DP002: using column customer_id singles out a person
SELECT c.customer_id, sum(i.amount * (1 - i.discount)) AS revenue, c.balance, n.country
FROM shop.customer c, shop.orders o, shop.item i, shop.country n
WHERE c.customer_id = o.customer_id AND i.order_id = o.order_id AND i.flag = 'R' AND c.country_id = n.country_id
GROUP BY c.customer_id, c.balance, n.country ORDER BY revenue DESC LIMIT 20;
-- 11: public tables alone, groups above a part of the whole
SELECT k.product_id, sum(k.cost) AS value FROM shop.stock k, shop.supplier s WHERE k.supplier_id = s.supplier_id AND s.rating = 3
GROUP BY k.product_id HAVING sum(k.cost) > (SELECT sum(k.cost) * 0.01 FROM shop.stock k, shop.supplier s
WHERE k.supplier_id = s.supplier_id AND s.rating = 3) ORDER BY value DESC, k.product_id;
-- 12: high and low priority by ship mode
SELECT i.ship_mode, sum(CASE WHEN o.priority = 'high' OR o.priority = 'urgent' THEN 1 ELSE 0 END) AS high,
       sum(CASE WHEN o.priority <> 'high' AND o.priority <> 'urgent' THEN 1 ELSE 0 END) AS low
FROM shop.orders o, shop.item i WHERE o.order_id = i.order_id AND i.ship_mode IN ('air', 'ship') AND i.shipped < i.due
AND i.received >= date '2024-01-01' AND i.received < date '2024-01-01' + interval '1' year GROUP BY i.ship_mode ORDER BY i.ship_mode;
-- 13: how many customers have so many orders, those without any too
SELECT orders, count(*) AS customers FROM (
    SELECT c.customer_id, count(o.order_id) FROM shop.customer c LEFT OUTER JOIN shop.orders o
    ON c.customer_id = o.customer_id AND o.comment NOT LIKE '%special%requests%' GROUP BY c.customer_id
) AS each (customer_id, orders) GROUP BY orders ORDER BY customers DESC, orders DESC;
-- 14: the share of a kind of product in a month's sales
SELECT 100.00 * sum(CASE WHEN p.kind LIKE 'st%' THEN i.amount * (1 - i.discount) ELSE 0 END) / sum(i.amount * (1 - i.discount)) AS share
FROM shop.item i, shop.product p WHERE i.product_id = p.product_id AND i.shipped >= date '2024-09-01'
AND i.shipped < date '2024-09-01' + interval '1' month;
-- 15: the best supplier: the released sums of all of them are compared with the greatest
WITH revenue (supplier_no, total) AS (
    SELECT supplier_id, sum(amount * (1 - discount)) FROM shop.item WHERE shipped >= date '2024-01-01'
    AND shipped < date '2024-01-01' + interval '24' month GROUP BY supplier_id)
SELECT s.supplier_id, s.supplier, r.total FROM shop.supplier s, revenue r
WHERE s.supplier_id = r.supplier_no AND r.total = (SELECT max(total) FROM revenue) ORDER BY s.supplier_id;
-- 16: public tables alone, suppliers that are not excluded
SELECT p.brand, p.kind, count(DISTINCT k.supplier_id) AS suppliers FROM shop.stock k, shop.product p
WHERE p.product_id = k.product_id AND p.brand <> 'brand 2' AND k.supplier_id NOT IN (SELECT supplier_id FROM shop.supplier
WHERE rating = 0) GROUP BY p.brand, p.kind ORDER BY suppliers DESC, p.brand, p.kind;
-- 17: items below a part of the average of their product. That average is of all people, another one for each product: one person
-- moves it, and with it items of others in and out of the sum, so no bound on rows bounds what one person changes.
-- DP001: without the person
SELECT sum(i.amount) / 7.0 AS yearly FROM shop.item i, shop.product p WHERE p.product_id = i.product_id AND p.brand = 'brand 3'
AND i.quantity < (SELECT 0.2 * avg(quantity) FROM shop.item WHERE product_id = p.product_id);
-- 18: customers with large orders, by name and order. A group is a person.
-- DP002: singles out a person
SELECT c.customer_id, o.order_id, o.ordered, sum(i.quantity) FROM shop.customer c, shop.orders o, shop.item i
WHERE o.order_id IN (SELECT order_id FROM shop.item GROUP BY order_id HAVING sum(quantity) > 60)
  AND c.customer_id = o.customer_id AND o.order_id = i.order_id GROUP BY c.customer_id, o.order_id, o.ordered
ORDER BY o.ordered LIMIT 100;
-- 19: a sum over three ways to qualify, the join within each of them
SELECT sum(i.amount * (1 - i.discount)) AS revenue FROM shop.item i, shop.product p
WHERE (p.product_id = i.product_id AND p.brand = 'brand 1' AND p.kind IN ('tin', 'steel') AND i.quantity >= 1
       AND i.quantity <= 1 + 10 AND p.size BETWEEN 1 AND 25 AND i.ship_mode IN ('air', 'rail') AND i.flag = 'A')
   OR (p.product_id = i.product_id AND p.brand = 'brand 2' AND p.kind IN ('brass', 'steel') AND i.quantity >= 10
       AND i.quantity <= 10 + 10 AND p.size BETWEEN 1 AND 30 AND i.ship_mode IN ('air', 'rail') AND i.flag = 'A')
   OR (p.product_id = i.product_id AND p.brand = 'brand 3' AND p.kind IN ('tin', 'brass') AND i.quantity >= 20
       AND i.quantity <= 20 + 10 AND p.size BETWEEN 1 AND 45 AND i.ship_mode IN ('air', 'rail') AND i.flag = 'A');
-- 20: suppliers who have much more than was sold. Exact sums of people's items would decide which public rows are shown: whether one
-- is there tells that a sum lies above a number.
-- DP001: without the person
SELECT s.supplier FROM shop.supplier s, shop.country n WHERE s.supplier_id IN (
    SELECT k.supplier_id FROM shop.stock k WHERE k.product_id IN (SELECT product_id FROM shop.product WHERE kind LIKE 'ti%')
    AND k.cost > (SELECT 0.5 * sum(i.quantity) FROM shop.item i WHERE i.product_id = k.product_id AND i.supplier_id = k.supplier_id))
AND s.country_id = n.country_id AND n.country = 'country 3' ORDER BY s.supplier;
-- 21: suppliers who alone kept an order waiting
SELECT s.rating, count(*) AS waiting FROM shop.supplier s, shop.item l1, shop.orders o, shop.country n
WHERE s.supplier_id = l1.supplier_id AND o.order_id = l1.order_id AND o.status = 'done' AND l1.received > l1.due
  AND EXISTS (SELECT * FROM shop.item l2 WHERE l2.order_id = l1.order_id AND l2.supplier_id <> l1.supplier_id)
  AND NOT EXISTS (SELECT * FROM shop.item l3 WHERE l3.order_id = l1.order_id AND l3.supplier_id <> l1.supplier_id
                  AND l3.received > l3.due)
  AND s.country_id = n.country_id GROUP BY s.rating ORDER BY s.rating LIMIT 100;
-- 22: customers of some codes with more than the average and no order
SELECT code, count(*) AS customers, sum(balance) AS total FROM (
    SELECT substring(phone FROM 1 FOR 2) AS code, balance FROM shop.customer c
    WHERE substring(phone FROM 1 FOR 2) IN ('13', '21', '23', '14')
      AND balance > (SELECT avg(balance) FROM shop.customer WHERE balance > 0.00 AND substring(phone FROM 1 FOR 2) IN ('13', '21', '23', '14'))
      AND NOT EXISTS (SELECT * FROM shop.orders o WHERE o.customer_id = c.customer_id)) AS idle
GROUP BY code ORDER BY code;
