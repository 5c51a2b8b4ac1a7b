-- A synthetic table: its rows belong to no real person, so it can be given away and queried for free.
\connect - carol

-- What is public knowledge about patients and their visits, and how many visits of one patient count.
SELECT discreet.create_dataset('patients', epsilon => 3, delta => 1e-6);
SELECT discreet.protect('clinic.patient', unit => 'id', dataset => 'patients');
SELECT discreet.describe_column('clinic.patient', 'age', 0, 110);
SELECT discreet.describe_column('clinic.patient', 'sex', categories => '{F,M}');
SELECT discreet.grant_budget('patients', 'carol', 3, 1e-6);

-- A table with the same columns, paid for once. Names are fillers; a diagnosis that is not declared stays out.
SELECT report -> 'epsilon' AS epsilon, report -> 'delta' AS delta, jsonb_array_length(report -> 'models' -> 0 -> 'measured') > 4 AS measured
FROM discreet.synthesize('clinic.patient', 'clinic.synthetic', epsilon => 2, delta => 1e-7,
    columns => '{id,name,age,sex,smoker}', rows => 5000) AS report;
SELECT * FROM clinic.synthetic ORDER BY id LIMIT 3;

-- Whatever is asked of it costs nothing more, and comes close.
SELECT 'patients' AS of, round(avg(age), -1) AS age, count(*) FILTER (WHERE smoker) * 10 / count(*) AS smokers_of_ten FROM clinic.patient
UNION ALL
SELECT 'synthetic', round(avg(age), -1), count(*) FILTER (WHERE smoker) * 10 / count(*) FROM clinic.synthetic;

-- Many such tables would average their noise out: a second one pays as well, or is refused.
SELECT discreet.synthesize('clinic.patient', 'clinic.again', epsilon => 2, delta => 1e-7, columns => '{id,age,sex,smoker}');
\echo SQLSTATE :SQLSTATE
SELECT dataset, role, epsilon_limit, epsilon_spent, epsilon_left FROM discreet.budget_status WHERE dataset = 'patients' ORDER BY role NULLS FIRST;
