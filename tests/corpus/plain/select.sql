-- Topic: select lists, conditions, order, limits, VALUES, rows as a whole.
-- refused
SELECT * FROM hr.person WHERE age < 20 ORDER BY name;
-- refused
SELECT p.name, p.salary FROM hr.person p WHERE p.dept = 'dept 1' ORDER BY salary DESC;
-- refused
SELECT salary, name FROM hr.person WHERE id > 1990 ORDER BY 1 DESC, 2;
-- refused
SELECT name FROM hr.person ORDER BY name USING >;
-- refused
SELECT p.* FROM hr.person* p WHERE name = 'can' || 'ary 7';
-- unread
SELECT DISTINCT dept FROM hr.person;
-- refused
SELECT DISTINCT ON (dept) dept, name FROM hr.person ORDER BY dept, salary DESC;
SELECT ALL count(*) FROM hr.person;
SELECT count(*) AS everybody FROM hr.person;
SELECT count(*) AS "select", count(*) AS "Größe" FROM hr.person;
SELECT dept, count(*) FROM hr.person GROUP BY dept ORDER BY dept DESC;
SELECT dept, count(*) FROM hr.person GROUP BY dept ORDER BY count(*) DESC, dept NULLS FIRST LIMIT 2 OFFSET 1;
SELECT dept, count(*) FROM hr.person GROUP BY dept ORDER BY 2 FETCH FIRST 1 ROW WITH TIES;
SELECT 1 AS one, count(*) FROM hr.person;
-- refused
SELECT 'a constant' FROM hr.person;
-- refused
SELECT NULL FROM hr.person;
-- refused
SELECT FROM hr.person;
-- refused
SELECT (p).name FROM hr.person p;
-- refused
SELECT p FROM hr.person p WHERE p.id = 1000;
-- refused
SELECT p::text FROM hr.person p;
-- refused
SELECT row_to_json(p) FROM hr.person p LIMIT 1;
-- refused
SELECT ROW(name, salary) FROM hr.person;
-- refused
SELECT ctid, xmin FROM hr.person;
-- refused
SELECT tableoid::regclass, count(*) FROM hr.person GROUP BY 1;
-- refused
SELECT name || '!' FROM hr.person WHERE salary > 1000000;
-- refused
SELECT CASE WHEN salary > 1000000 THEN 1 / 0 END FROM hr.person;
-- refused
SELECT count(*) FROM hr.person WHERE 1 / (id - 1000) > 0;
SELECT count(*) FROM hr.person WHERE salary IS NULL;
SELECT count(*) FROM hr.person WHERE (dept, smoker) = ('dept 1', true);
SELECT count(*) FROM hr.person WHERE age BETWEEN SYMMETRIC 40 AND 30;
SELECT count(*) FROM hr.person WHERE dept LIKE 'dept%' AND dept NOT LIKE '%9';
SELECT count(*) FROM hr.person WHERE dept ~ '^dept';
SELECT count(*) FROM hr.person WHERE age = ANY ('{20, 30, 40}');
SELECT count(*) FROM hr.person WHERE NOT smoker OR age > 60;
-- unread
SELECT count(*) FROM hr.person WHERE false;
-- unread
SELECT * FROM hr.person WHERE false;
-- unread
SELECT * FROM hr.person LIMIT 0;
-- refused
TABLE hr.person;
TABLE hr.department;
VALUES ((SELECT count(*) FROM hr.person), 'x'), (0, 'y');
SELECT * FROM (VALUES ('dept 1', 'one'), ('dept 2', 'two')) v(dept, label);
SELECT v.label, s.n FROM (VALUES ('dept 1', 'one'), ('dept 2', 'two')) v(dept, label)
JOIN (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) s USING (dept);
-- refused
SELECT count(*) FROM hr.person TABLESAMPLE SYSTEM (100) REPEATABLE (1);
-- refused
SELECT name FROM hr.person FOR UPDATE SKIP LOCKED;
-- refused
SELECT unnest(ARRAY[name]) FROM hr.person;
SELECT generate_series(1, 3), count(*) FROM hr.person;
-- refused
SELECT count(*) FROM hr.person WHERE pg_sleep(0) IS NOT NULL;
-- refused
SELECT * FROM hr.person, pg_class;
SELECT current_date, count(*) FROM hr.person;
SELECT nextval('nora.numbers'), count(*) FROM hr.person;
