-- Topic: WITH queries: plain, chained, nested, recursive, materialized, used twice, and those that write.
WITH p AS (SELECT * FROM hr.person) SELECT count(*) FROM p;
-- refused
WITH p AS (SELECT * FROM hr.person) SELECT name FROM p;
WITH p AS (SELECT * FROM hr.person), q AS (SELECT * FROM p WHERE smoker) SELECT dept, count(*) FROM q GROUP BY dept;
WITH p (number, place) AS (SELECT id, dept FROM hr.person) SELECT place, count(*) FROM p GROUP BY place;
WITH p AS MATERIALIZED (SELECT * FROM hr.person) SELECT count(*) FROM p;
WITH p AS NOT MATERIALIZED (SELECT * FROM hr.person WHERE age > 30) SELECT avg(age) FROM p;
WITH s AS (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) SELECT * FROM s;
WITH s AS (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) SELECT sum(n), max(n) FROM s;
WITH s AS (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) SELECT a.n - b.n FROM s a JOIN s b USING (dept);
WITH s AS (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) SELECT label, n FROM s RIGHT JOIN nora.label USING (dept);
WITH s AS (SELECT count(*) AS n FROM hr.person), t AS (SELECT n * 2 AS m FROM s) SELECT * FROM s, t;
-- refused
WITH p AS (SELECT * FROM hr.person) SELECT a.name FROM p a JOIN p b ON a.id = b.id + 1;
-- refused
WITH p AS (SELECT * FROM hr.person) SELECT count(*) FROM p JOIN nora.label USING (dept);
WITH w AS (WITH p AS (SELECT * FROM hr.person) SELECT count(*) AS n FROM p) SELECT n FROM w;
WITH w AS (SELECT (WITH p AS (SELECT * FROM hr.person) SELECT count(*) FROM p) AS n) SELECT n FROM w;
WITH RECURSIVE t (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT sum(n) FROM t;
WITH RECURSIVE t (n) AS (SELECT count(*) FROM hr.person UNION ALL SELECT n / 2 FROM t WHERE n > 100) SELECT n FROM t;
-- refused
WITH RECURSIVE t AS (SELECT id, name FROM hr.person WHERE id = 1 UNION ALL
SELECT p.id, p.name FROM hr.person p JOIN t ON p.id = t.id + 1 WHERE p.id < 5) SELECT name FROM t;
WITH RECURSIVE t (n) AS (VALUES (1::bigint) UNION ALL SELECT n + (SELECT count(*) FROM hr.person) FROM t WHERE n < 5000)
SELECT max(n) > 0 FROM t;
-- refused
WITH RECURSIVE t (id) AS (SELECT 1 UNION SELECT id FROM hr.person) SELECT count(*) FROM t;
WITH RECURSIVE t (dept, n) AS (SELECT dept, count(*) FROM hr.person GROUP BY dept UNION ALL SELECT dept, n / 2 FROM t
WHERE n > 100) SEARCH DEPTH FIRST BY dept SET o CYCLE n SET again USING path SELECT dept, n FROM t ORDER BY o;
WITH gone AS (DELETE FROM nora.label RETURNING *) SELECT * FROM gone;
WITH gone AS (DELETE FROM nora.label RETURNING *) SELECT count(*) FROM hr.person;
-- refused
WITH made AS (INSERT INTO nora.label SELECT dept, name FROM hr.person RETURNING *) SELECT * FROM made;
WITH made AS (INSERT INTO nora.label SELECT dept, count(*)::text FROM hr.person GROUP BY dept RETURNING *) SELECT * FROM made;
WITH moved AS (UPDATE nora.label SET label = (SELECT count(*) FROM hr.person)::text RETURNING *) SELECT dept FROM moved;
-- refused
WITH moved AS (UPDATE nora.label SET label = p.name FROM hr.person p RETURNING *) SELECT label FROM moved;
-- refused
WITH gone AS (DELETE FROM hr.person RETURNING *) SELECT name FROM gone;
WITH p AS (SELECT count(*) AS n FROM hr.person) INSERT INTO nora.label SELECT 'n', n::text FROM p;
-- refused
WITH p AS (SELECT dept, name FROM hr.person) INSERT INTO nora.label SELECT dept, name FROM p;
WITH p AS (SELECT count(*) AS n FROM hr.person) UPDATE nora.label SET label = n::text FROM p;
WITH p AS (SELECT count(*) AS n FROM hr.person) DELETE FROM nora.label USING p WHERE n > 0;
-- unread
WITH p AS (SELECT dept FROM hr.person GROUP BY dept) MERGE INTO nora.label l USING p ON l.dept = p.dept
WHEN MATCHED THEN UPDATE SET label = 'known' WHEN NOT MATCHED THEN DO NOTHING;
-- unread
WITH unused AS (SELECT name FROM hr.person) SELECT 1;
-- unread
WITH unused AS (SELECT count(*) FROM hr.person) SELECT 1;
-- refused
WITH p AS (SELECT * FROM hr.person) SELECT (SELECT name FROM p WHERE id = 1000);
-- refused
WITH p AS (SELECT * FROM hr.person) SELECT label FROM nora.label WHERE label IN (SELECT name FROM p);
-- refused
WITH p AS (TABLE hr.person) TABLE p;
WITH person AS (SELECT 1 AS a) SELECT count(*) FROM person;
