-- Personal budgets: people pay only for questions that select them.
\connect - carol

-- The same patients twice: with one budget of 1 for all of them, and with a budget of 1 for each.
SELECT discreet.protect('clinic.one_budget', unit => 'id', epsilon => 1),
       discreet.protect('clinic.own_budgets', unit => 'id', epsilon => 1, policy => 'personal', unit_epsilon => 1);
SELECT discreet.describe_column('clinic.one_budget', 'age', 0, 120),
       discreet.describe_column('clinic.own_budgets', 'age', 0, 120),
       discreet.grant_budget('clinic.one_budget', 'ann', 1), discreet.grant_budget('clinic.own_budgets', 'ann', 50);

\connect - ann

-- Five questions at epsilon 0.5, each about another age. One budget is gone after two of them.
SELECT age, discreet.query_json(
    format('SELECT count(*) FROM clinic.one_budget WHERE age BETWEEN %s AND %s', age, age + 19), 0.5) ->> 'count' AS people
FROM generate_series(0, 80, 20) AS age;
\echo SQLSTATE :SQLSTATE

-- With own budgets everybody is selected once, and has 0.5 left.
SELECT age, discreet.query_json(
    format('SELECT count(*) FROM clinic.own_budgets WHERE age BETWEEN %s AND %s', age, age + 19), 0.5) ->> 'count' AS people
FROM generate_series(0, 80, 20) AS age;

-- The youngest are asked about twice more. They can pay once; then they are left out, and nobody is told.
SELECT discreet.query_json('SELECT count(*) FROM clinic.own_budgets WHERE age < 20', 0.5, fresh => true) ->> 'count' AS youngest
FROM generate_series(1, 2);

\connect - carol
-- Only the owner of the table may know who has how much left.
SELECT * FROM discreet.personal_status('clinic.own_budgets') WHERE people > 0;
