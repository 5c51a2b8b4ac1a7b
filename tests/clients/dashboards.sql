-- Questions as Grafana and Metabase write them, by the macros and drivers that they document; about the store.
-- Grafana: $__timeFilter, $__timeGroup, $__unixEpochFilter, $__unixEpochGroup, $__timeFrom
SELECT floor(extract(epoch from bought)/604800)*604800 AS "time", count(*) AS purchases FROM store.purchase WHERE bought BETWEEN '2026-01-15T00:00:00Z' AND '2026-11-15T00:00:00Z' GROUP BY 1 ORDER BY 1;
SELECT floor(extract(epoch from "bought")/2592000)*2592000 AS "time", paid_by AS metric, avg(amount) AS value FROM store.purchase WHERE "bought" >= '2026-01-15T00:00:00Z' AND "bought" <= '2026-11-15T00:00:00Z' GROUP BY "time", metric ORDER BY 1, 2;
SELECT floor((extract(epoch from bought)::bigint)/2592000)*2592000 AS "time", count(*) FROM store.purchase WHERE extract(epoch from bought) >= 1768435200 AND extract(epoch from bought) <= 1789171200 GROUP BY 1 ORDER BY 1;
SELECT date_bin('7 days', bought, timestamptz '2026-01-01') AS "time", count(*) AS n FROM store.purchase GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', bought) AS "time", sum(amount) AS revenue FROM store.purchase WHERE bought BETWEEN '2026-02-01T00:00:00Z' AND '2026-09-01T00:00:00Z' GROUP BY 1 ORDER BY 1;
SELECT city AS metric, count(*) FROM store.customer WHERE city IN ('Bath','York') AND active GROUP BY city;
SELECT DISTINCT city FROM store.customer;
SELECT DISTINCT city AS __text, city AS __value FROM store.customer ORDER BY 1;
SELECT count(*) FROM store.purchase p JOIN store.customer c ON c.id = p.customer_id WHERE c.city = 'Bath' AND p.bought > '2026-03-01T00:00:00Z' LIMIT 50;
-- Metabase: summaries, breakouts by the units of time, binning, joins, nested questions, custom columns, percentiles
SELECT "store"."customer"."city" AS "city", COUNT(*) AS "count" FROM "store"."customer" GROUP BY "store"."customer"."city" ORDER BY "store"."customer"."city" ASC;
SELECT DATE_TRUNC('month', "store"."purchase"."bought") AS "bought", COUNT(*) AS "count" FROM "store"."purchase" WHERE ("store"."purchase"."bought" >= timestamp with time zone '2026-01-01 00:00:00.000Z') AND ("store"."purchase"."bought" < timestamp with time zone '2027-01-01 00:00:00.000Z') GROUP BY DATE_TRUNC('month', "store"."purchase"."bought") ORDER BY DATE_TRUNC('month', "store"."purchase"."bought") ASC;
SELECT (DATE_TRUNC('week', ("store"."purchase"."bought" + INTERVAL '1 day')) + INTERVAL '-1 day') AS "bought", SUM("store"."purchase"."amount") AS "sum" FROM "store"."purchase" GROUP BY (DATE_TRUNC('week', ("store"."purchase"."bought" + INTERVAL '1 day')) + INTERVAL '-1 day') ORDER BY 1 ASC;
SELECT DATE_TRUNC('quarter', "store"."purchase"."bought") AS "bought", AVG("store"."purchase"."amount") AS "avg" FROM "store"."purchase" GROUP BY 1 ORDER BY 1;
SELECT (CAST(extract(dow from "store"."purchase"."bought") AS integer) + 1) AS "bought", COUNT(*) AS "count" FROM "store"."purchase" GROUP BY (CAST(extract(dow from "store"."purchase"."bought") AS integer) + 1) ORDER BY 1 ASC;
SELECT CAST(extract(hour from "store"."purchase"."bought") AS integer) AS "bought", COUNT(*) AS "count" FROM "store"."purchase" GROUP BY 1 ORDER BY 1 ASC;
SELECT FLOOR(("store"."purchase"."amount" / 100.0)) * 100.0 AS "amount", COUNT(*) AS "count" FROM "store"."purchase" GROUP BY FLOOR(("store"."purchase"."amount" / 100.0)) * 100.0 ORDER BY 1 ASC;
SELECT "Category"."label" AS "Category__label", SUM("store"."purchase"."amount") AS "sum" FROM "store"."purchase" LEFT JOIN "store"."category" AS "Category" ON "store"."purchase"."category_id" = "Category"."id" GROUP BY "Category"."label" ORDER BY 1;
SELECT "source"."city" AS "city", COUNT(*) AS "count" FROM (SELECT "store"."customer"."id" AS "id", "store"."customer"."name" AS "name", "store"."customer"."city" AS "city", "store"."customer"."active" AS "active" FROM "store"."customer" WHERE "store"."customer"."active" = TRUE) AS "source" GROUP BY "source"."city" ORDER BY "source"."city" ASC;
SELECT "source"."city" AS "city", "source"."count" AS "count" FROM (SELECT "store"."customer"."city" AS "city", COUNT(*) AS "count" FROM "store"."customer" GROUP BY "store"."customer"."city") AS "source" WHERE "source"."count" > 100 LIMIT 2000;
SELECT COUNT(distinct "store"."purchase"."customer_id") AS "count" FROM "store"."purchase";
SELECT CAST(SUM(CASE WHEN "store"."customer"."active" = TRUE THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(COUNT(*), 0) AS "share" FROM "store"."customer";
SELECT PERCENTILE_CONT(0.5) within group (order by "store"."purchase"."amount") AS "median" FROM "store"."purchase";
SELECT STDDEV_POP("store"."purchase"."amount") AS "stddev" FROM "store"."purchase";
SELECT COUNT(*) AS "count" FROM "store"."customer" WHERE (LOWER("store"."customer"."city") LIKE '%ba%');
SELECT COUNT(*) AS "count" FROM "store"."customer" WHERE ("store"."customer"."rating" >= 2) AND ("store"."customer"."rating" <= 4) AND ("store"."customer"."city" <> 'York' OR "store"."customer"."city" IS NULL);
SELECT "store"."customer"."city" AS "city" FROM "store"."customer" GROUP BY "store"."customer"."city" ORDER BY "store"."customer"."city" ASC LIMIT 1000;
SELECT TRUE AS "_" FROM "store"."customer" WHERE 1 <> 1 LIMIT 0;
