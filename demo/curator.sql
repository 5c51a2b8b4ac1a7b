-- The curator protects a table: who the people are, and the total they may ever lose.
SELECT discreet.protect('hr.employee', unit => 'id', epsilon => 2);

-- What is known of its columns without looking: bounds and categories.
SELECT discreet.describe_column('hr.employee', 'salary', lower => 20000, upper => 200000);
SELECT discreet.describe_column('hr.employee', 'dept', categories =>
    '{Engineering,Executive,Finance,Human resources,Legal,Production,Research,Sales,Support}');

-- A team gets a part of that budget; whoever is a member of it can spend it.
SELECT discreet.grant_budget('hr.employee', 'hr_team', epsilon => 1);
