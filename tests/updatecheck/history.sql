-- What a database of version 0.1.0 has lived through: tests/updatecheck/0.1.0.sql is a dump of it, made with that version.
SET client_min_messages = warning;
CREATE EXTENSION discreet CASCADE;
CREATE ROLE up_alice LOGIN IN ROLE discreet_analyst;
CREATE ROLE up_low LOGIN;
CREATE ROLE up_high LOGIN;
CREATE ROLE up_reader;
CREATE SCHEMA hr;

-- datasets, questions with noise, charges
CREATE TABLE hr.person (first int, id int PRIMARY KEY, dept text, age int, salary numeric);
ALTER TABLE hr.person DROP first;
INSERT INTO hr.person SELECT n, (ARRAY['a', 'b', 'c'])[1 + n % 3], 20 + n % 50, 1000 + n FROM generate_series(1, 200) n;
SELECT discreet.create_dataset('people', epsilon => 5, delta => 1e-6);
SELECT discreet.protect('hr.person', 'id', dataset => 'people');
SELECT discreet.describe_column('hr.person', 'age', 0, 100);
SELECT discreet.describe_column('hr.person', 'dept', categories => ARRAY['a', 'b', 'c']);
SELECT discreet.describe_column('hr.person', 'salary', visibility => 'hidden');
CREATE TABLE hr.visit (person int NOT NULL REFERENCES hr.person, day date, cost numeric);
INSERT INTO hr.visit SELECT n, '2026-01-01'::date + n % 100, n % 40 FROM generate_series(1, 200) n;
SELECT discreet.protect('hr.visit', 'person', dataset => 'people', max_groups => 2, max_rows => 3);
SELECT discreet.describe_column('hr.visit', 'cost', 0, 50);
CREATE TABLE hr.dept (name text PRIMARY KEY);
INSERT INTO hr.dept VALUES ('a'), ('b'), ('c');
SELECT discreet.protect('hr.dept', NULL, policy => 'public');
SELECT discreet.grant_budget('people', 'up_alice', 2, 1e-7);
GRANT USAGE ON SCHEMA hr TO up_alice, up_low, up_high;
GRANT CREATE ON SCHEMA hr TO up_alice;
CREATE VIEW hr.public_ages AS SELECT dept, count(*) FROM hr.person GROUP BY dept;
SELECT discreet.exempt_view('hr.public_ages');

-- a budget of each person
CREATE TABLE hr.vote (voter int PRIMARY KEY, yes boolean NOT NULL);
INSERT INTO hr.vote SELECT n, n % 2 = 0 FROM generate_series(1, 80) n;
SELECT discreet.create_dataset('votes', 50);
SELECT discreet.protect('hr.vote', 'voter', dataset => 'votes', policy => 'personal', unit_epsilon => 1);
SELECT discreet.grant_budget('votes', 'up_alice', 20);

-- exact answers under audit
CREATE TABLE hr.wage (id int PRIMARY KEY, wage int NOT NULL, bonus int NOT NULL);
INSERT INTO hr.wage SELECT n, 1000 + n, n FROM generate_series(1, 200) n;
SELECT discreet.create_dataset('wages', 1);
SELECT discreet.protect('hr.wage', 'id', dataset => 'wages', policy => 'audited');
SELECT discreet.describe_column('hr.wage', 'id', visibility => 'public');
SELECT discreet.audit_known('hr.wage', '17');
SELECT discreet.grant_budget('wages', 'up_alice', 1);

-- random responses, rules
CREATE TABLE hr.poll (id int PRIMARY KEY, smoker boolean);
SELECT discreet.rr_column('hr.poll', 'smoker', epsilon => 0.5);
INSERT INTO hr.poll SELECT n, true FROM generate_series(1, 60) n;
CREATE TABLE hr.grade (id int PRIMARY KEY, grade int, dept text);
SELECT discreet.add_rule('hr.grade', 'grade_range', 'NEW.grade BETWEEN 1 AND 6');
SELECT discreet.add_limit('hr.grade', 'few_a', 'dept = ''a''', 2);
INSERT INTO hr.grade VALUES (1, 5, 'a');

-- multilevel tables, with a reference, a rule and rows of three levels
SELECT discreet.mls_define(ARRAY['U', 'C', 'S'], ARRAY['crypto']);
SELECT discreet.mls_clear('up_low', 'U');
SELECT discreet.mls_clear('up_high', 'S:crypto');
CREATE TABLE hr.port (name text PRIMARY KEY, depth int CHECK (depth > 0));
INSERT INTO hr.port VALUES ('Colchis', 9), ('Troy', 7);
CREATE TABLE hr.ship (name text PRIMARY KEY, port text, cargo text, tons int);
INSERT INTO hr.ship VALUES ('Argo', 'Colchis', 'fleece', 40), ('Swan', 'Troy', 'wine', 20);
SELECT discreet.mls_table('hr.port', ARRAY['name']);
SELECT discreet.mls_table('hr.ship', ARRAY['name']);
SELECT discreet.mls_reference('hr.ship', ARRAY['port'], 'hr.port');
SELECT discreet.add_rule('hr.ship', 'some_tons', 'NEW.tons > 0');
GRANT SELECT, INSERT, UPDATE, DELETE ON hr.ship, hr.port TO up_low, up_high;

-- secrets, pseudonyms, a release
CREATE TABLE hr.patient (id int, age int, sex text, illness text);
INSERT INTO hr.patient SELECT n, 20 + n % 6, (ARRAY['f', 'm'])[1 + n % 2], (ARRAY['flu', 'cold', 'cough'])[1 + n % 3]
FROM generate_series(1, 60) n;
SELECT discreet.create_secret('names');
SELECT discreet.rotate_secret('names');
SELECT discreet.grant_secret('names', 'up_alice');
CREATE TABLE hr.pseudonyms AS SELECT discreet.pseudonym('Alice', 'names') AS now, discreet.pseudonym('Alice', 'names', 1) AS former;
SELECT discreet.anonymize('hr.patient', 'hr.patient_anonymous', '{"age": {"intervals": [10, 20, 40]}, "sex": "suppress"}', k => 5);

-- what an administrator adds
GRANT SELECT ON discreet.charges, discreet.protected_tables TO up_reader;
GRANT EXECUTE ON FUNCTION discreet.query(text, numeric, text[], boolean, numeric, boolean), discreet.verify_log() TO up_reader;
CREATE VIEW hr.my_charges AS SELECT dataset, id, epsilon FROM discreet.charges;

-- then, as its people: -- AS ROLE
-- AS up_alice
-- SELECT count(*) FROM hr.person;
-- SELECT dept, count(*), avg(age) FROM hr.person GROUP BY dept ORDER BY dept;
-- SELECT sum(cost) FROM hr.visit WHERE day < '2026-02-01';
-- SELECT count(*) FROM hr.vote WHERE yes;
-- SELECT sum(wage) FROM hr.wage WHERE id BETWEEN 100 AND 130;
-- SELECT discreet.create_view('hr.headcount', 'SELECT count(*) FROM hr.person');
-- SELECT * FROM hr.headcount;
-- AS up_high
-- SET discreet.level = 'S';
-- UPDATE hr.ship SET cargo = 'gold' WHERE name = 'Argo';
-- INSERT INTO hr.ship (name, port, cargo, tons) VALUES ('Ghost', 'Troy', 'spies', 5);
-- SELECT * FROM hr.ship ORDER BY name, tc;
-- AS up_low
-- SELECT * FROM hr.ship ORDER BY name, tc;
-- UPDATE hr.ship SET tons = 25 WHERE name = 'Swan';
-- SELECT * FROM hr.ship ORDER BY name, tc;
-- AS postgres
-- SELECT * FROM discreet.verify_log();
-- SELECT dataset, role, epsilon_spent, epsilon_left FROM discreet.budget_status ORDER BY 1,2;
