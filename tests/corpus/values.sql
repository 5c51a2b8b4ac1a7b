-- Questions about values and aggregates, over the tables of tests/corpus/lab.py. Each is answered as PostgreSQL answers it:
-- tests/database/gate/test_zero_noise.py compares names, types, order and values. One statement ends with ; at the end of a line.

-- ===== differences of dates and timestamps, ages

SELECT avg(DATE '2025-01-01' - born) AS days FROM lab.person;
SELECT avg((DATE '2025-01-01' - born) / 365.25) FROM lab.person;
SELECT city, avg(DATE '2025-01-01' - born) FROM lab.person GROUP BY city ORDER BY city;
SELECT count(*) FROM lab.person WHERE joined::date - born > 20000;
SELECT sum(joined::date - born) FROM lab.person;
SELECT avg(ended - began) AS stay FROM lab.visit;
SELECT kind, avg(ended - began) AS stay FROM lab.visit GROUP BY kind ORDER BY kind;
SELECT sum(ended - began) FROM lab.visit;
SELECT kind, sum(ended - began) FROM lab.visit GROUP BY kind ORDER BY 1;
SELECT min(least(greatest(extract(epoch FROM ended - began), 0), 7200)) AS shortest,
max(least(greatest(extract(epoch FROM ended - began), 0), 7200)) AS longest FROM lab.visit;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY least(greatest(extract(epoch FROM ended - began), 0), 7200)) FROM lab.visit;
SELECT avg(extract(epoch FROM ended - began)) / 60 AS minutes FROM lab.visit;
SELECT kind, avg(extract(epoch FROM ended - began) / 3600) AS hours FROM lab.visit GROUP BY kind ORDER BY kind;
SELECT count(*) FROM lab.visit WHERE ended - began > interval '1 hour';
SELECT count(*) FROM lab.visit WHERE ended - began BETWEEN '30 minutes' AND '45 minutes';
SELECT count(*) FROM lab.visit WHERE ended - interval '1 hour' > began;
SELECT ended - began > '1 hour' AS long, count(*) FROM lab.visit GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(minute FROM ended - began) AS minute, count(*) FROM lab.visit GROUP BY 1 ORDER BY 1;
SELECT extract(hour FROM ended - began) AS hour, count(*) FROM lab.visit GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE age(DATE '2025-01-01', born) >= interval '65 years';
SELECT extract(year FROM age(DATE '2025-01-01', born)) AS years, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT avg(extract(year FROM age(DATE '2025-01-01', born))) FROM lab.person;
SELECT date_part('month', age(joined, born)) AS months, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT avg(age(TIMESTAMP '2025-01-01', joined)) > interval '1 year' AS long FROM lab.person;
SELECT avg(extract(day FROM TIMESTAMP '2025-01-01' - joined)) FROM lab.person;
SELECT floor((DATE '2025-01-01' - born) / 3652.5) * 10 AS decade, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT bucket(DATE '2025-01-01' - born, 5000) AS days, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT CASE WHEN age(DATE '2025-01-01', born) < interval '18 years' THEN 'minor' ELSE 'adult' END AS who, count(*)
FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;

-- ===== parts, bins and spellings of moments

SELECT extract(year FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(isoyear FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(quarter FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(month FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(week FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(day FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(doy FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(dow FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(isodow FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(decade FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(century FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(millennium FROM born) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(hour FROM joined) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT extract(minute FROM joined) AS part, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT avg(extract(second FROM joined)) FROM lab.person;
SELECT avg(extract(milliseconds FROM joined)) FROM lab.person;
SELECT avg(extract(microseconds FROM joined)) FROM lab.person;
SELECT avg(extract(epoch FROM joined)) FROM lab.person;
SELECT avg(extract(epoch FROM born)) FROM lab.person;
SELECT avg(extract(julian FROM born)) FROM lab.person;
SELECT avg(date_part('epoch', seen)) FROM lab.person;
SELECT count(*) FROM lab.person WHERE extract(epoch FROM seen) > 1600000000;
SELECT date_trunc('year', joined) AS since, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_trunc('quarter', joined) AS since, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', joined) AS since, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_trunc('week', joined) AS since, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_trunc('day', joined) AS since, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_trunc('decade', joined) AS since, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', seen, 'Asia/Tokyo') AS month, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_trunc('year', seen, 'America/New_York') AS year, avg(weight) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_bin('30 days', joined, '2015-01-01') AS bin, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT date_bin(interval '14 days', began, TIMESTAMP '2001-01-01') AS bin, sum(cost) FROM lab.visit GROUP BY 1 ORDER BY 1;
SELECT to_char(born, 'YYYY') AS year, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT to_char(joined, 'YYYY-MM') AS month, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT to_char(joined, 'IYYY-IW') AS week, count(*) FROM lab.person GROUP BY 1 ORDER BY 1 LIMIT 20;
SELECT to_char(joined, 'Dy') AS day, count(*) FROM lab.person GROUP BY 1 ORDER BY count(*) DESC, 1;
SELECT to_char(joined, 'FMMonth') AS month, avg(income) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT to_char(began, 'Q') AS quarter, sum(cost), count(*) FROM lab.visit GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE to_char(joined, 'MM') = '07';
SELECT date(joined) AS day, count(*) FROM lab.person GROUP BY 1 ORDER BY 1 LIMIT 30;
SELECT (seen AT TIME ZONE 'Asia/Tokyo')::date AS day, count(*) FROM lab.person GROUP BY 1 ORDER BY 1 LIMIT 30;
SELECT extract(hour FROM seen AT TIME ZONE 'America/New_York') AS hour, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE joined AT TIME ZONE 'Europe/Oslo' > TIMESTAMPTZ '2018-06-01 00:00+00';
SELECT count(*) FROM lab.person WHERE born < make_date(1950, 5, 17);
SELECT count(*) FROM lab.person WHERE make_date(1900 + age, 2, 28) < born;
SELECT count(*) FROM lab.person WHERE make_date(extract(year FROM born)::int, 1, 1) = born;
SELECT min(joined), max(seen) FROM lab.person;
SELECT count(*) FROM lab.person WHERE joined >= TIMESTAMP '2018-01-01' + interval '6 months';

-- ===== numbers

SELECT avg(ln(weight)) FROM lab.person;
SELECT city, avg(ln(weight)) FROM lab.person GROUP BY city ORDER BY city;
SELECT exp(avg(ln(weight))) AS geometric FROM lab.person;
SELECT avg(log(height)) FROM lab.person;
SELECT avg(log(2, weight)) FROM lab.person;
SELECT avg(log10(weight)) FROM lab.person;
SELECT avg(exp(age / 100.0)) FROM lab.person;
SELECT avg(power(height / 100, 2)) FROM lab.person;
SELECT avg((height / 100) ^ 2) FROM lab.person;
SELECT avg(weight / power((height / 100)::numeric, 2)) AS bmi FROM lab.person;
SELECT city, avg(weight / (height / 100) ^ 2) AS bmi FROM lab.person GROUP BY city ORDER BY city;
SELECT count(*) FROM lab.person WHERE weight / (height / 100) ^ 2 > 30;
SELECT avg(pow(age, 0.5)) FROM lab.person;
SELECT sum(power(age, 2)) FROM lab.person;
SELECT width_bucket(weight, 40, 120, 8) AS bin, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT width_bucket(height, 150, 200, 5) AS bin, avg(weight) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT width_bucket(income, 0, 100000, 10) AS decile, count(*), avg(age) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE width_bucket(age, 18, 88, 7) = 3;
SELECT bucket(income, 20000) AS band, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT round(avg(sqrt(weight)), 3) FROM lab.person;
SELECT sum(sign(score)) FROM lab.visit;
SELECT sum(abs(score)) FROM lab.visit;
SELECT avg(least(cost, 100)), avg(greatest(cost, 100)) FROM lab.visit;
SELECT avg(CASE WHEN kind = 'acute' THEN cost ELSE 0 END) FROM lab.visit;
SELECT mod(score, 3) AS rest, count(*) FROM lab.visit GROUP BY 1 ORDER BY 1;
SELECT sum(cost * score) FROM lab.visit;
SELECT avg(coalesce(nullif(score, 0), 5)) FROM lab.visit;

-- ===== texts

SELECT split_part(code, '-', 1) AS letter, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT split_part(code, '-', -1) AS number, count(*) FROM lab.person GROUP BY 1 ORDER BY 1 LIMIT 10;
SELECT left(code, 1) AS letter, avg(income) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT concat(city, '/', left(code, 1)) AS place, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT concat_ws(' ', upper(city), left(code, 1)) AS place, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT replace(code, '-0', ':') AS code, count(*) FROM lab.person GROUP BY 1 ORDER BY 1 LIMIT 15;
SELECT translate(left(code, 1), 'ABC', 'abc') AS letter, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE replace(code, '-', '') = 'A010';
SELECT regexp_replace(code, '[0-9]+$', '#') AS form, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT regexp_replace(code, '[0-9]', '9', 'g') AS form, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT substring(code FROM '^[A-C]') AS letter, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT regexp_substr(code, '[1-9][0-9]*$') AS number, count(*) FROM lab.person GROUP BY 1 ORDER BY 1 LIMIT 10;
SELECT regexp_count(name, '[0-9]') AS digits, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT avg(regexp_count(name, '[a-f]')) FROM lab.person;
SELECT count(*) FROM lab.person WHERE code ~ '^[AB]-00';
SELECT count(*) FROM lab.person WHERE code !~ '5';
SELECT count(*) FROM lab.person WHERE name ~* '^a.*f';
SELECT count(*) FROM lab.person WHERE code !~* '^a|^b';
SELECT count(*) FROM lab.person WHERE regexp_like(code, '-0[1-3]');
SELECT count(*) FROM lab.person WHERE regexp_like(city, '^K', 'i');
SELECT code ~ '0$' AS round, count(*) FROM lab.person WHERE code IS NOT NULL GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE starts_with(name, 'A');
SELECT lpad(left(code, 1), 3, '.') AS cell, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT rpad(city, 7, '_') AS cell, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT initcap(lower(city)) AS city, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT reverse(left(code, 1)) AS c, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT md5(city) AS hidden, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT octet_length(name) AS bytes, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT avg(length(name)), max(least(length(code), 50)) FROM lab.person;
SELECT upper(city) AS city, count(*) FROM lab.person GROUP BY upper(city) ORDER BY 1;
SELECT count(DISTINCT split_part(code, '-', 1)) FROM lab.person;

-- ===== values that hold others

SELECT info ->> 'plan' AS plan, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT info ->> 'plan' AS plan, avg(income) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE info ->> 'plan' = 'paid';
SELECT count(*) FROM lab.person WHERE info -> 'geo' ->> 1 = 'x';
SELECT info -> 'geo' ->> 0 AS zone, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT count(info ->> 'none') FROM lab.person;
SELECT count(DISTINCT info ->> 'seats') FROM lab.person;
SELECT count(*) FROM lab.person WHERE info ->> 'seats' IN ('1', '2');
SELECT count(*) FROM lab.person WHERE 'a' = ANY (tags);
SELECT count(*) FROM lab.person WHERE 'b' = ANY (tags) AND smoker;
SELECT count(*) FROM lab.person WHERE 'a' <> ALL (tags);
SELECT city, count(*) FROM lab.person WHERE 'b' = ANY (tags) GROUP BY city HAVING count(*) > 0 ORDER BY city;
SELECT 'a' = ANY (tags) IS TRUE AS tagged, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE city = ANY (ARRAY['Lima', 'Faro']);

-- ===== aggregates of two numbers

SELECT corr(weight, height) FROM lab.person;
SELECT covar_pop(weight, height) FROM lab.person;
SELECT covar_samp(weight, height) FROM lab.person;
SELECT regr_slope(weight, height) FROM lab.person;
SELECT regr_intercept(weight, height) FROM lab.person;
SELECT regr_r2(weight, height) FROM lab.person;
SELECT regr_avgx(weight, height) FROM lab.person;
SELECT regr_avgy(weight, height) FROM lab.person;
SELECT regr_count(weight, height) FROM lab.person;
SELECT regr_sxx(weight, height) FROM lab.person;
SELECT regr_sxy(weight, height) FROM lab.person;
SELECT regr_syy(weight, height) FROM lab.person;
SELECT city, corr(income, age) FROM lab.person GROUP BY city ORDER BY city;
SELECT regr_slope(cost, score) AS slope, regr_intercept(cost, score) AS base FROM lab.visit;
SELECT kind, regr_count(cost, score), corr(cost, score) FROM lab.visit GROUP BY kind ORDER BY kind;
SELECT corr(weight, height) FILTER (WHERE smoker) AS smokers, corr(weight, height) AS everybody FROM lab.person;
SELECT round(regr_r2(age, income)::numeric, 6) FROM lab.person;
SELECT regr_slope(income, extract(year FROM born)) FROM lab.person;
SELECT corr(CASE WHEN smoker THEN 1 ELSE 0 END, age) FROM lab.person;
SELECT covar_samp(length(name), age), regr_count(nullif(age, 20), height) FROM lab.person;

-- ===== decisions, modes, distinct sums, arrays

SELECT bool_or(smoker), bool_and(smoker) FROM lab.person;
SELECT every(age >= 18) AS adults FROM lab.person;
SELECT city, bool_or(age > 80) AS old, bool_and(age < 80) AS young FROM lab.person GROUP BY city ORDER BY city;
SELECT bool_or(cost > 10) FILTER (WHERE kind = 'acute') FROM lab.visit;
SELECT bool_and(age > 0) AND bool_or(age > 50) AS both FROM lab.person;
SELECT mode() WITHIN GROUP (ORDER BY kind) FROM lab.visit WHERE score < 0 AND cost > 400;
SELECT mode() WITHIN GROUP (ORDER BY smoker) FROM lab.person;
SELECT city, mode() WITHIN GROUP (ORDER BY smoker) AS usual FROM lab.person GROUP BY city ORDER BY city;
SELECT mode() WITHIN GROUP (ORDER BY CASE WHEN age < 30 THEN 'young' WHEN age < 70 THEN 'middle' ELSE 'old' END) FROM lab.person;
SELECT mode() WITHIN GROUP (ORDER BY extract(quarter FROM born)) FROM lab.person WHERE extract(quarter FROM born) > 3;
SELECT mode() WITHIN GROUP (ORDER BY city) FROM lab.person WHERE city <> 'Faro' AND (city = 'Lima' OR smoker);
SELECT kind, mode() WITHIN GROUP (ORDER BY score > 5) FROM lab.visit GROUP BY kind ORDER BY kind;
SELECT sum(DISTINCT age) FROM lab.person;
SELECT city, sum(DISTINCT age) FROM lab.person GROUP BY city ORDER BY city;
SELECT sum(DISTINCT score), sum(score) FROM lab.visit;
SELECT kind, sum(DISTINCT cost) FROM lab.visit GROUP BY kind ORDER BY kind;
SELECT sum(DISTINCT age % 7) FROM lab.person;
SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY age) FROM lab.person;
SELECT percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY age) AS ends FROM lab.person;
SELECT city, percentile_cont('{0.25,0.75}'::float8[]) WITHIN GROUP (ORDER BY weight) FROM lab.person GROUP BY city ORDER BY city;
SELECT count(DISTINCT (city, smoker)) FROM lab.person;
SELECT count(DISTINCT (kind, score)) FROM lab.visit;
SELECT count(DISTINCT (left(code, 1), smoker)) FROM lab.person;
SELECT kind, count(DISTINCT (score, score > 0)) FROM lab.visit GROUP BY kind ORDER BY kind;

-- ===== around the answer

SELECT city, smoker, GROUPING(city), GROUPING(city, smoker) AS g, count(*) FROM lab.person
GROUP BY ROLLUP (city, smoker) ORDER BY 3, 4, 1, 2;
SELECT city, smoker, count(*) FROM lab.person GROUP BY CUBE (city, smoker) ORDER BY GROUPING(city), GROUPING(smoker), 1, 2;
SELECT city, GROUPING(city) = 1 AS total, avg(age) FROM lab.person GROUP BY GROUPING SETS ((city), ()) ORDER BY 2, 1;
SELECT city, count(*), sum(count(*)) OVER () AS all_people FROM lab.person GROUP BY city ORDER BY city;
SELECT city, rank() OVER (ORDER BY avg(age) DESC) AS place FROM lab.person GROUP BY city ORDER BY 2, 1;
SELECT extract(month FROM joined) AS month, count(*), lag(count(*)) OVER (ORDER BY extract(month FROM joined)) AS before
FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT city, count(*) * 100.0 / 2000 AS share FROM lab.person GROUP BY city HAVING avg(age) > 10 ORDER BY share DESC, city;
SELECT max(n), min(n) FROM (SELECT city, count(*) AS n FROM lab.person GROUP BY city) t;

-- ===== elements of a value of the row

SELECT tag, count(*) FROM lab.person, unnest(tags) AS tag GROUP BY tag ORDER BY tag;
SELECT tag, count(*), avg(age) FROM lab.person p CROSS JOIN LATERAL unnest(p.tags) AS t(tag) WHERE p.city = 'Lima' GROUP BY tag ORDER BY 1;
SELECT count(*) FROM lab.person, unnest(tags) AS tag WHERE tag = 'b';
SELECT count(*), count(tag) FROM lab.person LEFT JOIN LATERAL unnest(tags) AS tag ON true;
SELECT count(DISTINCT tag) FROM lab.person, unnest(tags) AS tag;
SELECT upper(tag) AS tag, count(DISTINCT id) FROM lab.person, unnest(tags) AS tag GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lab.person p WHERE EXISTS (SELECT FROM unnest(p.tags) AS t(tag) WHERE tag LIKE 'a%');
SELECT count(*) FROM lab.person p WHERE 'b' IN (SELECT tag FROM unnest(p.tags) AS t(tag));
SELECT avg((SELECT least(count(*), 4) FROM unnest(p.tags) AS t(tag) WHERE tag <> 'a')) FROM lab.person p;
SELECT value, count(*) FROM lab.person, jsonb_array_elements_text(info -> 'geo') GROUP BY value ORDER BY value;
SELECT e.value ->> 0 AS first, count(*) FROM lab.person, jsonb_array_elements(info -> 'geo') AS e GROUP BY 1 ORDER BY 1;
SELECT k, count(*) FROM lab.person, jsonb_object_keys(info) AS k GROUP BY k ORDER BY k;
SELECT avg(n) FROM (SELECT id, count(tag) AS n FROM lab.person LEFT JOIN LATERAL unnest(tags) AS tag ON true GROUP BY id) p;
SELECT tag, city, count(*) FROM (SELECT id, city, tag FROM lab.person, unnest(tags) AS tag WHERE tag IS NOT NULL) p
GROUP BY tag, city ORDER BY 1, 2;
SELECT count(*) FROM lab.person p JOIN lab.visit v ON v.person_id = p.id, unnest(p.tags) AS tag WHERE tag = 'a' AND v.cost < 0;

-- ===== frames of a range within a person

SELECT recent, count(*) FROM (SELECT count(*) OVER (PARTITION BY person_id ORDER BY began
    RANGE BETWEEN interval '60 days' PRECEDING AND CURRENT ROW) AS recent FROM lab.visit) v GROUP BY recent HAVING count(*) > 0 ORDER BY recent;
SELECT avg(least(spent, 3000)) FROM (SELECT sum(cost) OVER (PARTITION BY person_id ORDER BY began
    RANGE BETWEEN '1 month' PRECEDING AND '100 days' FOLLOWING) AS spent FROM lab.visit) v;
SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY person_id ORDER BY score
    RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS near FROM lab.visit) v WHERE near >= 2;
SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY person_id ORDER BY cost DESC
    RANGE BETWEEN 7.5 PRECEDING AND CURRENT ROW) AS near FROM lab.visit) v WHERE near >= 2;

-- ===== elements of arrays, paths of JSON, choices of intervals, places of patterns

SELECT (regexp_match(code, '^([A-E])-'))[1] AS letter, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT (regexp_match(code, '[0-9]'))[1] AS digit, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE (regexp_match(code, '([a-e])-0', 'i'))[1] = 'B';
SELECT (regexp_split_to_array(code, '-'))[1] AS letter, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT avg(least(greatest((regexp_split_to_array(code, '-'))[2]::int, 0), 99)) FROM lab.person;
SELECT count(*) FROM lab.person WHERE (regexp_split_to_array(code, '-'))[3] IS NULL;
SELECT regexp_instr(code, '[0-9]') AS place, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT avg(regexp_instr(code, '[1-9]')) FROM lab.person;
SELECT count(*) FROM lab.person WHERE regexp_instr(code, '7$') > 0;
SELECT info #>> '{geo,1}' AS geo, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE info #>> '{plan}' = 'paid';
SELECT avg(least(greatest((info #>> '{seats}')::int, 0), 9)) FROM lab.person;
SELECT avg(least(greatest((info #> '{geo}' ->> 0)::int, 0), 9)) FROM lab.person;
SELECT count(*) FROM lab.person WHERE info #>> ARRAY['geo', '0'] = '2';
SELECT avg(least(ended - began, interval '1 hour')) AS stay FROM lab.visit;
SELECT kind, sum(greatest(ended - began, '30 minutes')) FROM lab.visit GROUP BY kind ORDER BY kind;
SELECT count(*) FROM lab.visit WHERE least(ended - began, interval '1 hour') = interval '1 hour';
SELECT avg(extract(epoch FROM least(ended - began, interval '45 minutes')) / 60) FROM lab.visit;
SELECT extract(timezone FROM seen) AS zone, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT extract(timezone_hour FROM seen) + extract(hour FROM seen) AS hour, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lab.person WHERE ltrim(code, 'AB') <> code;
SELECT rtrim(city, 'aeo') AS stem, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT trim(BOTH 'ABCDE-' FROM code) < '035' AS low, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT overlay(city PLACING '*' FROM 2 FOR 10) AS begin, count(*) FROM lab.person GROUP BY 1 ORDER BY 1;
SELECT least(cardinality(tags), 5) AS tags, count(*) FROM lab.person GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT avg(least(greatest(cardinality(tags), 0), 3)) FROM lab.person;
SELECT count(*) FROM lab.person WHERE array_length(tags, 1) = 2;
SELECT avg(cbrt(weight)) FROM lab.person;
SELECT city, avg(cbrt(height - 100)) FROM lab.person GROUP BY city ORDER BY city;

-- ===== elements in the select list of a subquery

SELECT tag, count(*) FROM (SELECT id, unnest(tags) AS tag FROM lab.person) x GROUP BY tag ORDER BY tag;
SELECT tag, count(DISTINCT id) FROM (SELECT id, city, unnest(tags) AS tag FROM lab.person WHERE age > 30) x
WHERE city = 'Faro' GROUP BY tag ORDER BY tag;
SELECT geo, count(*) FROM (SELECT id, jsonb_array_elements_text(info -> 'geo') AS geo FROM lab.person) x GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM (SELECT id, jsonb_object_keys(info) AS key FROM lab.person) x WHERE key = 'plan';
SELECT count(*) FROM (SELECT DISTINCT id, unnest(tags) AS tag FROM lab.person) x;

-- ===== windows over rows with columns that have no order

SELECT count(*) FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY joined) AS n FROM lab.person) x WHERE n = 1;
SELECT city, count(*) FROM (SELECT DISTINCT ON (id) * FROM lab.person ORDER BY id, joined) x GROUP BY city ORDER BY city;
