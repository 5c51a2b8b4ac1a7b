-- A first session: a curator protects a table, an analyst asks in plain SQL, an auditor looks on.
\connect - carol

-- The curator protects a table: the column that names the people, and the budget that all answers about them share.
SELECT discreet.protect('hr.employee', unit => 'id', epsilon => 2);

-- What is public knowledge about its columns: bounds and categories.
SELECT discreet.describe_column('hr.employee', 'salary', lower => 20000, upper => 200000);
SELECT discreet.describe_column('hr.employee', 'dept', categories =>
    '{Engineering,Executive,Finance,Human resources,Legal,Production,Research,Sales,Support}');

-- A team gets part of that budget, for its members to spend.
SELECT discreet.grant_budget('hr.employee', 'hr_team', epsilon => 1);

\connect - ann

-- Ann may not read the table. She writes plain SQL and says what she is willing to pay; the answers are noisy.
SET discreet.epsilon = 0.5;
SELECT dept, count(*), avg(salary) FROM hr.employee GROUP BY dept ORDER BY dept;

-- The price was paid before a row was read. A rollback does not bring it back.
BEGIN;
SET LOCAL discreet.epsilon = 0.3;
SELECT avg(salary) FILTER (WHERE gender = 'F') AS women, avg(salary) FILTER (WHERE gender = 'M') AS men FROM hr.employee;
ROLLBACK;
SELECT dataset, role, epsilon_limit, epsilon_spent, epsilon_left FROM discreet.budget_status ORDER BY role NULLS FIRST;

-- A question about one person is refused, and so is one that costs more than is left.
SELECT count(*) FROM hr.employee WHERE id = 17 AND salary > 100000;
SET discreet.epsilon = 5;
SELECT count(*) FROM hr.employee WHERE gender = 'F';

\connect - otto

-- The auditor sees who asked what, at what price, and whether the log was tampered with.
SELECT id, role, epsilon, left(regexp_replace(ltrim(question), '\s+', ' ', 'g'), 60) AS question FROM discreet.charges ORDER BY id;
SELECT dataset, charges, intact, finding FROM discreet.verify_log();
