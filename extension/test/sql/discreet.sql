-- An installation works: the extension is made, its own tests pass, and a question is answered and paid.
SET client_min_messages = warning;
CREATE EXTENSION discreet CASCADE;
SELECT item, finding FROM discreet.selftest() WHERE NOT passed;
CREATE TABLE person (id int PRIMARY KEY, age int);
INSERT INTO person SELECT n, 20 + n % 50 FROM generate_series(1, 1000) n;
SELECT discreet.protect('person', 'id', epsilon => 10);
SELECT discreet.grant_budget('public.person', current_user::regrole, 5);
SET discreet.quiet = on;
SELECT count BETWEEN 500 AND 1500 AS near FROM discreet.query('SELECT count(*) FROM person') AS t(count bigint);
SELECT epsilon_spent FROM discreet.budget_status WHERE role IS NULL;
SELECT intact FROM discreet.verify_log();
