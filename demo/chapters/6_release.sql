-- A release: rows are published without names, so that no person can be found among them.
\connect - carol

-- A public list of voters has age, sex and zip code, too. How many of the patients can be found with it?
SELECT discreet.k_anonymity('clinic.patient', '{age,sex,zip}') AS k;
SELECT count(*) AS voters, count(*) FILTER (WHERE rows = 1) AS found
FROM clinic.voter v, LATERAL (SELECT count(*) AS rows FROM clinic.patient p
                              WHERE p.age = v.age AND p.sex = v.sex AND p.zip = v.zip) AS fitting;

-- Published so that each person looks like at least 9 others, with at least 3 different diagnoses among them.
SELECT report -> 'k' AS k, report -> 'l' AS l, report -> 'published' AS published, report -> 'suppressed' AS left_out
FROM discreet.anonymize('clinic.patient', 'clinic.release',
    '{"age": {"intervals": [5, 10, 20]}, "sex": "suppress", "zip": {"digits": 5}}',
    k => 10, l => 3, sensitive => 'diagnosis') AS report;
SELECT * FROM clinic.release LIMIT 3;
SELECT discreet.k_anonymity('clinic.release', '{age,sex,zip}') AS k;
SELECT count(*) AS voters, count(*) FILTER (WHERE rows = 1) AS found
FROM clinic.voter v, LATERAL (SELECT count(*) AS rows FROM clinic.release r
                              WHERE v.age / 20 = split_part(r.age, '-', 1)::int / 20 AND r.sex = v.sex AND r.zip = v.zip) AS fitting;

-- A second release of the same patients is refused where the two together would give people away.
SELECT discreet.anonymize('clinic.patient', 'clinic.second',
    '{"age": {"ranges": [[18, 66]]}, "sex": "suppress", "zip": {"digits": 5}}', k => 10, sensitive => 'diagnosis');
\echo SQLSTATE :SQLSTATE
