-- Ann may not read the table. She writes plain SQL, and it is answered privately, at the price she wishes.
SET discreet.epsilon = 0.5;
SELECT dept, count(*), avg(salary) FROM hr.employee GROUP BY dept ORDER BY dept;

-- The price was paid before a row was read. A rollback does not bring it back.
BEGIN;
SET LOCAL discreet.epsilon = 0.3;
SELECT avg(salary) FILTER (WHERE gender = 'F') AS women, avg(salary) FILTER (WHERE gender = 'M') AS men FROM hr.employee;
ROLLBACK;
SELECT dataset, role, epsilon_limit, epsilon_spent, epsilon_left FROM discreet.budget_status ORDER BY role NULLS FIRST;

-- Who asks about one person is refused, and who asks for more than is left.
SELECT count(*) FROM hr.employee WHERE id = 17 AND salary > 100000;
SET discreet.epsilon = 5;
SELECT count(*) FROM hr.employee WHERE gender = 'F';
