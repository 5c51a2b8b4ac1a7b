-- A tracker: harmless sums tell the salary of one person. Then the same against each policy.
\connect - trudy

-- A plain table behind a function that gives sums, but none of fewer than 10 people.
-- Trudy wants the salary of Alice Adams, employee 7.
SELECT hr.total('id = 7');

-- Alice or the men; Alice or all others; everybody. Each is the sum of hundreds.
SELECT hr.total($$ id = 7 OR gender = 'M' $$)
     + hr.total($$ id = 7 OR gender IS DISTINCT FROM 'M' $$)
     - hr.total('true') AS salary_of_alice;

\connect - carol

-- The same people under each policy of discreet.
SELECT discreet.protect('hr.noisy', unit => 'id', epsilon => 1),
       discreet.describe_column('hr.noisy', 'salary', 20000, 200000),
       discreet.grant_budget('hr.noisy', 'trudy', 1);
SELECT discreet.protect('hr.audited', unit => 'id', policy => 'audited', min_group => 10),
       discreet.describe_column('hr.audited', 'id', visibility => 'public'),
       discreet.describe_column('hr.audited', 'gender', visibility => 'public'),
       discreet.grant_budget('hr.audited', 'trudy', 1);
SELECT discreet.protect('hr.personal', unit => 'id', epsilon => 1, policy => 'personal', unit_epsilon => 1),
       discreet.describe_column('hr.personal', 'salary', 20000, 200000),
       discreet.grant_budget('hr.personal', 'trudy', 1);

\connect - trudy

-- Noisy: columns that name a person are compared with nothing.
SELECT sum(salary) FROM hr.noisy WHERE id = 7 OR gender = 'M';
\echo SQLSTATE :SQLSTATE

-- Alice by her birthday, which nobody shares; Trudy spends all there is at once.
SET discreet.epsilon = 1;
SELECT sum(salary) FILTER (WHERE dob = '1984-05-17' OR gender = 'M')
     + sum(salary) FILTER (WHERE dob = '1984-05-17' OR gender IS DISTINCT FROM 'M')
     - sum(salary) AS salary_of_alice FROM hr.noisy;

-- Audited: sums are exact, but the one that would give Alice away is denied.
SELECT sum(salary) FROM hr.audited;
SELECT sum(salary) FROM hr.audited WHERE id = 7 OR gender = 'M';
SELECT sum(salary) FROM hr.audited WHERE id = 7 OR gender IS DISTINCT FROM 'M';
\echo SQLSTATE :SQLSTATE

-- Personal: refused as above; and her birthday costs Alice no more than she has.
SELECT sum(salary) FROM hr.personal WHERE id = 7 OR gender = 'M';
\echo SQLSTATE :SQLSTATE
SELECT sum(salary) AS salary_of_alice FROM hr.personal WHERE dob = '1984-05-17';
