-- The budget: it runs down, nothing brings it back, and then it ends.
\connect - carol

-- Nobody in the table is to lose more than epsilon 1. Two may spend up to 0.9 of the same 1.
SELECT discreet.protect('hr.employee', unit => 'id', epsilon => 1),
       discreet.grant_budget('hr.employee', 'ann', epsilon => 0.9),
       discreet.grant_budget('hr.employee', 'eric', epsilon => 0.9);

\connect - ann
SET discreet.epsilon = 0.4;

-- How exact will it be at that price? To know is free.
SELECT discreet.explain('SELECT count(*) FROM hr.employee', 0.4) -> 'outputs' -> 0 ->> 'error_95' AS error;

-- The same question twice has one noise and one price: averaging does not help.
SELECT count(*) FROM hr.employee WHERE dept = 'Sales';
SELECT count(*) FROM hr.employee WHERE dept = 'Sales';

-- Look, then pretend that nothing was asked: what was rolled back has been paid.
DO $$ BEGIN
    PERFORM count(*) FROM hr.employee WHERE dept = 'Legal';
    RAISE 'never happened'; EXCEPTION WHEN OTHERS THEN NULL;
END $$;
SELECT role, epsilon_limit, epsilon_spent, epsilon_left FROM discreet.budget_status ORDER BY role NULLS FIRST;

-- The end.
SELECT count(*) FROM hr.employee WHERE dept = 'Finance';
\echo SQLSTATE :SQLSTATE

\connect - eric

-- Eric has spent nothing, but the people have: the budget is theirs.
SET discreet.epsilon = 0.4;
SELECT count(*) FROM hr.employee WHERE dept = 'Finance';
\echo SQLSTATE :SQLSTATE

\connect - otto

-- What was refused is written down, too.
SELECT role, code, regexp_replace(ltrim(question), '\s+', ' ', 'g') AS refused FROM discreet.refusals ORDER BY at;
