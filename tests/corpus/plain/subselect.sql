-- Topic: subqueries in FROM, in expressions, correlated and not, with IN, ANY, ALL, EXISTS and rows.
SELECT count(*) FROM (SELECT * FROM hr.person) p;
SELECT count(*) FROM (SELECT id, age FROM hr.person WHERE age > 30) p;
SELECT count(*), avg(a) FROM (SELECT age AS a FROM hr.person) p WHERE a > 30;
SELECT d, count(*) FROM (SELECT upper(dept) AS d FROM hr.person) p GROUP BY d;
-- refused
SELECT name FROM (SELECT * FROM hr.person) p;
-- refused
SELECT * FROM (SELECT name, salary FROM hr.person ORDER BY salary DESC LIMIT 1) p;
-- refused
SELECT count(*) FROM (SELECT DISTINCT dept, smoker FROM hr.person) p;
-- refused
SELECT count(*) FROM (SELECT * FROM hr.person ORDER BY salary LIMIT 10) p;
-- refused
SELECT count(*) FROM (SELECT * FROM hr.person OFFSET 0) p;
SELECT count(*) FROM (SELECT * FROM hr.person UNION SELECT * FROM hr.person) p;
SELECT count(*) FROM (SELECT id FROM hr.person UNION ALL SELECT person_id FROM hr.visit) p;
SELECT (SELECT count(*) FROM hr.person);
-- refused
SELECT (SELECT name FROM hr.person WHERE id = 1000);
SELECT (SELECT max(salary) FROM hr.person), (SELECT min(age) FROM hr.person);
SELECT 1 + (SELECT count(*) FROM hr.person WHERE dept = 'dept 1') * 2;
-- refused
SELECT ARRAY(SELECT name FROM hr.person ORDER BY id);
SELECT ARRAY(SELECT count(*) FROM hr.person);
-- refused
SELECT EXISTS (SELECT FROM hr.person WHERE name = 'can' || 'ary 7');
SELECT EXISTS (SELECT count(*) FROM hr.person WHERE name = 'can' || 'ary 7');
-- refused
SELECT 'can' || 'ary 7' IN (SELECT name FROM hr.person);
-- refused
SELECT 2000 > ALL (SELECT salary FROM hr.person);
SELECT 500 < ANY (SELECT count(*) FROM hr.person GROUP BY dept);
SELECT ('dept 1', 500) IN (SELECT dept, count(*) FROM hr.person GROUP BY dept);
-- refused
SELECT ROW('dept 1', 20) = (SELECT dept, age FROM hr.person WHERE id = 1);
-- refused
SELECT label FROM nora.label WHERE dept IN (SELECT dept FROM hr.person);
SELECT label FROM nora.label WHERE dept IN (SELECT dept FROM hr.person GROUP BY dept HAVING count(*) > 10);
-- refused
SELECT label FROM nora.label l WHERE EXISTS (SELECT FROM hr.person p WHERE p.dept = l.dept AND p.salary > 1000000);
-- refused
SELECT label FROM nora.label l WHERE NOT EXISTS (SELECT FROM hr.person p WHERE p.name = l.label);
-- refused
SELECT label, (SELECT count(*) FROM hr.person p WHERE p.dept = l.dept) FROM nora.label l;
SELECT label FROM nora.label ORDER BY (SELECT count(*) FROM hr.person);
SELECT label FROM nora.label LIMIT (SELECT count(*) - 1999 FROM hr.person);
SELECT count(*) FROM nora.label WHERE length(label) < (SELECT avg(age) FROM hr.person);
SELECT count(*) FROM hr.person WHERE salary > (SELECT avg(salary) FROM hr.person);
SELECT count(*) FROM hr.person WHERE dept = (SELECT dept FROM hr.department WHERE city = 'Boston' LIMIT 1);
SELECT count(*) FROM hr.person WHERE dept IN (SELECT dept FROM hr.department WHERE city = 'Boston');
-- refused
SELECT count(*) FROM hr.person WHERE dept NOT IN (SELECT dept FROM nora.label);
SELECT count(*) FROM hr.person p WHERE EXISTS (SELECT FROM hr.visit v WHERE v.person_id = p.id);
SELECT count(*) FROM hr.person p WHERE (SELECT count(*) FROM hr.visit v WHERE v.person_id = p.id) > 1;
-- refused
SELECT count(*) FROM hr.person p WHERE p.salary = (SELECT max(q.salary) FROM hr.person q WHERE q.dept = p.dept);
-- refused
SELECT name FROM hr.person p WHERE p.salary >= ALL (SELECT salary FROM hr.person);
SELECT CASE WHEN (SELECT count(*) FROM hr.person) > 10 THEN 'many' ELSE 'few' END;
-- refused
SELECT coalesce((SELECT name FROM hr.person WHERE id = 1000), 'nobody');
SELECT x.n FROM (SELECT (SELECT count(*) FROM hr.person) AS n) x WHERE x.n > 0;
SELECT * FROM (SELECT count(*) FROM hr.person) a (n) WHERE n > (SELECT 10);
SELECT * FROM (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) s WHERE n > (SELECT avg(age) FROM hr.person);
SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT count(*) FROM hr.person) a) b) c;
SELECT count(*) FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM hr.person) a) b) c;
SELECT (SELECT (SELECT (SELECT count(*) FROM hr.person)));
-- refused
SELECT count(*) FROM hr.person WHERE (SELECT true);
SELECT count(*) FROM hr.person UNION ALL SELECT count(*) FROM hr.visit;
-- refused
SELECT name FROM hr.person EXCEPT SELECT label FROM nora.label;
-- refused
SELECT dept FROM nora.label INTERSECT SELECT dept FROM hr.person;
SELECT dept, count(*) FROM hr.person GROUP BY dept UNION SELECT label, 0 FROM nora.label ORDER BY 1;
