-- Topic: aggregates, with DISTINCT, FILTER, ORDER BY, WITHIN GROUP, in HAVING, over groups and grouping sets.
SELECT avg(age) FROM hr.person;
SELECT avg(age) AS mean FROM hr.person WHERE smoker;
SELECT avg(salary), sum(salary), min(salary), max(salary) FROM hr.person;
-- refused
SELECT sum(age), sum(height), sum(weight) FROM hr.person;
-- refused
SELECT max(name) FROM hr.person;
-- refused
SELECT min(id), max(id) FROM hr.person;
SELECT stddev(salary), stddev_pop(age), stddev_samp(height), variance(age), var_pop(age), var_samp(salary) FROM hr.person;
SELECT count(DISTINCT dept), count(DISTINCT age), count(DISTINCT id) FROM hr.person;
SELECT count(DISTINCT name) FROM hr.person;
SELECT sum(DISTINCT age) FROM hr.person;
SELECT count(name), count(salary), count(1), count(NULL) FROM hr.person;
-- refused
SELECT count(p) FROM hr.person p;
SELECT corr(age, height), regr_slope(age, salary), covar_pop(age, salary) FROM hr.person;
SELECT bool_and(smoker), bool_or(smoker), every(smoker) FROM hr.person;
-- refused
SELECT bit_and(age), bit_or(age), bit_xor(age) FROM hr.person;
-- refused
SELECT array_agg(name) FROM hr.person;
-- refused
SELECT array_agg(salary ORDER BY salary DESC) FROM hr.person;
-- refused
SELECT string_agg(name, ',' ORDER BY id) FROM hr.person;
-- refused
SELECT json_agg(p), jsonb_object_agg(id, name) FROM hr.person p;
-- refused
SELECT xmlagg(xmlelement(name n, name)) FROM hr.person;
-- refused
SELECT range_agg(daterange(born, born)) FROM hr.person;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FROM hr.person;
SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY age) FROM hr.person;
SELECT percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY salary) FROM hr.person;
-- refused
SELECT mode() WITHIN GROUP (ORDER BY name) FROM hr.person;
SELECT mode() WITHIN GROUP (ORDER BY dept) FROM hr.person;
-- refused
SELECT rank(1500) WITHIN GROUP (ORDER BY salary) FROM hr.person;
SELECT dept, count(*) FILTER (WHERE smoker), avg(age) FILTER (WHERE NOT smoker) FROM hr.person GROUP BY dept;
SELECT dept, count(*) FROM hr.person GROUP BY dept HAVING count(*) > 100;
SELECT dept FROM hr.person GROUP BY dept HAVING max(salary) > 1000000;
SELECT name FROM hr.person GROUP BY name HAVING count(*) = 1;
-- refused
SELECT id, count(*) FROM hr.person GROUP BY id;
-- refused
SELECT dept, name, count(*) FROM hr.person GROUP BY id;
SELECT dept, age / 10 * 10 AS decade, count(*) FROM hr.person GROUP BY 1, 2;
SELECT extract(decade FROM born) AS decade, count(*) FROM hr.person GROUP BY decade;
SELECT date_trunc('year', hired) AS year, count(*) FROM hr.person GROUP BY 1 ORDER BY 1;
SELECT width_bucket(age, 0, 100, 10), count(*) FROM hr.person GROUP BY 1;
SELECT dept, smoker, count(*) FROM hr.person GROUP BY ROLLUP (dept, smoker);
SELECT dept, smoker, count(*) FROM hr.person GROUP BY CUBE (dept, smoker);
SELECT dept, smoker, count(*) FROM hr.person GROUP BY GROUPING SETS ((dept), (smoker), ());
SELECT dept, grouping(dept), count(*) FROM hr.person GROUP BY ROLLUP (dept);
SELECT count(*) FROM hr.person GROUP BY ();
-- unread
SELECT dept FROM hr.person GROUP BY dept;
SELECT sum(salary) / count(*), round(avg(salary), 2), avg(age)::int FROM hr.person;
SELECT count(*) * 100.0 / (SELECT count(*) FROM hr.person) FROM hr.person WHERE smoker;
SELECT avg(CASE WHEN smoker THEN age ELSE NULL END) FROM hr.person;
SELECT sum(CASE WHEN name = 'can' || 'ary 7' THEN salary ELSE 0 END) FROM hr.person;
SELECT coalesce(avg(salary), 0), nullif(count(*), 0), greatest(count(*), 1) FROM hr.person;
SELECT dept, count(*), rank() OVER (ORDER BY count(*) DESC), sum(count(*)) OVER () FROM hr.person GROUP BY dept;
-- refused
SELECT name, sum(salary) OVER (ORDER BY id) FROM hr.person;
-- refused
SELECT first_value(name) OVER (ORDER BY salary DESC) FROM hr.person LIMIT 1;
SELECT avg(n) FROM (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) s;
SELECT max(n) FROM (SELECT person_id, count(*) AS n FROM hr.visit GROUP BY person_id) s;
SELECT count(*) FROM (SELECT person_id FROM hr.visit GROUP BY person_id HAVING count(*) > 1) s;
-- refused
SELECT nora.total(salary) FROM hr.person;
SELECT discreet.dp_count(*) FROM hr.person;
SELECT dept, discreet.dp_avg(salary, 0, 5000) FROM hr.person GROUP BY dept;
