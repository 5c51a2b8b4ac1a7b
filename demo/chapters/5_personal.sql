-- Personal budgets: people pay only for questions that select them.
\connect - carol

-- The same patients twice: with one budget of 1 for all of them, and with a budget of 1 for each. Two copies are for
-- the show only: each has its own budget, so in earnest the people would lose both.
SELECT discreet.protect('clinic.one_budget', unit => 'id', epsilon => 1),
       discreet.protect('clinic.own_budgets', unit => 'id', epsilon => 1, policy => 'personal', unit_epsilon => 1);
SELECT discreet.describe_column('clinic.one_budget', 'age', 0, 120),
       discreet.describe_column('clinic.own_budgets', 'age', 0, 120),
       discreet.grant_budget('clinic.one_budget', 'ann', 1), discreet.grant_budget('clinic.own_budgets', 'ann', 50);

\connect - ann

-- Five questions at epsilon 0.5, each about another age group. The common budget is gone after two of them.
SELECT age, discreet.query_json(
    format('SELECT count(*) FROM clinic.one_budget WHERE age BETWEEN %s AND %s', age, age + 19), 0.5) ->> 'count' AS people
FROM generate_series(0, 80, 20) AS age;
\echo SQLSTATE :SQLSTATE
SELECT role, epsilon_limit, epsilon_spent, epsilon_left FROM discreet.budget_status
WHERE dataset = 'clinic.one_budget' ORDER BY role NULLS FIRST;

-- With personal budgets all five are answered: each person is selected once, pays 0.5, and has 0.5 left.
SELECT age, discreet.query_json(
    format('SELECT count(*) FROM clinic.own_budgets WHERE age BETWEEN %s AND %s', age, age + 19), 0.5) ->> 'count' AS people
FROM generate_series(0, 80, 20) AS age;

-- Two more questions about the youngest. They can pay for one; then they are left out, and the asker is not told.
SELECT discreet.query_json('SELECT count(*) FROM clinic.own_budgets WHERE age < 20', 0.5, fresh => true) ->> 'count' AS youngest
FROM generate_series(1, 2);

\connect - carol
-- Only the owner of the table sees how much people have left.
SELECT * FROM discreet.personal_status('clinic.own_budgets') WHERE people > 0;
