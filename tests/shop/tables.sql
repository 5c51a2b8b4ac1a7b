-- A shop whose customers are the people: orders and their items have them over foreign keys.
CREATE SCHEMA shop;
CREATE TABLE shop.region (region_id int PRIMARY KEY, region text NOT NULL);
CREATE TABLE shop.country (country_id int PRIMARY KEY, country text NOT NULL, region_id int NOT NULL);
CREATE TABLE shop.supplier (supplier_id int PRIMARY KEY, supplier text, country_id int, rating int);
CREATE TABLE shop.product (product_id int PRIMARY KEY, brand text, kind text, size int, price numeric);
CREATE TABLE shop.stock (product_id int, supplier_id int, cost numeric, PRIMARY KEY (product_id, supplier_id));
CREATE TABLE shop.customer (
    customer_id int PRIMARY KEY, name text, country_id int, balance numeric, segment text NOT NULL, phone text);
CREATE TABLE shop.orders (
    order_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES shop.customer, status text NOT NULL, ordered date,
    priority text NOT NULL, comment text);
CREATE TABLE shop.item (
    item_id int PRIMARY KEY, order_id int REFERENCES shop.orders, product_id int, supplier_id int, quantity numeric,
    amount numeric, discount numeric, flag text NOT NULL, shipped date, due date, received date, ship_mode text NOT NULL);
CREATE TABLE shop.event (
    event_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES shop.customer, at timestamptz NOT NULL, kind text NOT NULL,
    page text, detail jsonb, tags text[], spent numeric);
CREATE TABLE shop.day (day date PRIMARY KEY, holiday boolean NOT NULL);
CREATE TABLE shop.complaint (item_id int REFERENCES shop.item, words text, refund float8);

INSERT INTO shop.region SELECT n, (ARRAY['North', 'South', 'East'])[n] FROM generate_series(1, 3) n;
INSERT INTO shop.country SELECT n, 'country ' || n, n % 3 + 1 FROM generate_series(1, 6) n;
INSERT INTO shop.supplier SELECT n, 'supplier ' || n, n % 6 + 1, n % 5 FROM generate_series(1, 20) n;
INSERT INTO shop.product
SELECT n, 'brand ' || n % 4, (ARRAY['tin', 'steel', 'brass'])[n % 3 + 1], n % 50, 10 + n % 90 FROM generate_series(1, 60) n;
INSERT INTO shop.stock SELECT p, (p * 7 + k) % 20 + 1, 5 + (p + k) % 20 FROM generate_series(1, 60) p, generate_series(0, 2) k;
INSERT INTO shop.customer
SELECT n, 'customer ' || n, n % 6 + 1, n * 37 % 2000 - 500, (ARRAY['home', 'work'])[n % 2 + 1], (10 + n % 15) || '-555'
FROM generate_series(1, 300) n;
INSERT INTO shop.orders
SELECT c * 10 + k, c, (ARRAY['open', 'done'])[(c + k) % 2 + 1], date '2024-01-01' + (c * 31 + k * 97) % 700,
       (ARRAY['high', 'low'])[(c * k) % 2 + 1], CASE WHEN (c + k) % 7 = 0 THEN 'special requests' ELSE 'plain' END
FROM generate_series(1, 300) c, generate_series(1, 6) k WHERE k <= c % 7;
INSERT INTO shop.item
SELECT o.order_id * 10 + k, o.order_id, (o.order_id * 3 + k) % 60 + 1, (o.order_id + k) % 20 + 1, (o.order_id * k) % 50 + 1,
       (o.order_id * 13 + k * 7) % 900 + 100, (o.order_id + k) % 11 * 0.01, (ARRAY['A', 'N', 'R'])[(o.order_id + k) % 3 + 1],
       o.ordered + k * 9, o.ordered + 20, o.ordered + k * 9 + o.order_id % 17, (ARRAY['air', 'rail', 'ship'])[k % 3 + 1]
FROM shop.orders o, generate_series(1, 4) k WHERE k <= o.order_id % 5;
INSERT INTO shop.item (item_id, order_id, amount, quantity, flag, ship_mode) VALUES (1, NULL, 500, 5, 'A', 'air');
INSERT INTO shop.complaint SELECT item_id, 'late', item_id % 100 / 10.0 FROM shop.item WHERE item_id % 9 = 0;
INSERT INTO shop.event
SELECT c * 20 + k, c,
       timestamptz '2024-03-01 08:00+00' + (c * 7 + k * k * 11) % 400 * interval '1 hour' + k * interval '7 minutes',
       (ARRAY['view', 'view', 'cart', 'checkout', 'pay'])[(c * 3 + k) % 5 + 1], '/p/' || (c + k) % 12 || '?x=' || k,
       jsonb_build_object('device', (ARRAY['phone', 'desk', 'tablet'])[(c + k) % 3 + 1], 'ms', c * k % 300, 'ok', k % 2 = 0),
       ARRAY[(ARRAY['a', 'b', 'c'])[k % 3 + 1], (ARRAY['a', 'b', 'c'])[(k + c) % 3 + 1]],
       CASE WHEN k % 4 > 0 THEN c * k % 90 END
FROM generate_series(1, 300) c, generate_series(1, 9) k WHERE k <= c % 10;
INSERT INTO shop.day SELECT date '2024-03-01' + n, n % 7 = 0 FROM generate_series(0, 60) n;
GRANT USAGE ON SCHEMA shop TO PUBLIC;
GRANT SELECT ON shop.region, shop.country, shop.supplier, shop.product, shop.stock, shop.day TO PUBLIC;
