-- Topic: joins of people, of what belongs to them, of public tables and of tables of the analyst.
SELECT count(*) FROM hr.person JOIN hr.visit ON visit.person_id = person.id;
SELECT count(*) FROM hr.person INNER JOIN hr.visit v ON v.person_id = person.id WHERE v.cost > 50;
SELECT p.dept, sum(v.cost) FROM hr.person p JOIN hr.visit v ON v.person_id = p.id GROUP BY p.dept;
SELECT p.dept, count(*) FROM hr.person p, hr.visit v WHERE v.person_id = p.id GROUP BY p.dept;
SELECT count(*) FROM hr.person p LEFT JOIN hr.visit v ON v.person_id = p.id;
SELECT count(v.id) FROM hr.person p LEFT JOIN hr.visit v ON v.person_id = p.id;
SELECT count(*) FROM hr.visit v RIGHT JOIN hr.person p ON v.person_id = p.id;
SELECT count(*) FROM hr.person p FULL JOIN hr.visit v ON v.person_id = p.id;
-- refused
SELECT count(*) FROM hr.person CROSS JOIN hr.visit;
-- refused
SELECT count(*) FROM hr.person p, hr.visit v;
-- refused
SELECT count(*) FROM hr.person NATURAL JOIN hr.visit;
SELECT count(*) FROM hr.person NATURAL JOIN hr.department;
SELECT d.city, count(*) FROM hr.person p JOIN hr.department d USING (dept) GROUP BY d.city;
SELECT city, avg(age) FROM hr.person NATURAL JOIN hr.department GROUP BY city ORDER BY city;
SELECT d.city, count(*) FROM hr.person p LEFT JOIN hr.department d ON d.dept = p.dept GROUP BY d.city;
-- refused
SELECT d.city, p.name FROM hr.person p JOIN hr.department d USING (dept);
SELECT count(*) FROM hr.person a JOIN hr.person b ON a.id = b.id;
-- refused
SELECT count(*) FROM hr.person a JOIN hr.person b ON a.salary < b.salary;
-- refused
SELECT count(*) FROM hr.person a JOIN hr.person b USING (dept);
-- refused
SELECT a.name, b.name FROM hr.person a JOIN hr.person b ON a.id = b.id + 1;
SELECT count(*) FROM hr.person p JOIN hr.visit v ON v.person_id = p.id JOIN hr.department d ON d.dept = p.dept;
SELECT d.city, count(*) FROM (hr.person p JOIN hr.visit v ON v.person_id = p.id) JOIN hr.department d ON d.dept = p.dept
GROUP BY d.city;
SELECT count(*) FROM hr.person p JOIN hr.visit v ON v.person_id = p.id AND v.cost > p.age;
-- refused
SELECT count(*) FROM hr.person p JOIN hr.visit v ON true;
-- refused
SELECT count(*) FROM hr.person p JOIN nora.label l ON l.dept = p.dept;
-- refused
SELECT l.label, p.name FROM nora.label l JOIN hr.person p USING (dept);
-- refused
SELECT l.label, count(p.*) FROM nora.label l LEFT JOIN hr.person p USING (dept) GROUP BY l.label;
SELECT l.label, s.n FROM nora.label l LEFT JOIN (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) s USING (dept);
SELECT l.label, s.n FROM (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) s FULL JOIN nora.label l USING (dept);
SELECT * FROM (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) a
JOIN (SELECT dept, avg(age) AS age FROM hr.person GROUP BY dept) b USING (dept) ORDER BY dept;
SELECT * FROM (SELECT count(*) FROM hr.person) p CROSS JOIN (SELECT count(*) FROM hr.visit) v;
-- refused
SELECT * FROM hr.department d, LATERAL (SELECT count(*) FROM hr.person p WHERE p.dept = d.dept) s;
-- refused
SELECT * FROM nora.label l, LATERAL (SELECT name FROM hr.person p WHERE p.dept = l.dept LIMIT 1) s;
-- refused
SELECT s.* FROM hr.person p, LATERAL (SELECT p.name) s;
-- refused
SELECT count(*) FROM hr.person p, generate_series(1, p.age) g;
SELECT count(*) FROM hr.person p JOIN (SELECT DISTINCT person_id FROM hr.visit) v ON v.person_id = p.id;
SELECT count(*) FROM hr.person p JOIN (SELECT person_id, sum(cost) AS cost FROM hr.visit GROUP BY person_id) v
ON v.person_id = p.id WHERE v.cost > 100;
SELECT count(*) FROM hr.person p WHERE p.id IN (SELECT person_id FROM hr.visit);
-- refused
SELECT (SELECT count(*) FROM hr.visit v WHERE v.person_id = p.id), p.name FROM hr.person p;
-- refused
SELECT j.* FROM (hr.person p JOIN hr.department d USING (dept)) AS j;
SELECT count(*) FROM hr.person p JOIN hr.visit v ON v.person_id = p.id JOIN hr.visit w ON w.person_id = p.id;
SELECT count(*) FROM hr.department;
SELECT d.dept, l.label FROM hr.department d JOIN nora.label l USING (dept);
