-- The budget: it runs down, nothing brings it back, and then no more is answered.
\connect - carol

-- All answers together may cost the people epsilon 1. Ann and Eric may each spend up to 0.9 of that same 1.
SELECT discreet.protect('hr.employee', unit => 'id', epsilon => 1),
       discreet.grant_budget('hr.employee', 'ann', epsilon => 0.9),
       discreet.grant_budget('hr.employee', 'eric', epsilon => 0.9);

\connect - ann
SET discreet.epsilon = 0.4;

-- How exact will an answer be at that price? Asking this is free.
SELECT discreet.explain('SELECT count(*) FROM hr.employee', 0.4) -> 'outputs' -> 0 ->> 'error_95' AS error;

-- The same question again gets the same answer, free of charge: repeating it does not average the noise away.
SELECT count(*) FROM hr.employee WHERE dept = 'Sales';
SELECT count(*) FROM hr.employee WHERE dept = 'Sales';

-- Ask, then undo it: the work is rolled back, the payment is not.
DO $$ BEGIN
    PERFORM count(*) FROM hr.employee WHERE dept = 'Legal';
    RAISE 'never happened'; EXCEPTION WHEN OTHERS THEN NULL;
END $$;
SELECT role, epsilon_limit, epsilon_spent, epsilon_left FROM discreet.budget_status ORDER BY role NULLS FIRST;

-- Now 0.4 is more than is left.
SELECT count(*) FROM hr.employee WHERE dept = 'Finance';
\echo SQLSTATE :SQLSTATE

\connect - eric

-- Eric has spent nothing, and is refused all the same: the budget belongs to the people, not to him.
SET discreet.epsilon = 0.4;
SELECT count(*) FROM hr.employee WHERE dept = 'Finance';
\echo SQLSTATE :SQLSTATE

\connect - otto

-- Refusals are logged, too.
SELECT role, code, regexp_replace(ltrim(question), '\s+', ' ', 'g') AS refused FROM discreet.refusals ORDER BY at;
