-- The curator protects a table: who the people are, and the total they may ever lose.
SELECT discreet.protect('hr.employee', unit => 'id', epsilon => 2);

-- A team gets a part of that budget; whoever is a member of it can spend it.
SELECT discreet.grant_budget('hr.employee', 'hr_team', epsilon => 1);
