-- A tracker: harmless sums give away the salary of one person. Then the same is tried against each policy.
\connect - trudy

-- Without discreet: a function that gives sums, but none over fewer than 10 people.
-- Trudy wants the salary of Alice Adams, employee 7.
SELECT hr.total('id = 7');

-- Alice or the men; Alice or all others; all people. Each is a sum over hundreds, and yet:
SELECT hr.total($$ id = 7 OR gender = 'M' $$)
     + hr.total($$ id = 7 OR gender IS DISTINCT FROM 'M' $$)
     - hr.total('true') AS salary_of_alice;

\connect - carol

-- Three copies of the same people, one for each policy. This is for the show only: each copy has a budget of its own,
-- and discreet cannot know that they are about the same people. In earnest, protect a table once.
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

-- Policy noisy: a column that names a person cannot be compared with anything.
SELECT sum(salary) FROM hr.noisy WHERE id = 7 OR gender = 'M';
\echo SQLSTATE :SQLSTATE

-- Trudy selects Alice by her birthday, which is unique, and spends the whole budget on it. The noise is too large.
SET discreet.epsilon = 1;
SELECT sum(salary) FILTER (WHERE dob = '1984-05-17' OR gender = 'M')
     + sum(salary) FILTER (WHERE dob = '1984-05-17' OR gender IS DISTINCT FROM 'M')
     - sum(salary) AS salary_of_alice FROM hr.noisy;

-- Policy audited: sums are exact, but the one that would give Alice away is denied.
SELECT sum(salary) FROM hr.audited;
SELECT sum(salary) FROM hr.audited WHERE id = 7 OR gender = 'M';
SELECT sum(salary) FROM hr.audited WHERE id = 7 OR gender IS DISTINCT FROM 'M';
\echo SQLSTATE :SQLSTATE

-- Policy personal: refused as above; and the question by birthday is paid by Alice alone, who has no more than 1.
SELECT sum(salary) FROM hr.personal WHERE id = 7 OR gender = 'M';
\echo SQLSTATE :SQLSTATE
SELECT sum(salary) AS salary_of_alice FROM hr.personal WHERE dob = '1984-05-17';
