-- Real SQL aggregates, with noise that hides each single person. Each one costs 0.1 of the budget.
SELECT dept, discreet.dp_count(*), discreet.dp_avg(salary, 20000, 200000)
FROM hr.employee GROUP BY dept ORDER BY dept;

-- The price was paid before a row was read. A rollback does not bring it back.
BEGIN;
SELECT discreet.dp_median(salary, 20000, 200000, 0.3) FROM hr.employee WHERE gender = 'F';
ROLLBACK;
SELECT dataset, role, epsilon_limit, epsilon_spent, epsilon_left FROM discreet.budget_status ORDER BY role NULLS FIRST;

-- Who asks for more than is left gets no answer.
SELECT discreet.dp_count(name, 5) FROM hr.employee WHERE name = 'Alice Adams';
