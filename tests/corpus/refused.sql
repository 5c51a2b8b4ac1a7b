-- Questions that must be refused, each after a line with its SQLSTATE and words that the message contains.

-- ===== trackers: a question must not single out a person by what names people

-- direct
-- DP002: column id
SELECT salary FROM hr.employee WHERE id = 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = 7;
-- DP002: column id
SELECT avg(salary) FROM hr.employee WHERE id = 7;
-- DP002: column id
SELECT sum(salary) FROM hr.employee WHERE 7 = id;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE gender = 'F' AND dept = 'Research' AND id = 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = 7 AND (gender = 'M' OR gender = 'F' OR gender = 'X');
-- DP002: column patient_id
SELECT sum(cost) FROM clinic.visit WHERE patient_id = 13;
-- DP002: column id
SELECT sum(cost) FROM clinic.visit WHERE id = 100;
-- DP002: column id
SELECT count(*) FROM clinic.patient WHERE id = 13 AND diagnosis = 'Kidney failure';
-- difference: everybody, and everybody but one
-- DP002: column id
SELECT sum(salary) FROM hr.employee WHERE id <> 7;
-- DP002: column id
SELECT sum(salary) FROM hr.employee WHERE id != 7;
-- DP002: column id
SELECT sum(salary) FROM hr.employee WHERE NOT id = 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE dept = 'Research' AND NOT (id = 7);
-- DP002: column id
SELECT sum(salary) FROM hr.employee WHERE id IS DISTINCT FROM 7;
-- DP002: column id
SELECT sum(salary) FROM hr.employee WHERE id < 7 OR id > 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id NOT IN (7);
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id NOT BETWEEN 7 AND 7;
-- individual tracker: key = v OR c, key = v OR NOT c, all
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = 7 OR gender = 'F';
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = 7 OR NOT gender = 'F';
-- DP002: column id
SELECT sum(salary) FROM hr.employee WHERE (id = 7 AND salary > 90000) OR dept = 'Legal';
-- DP002: column id
SELECT sum(salary) FROM hr.employee WHERE (id = 7 AND salary > 90000) OR NOT dept = 'Legal';
-- general and union trackers
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE (gender = 'F' OR id = 7) AND NOT (gender = 'F' AND id <> 7);
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = 7 OR dept = 'Sales' OR dept = 'Support';
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id IN (7, 8, 9) OR gender = 'M';
-- counting a value out
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE dob > '1990-01-01' OR (id = 7 AND zip = '02138');
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE dob > '1990-01-01' OR (id = 7 AND salary BETWEEN 90000 AND 100000);
-- De Morgan, double negation
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE NOT (id <> 7 OR gender <> 'F');
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE NOT NOT id = 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE NOT (NOT (id = 7) AND NOT (gender = 'F'));
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE (id <> 7) IS NOT TRUE;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE (id = 7) = true;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE (id = 7) IS TRUE;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE (id = 7)::int = 1;
-- BETWEEN, IN, row comparison, = ANY
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id BETWEEN 7 AND 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id BETWEEN 1 AND 100;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id IN (7);
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE 7 IN (id, 0);
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE (id, gender) = (7, 'F');
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = ANY (ARRAY[7]);
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = ANY ('{7}');
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id >= 7 AND id <= 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id > 6 AND id < 8;
-- arithmetic identities and casts
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id + 0 = 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id * 1 - 7 = 0;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE -id = -7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE abs(id - 7) < 1;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id % 1000000 = 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id::text = '7';
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id::numeric = 7.0;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE CAST(id AS text) LIKE '7';
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE NULLIF(id, 7) IS NULL;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE COALESCE(id, 0) = 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE GREATEST(id, 7) = 7 AND LEAST(id, 7) = 7;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = id AND id * id = 49;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE salary = id;
-- params: ["7"]
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id = $1;
-- CASE and FILTER
-- DP002: column id
SELECT sum(CASE WHEN id = 7 THEN salary ELSE 0 END) FROM hr.employee;
-- DP002: column id
SELECT sum(CASE id WHEN 7 THEN salary END) FROM hr.employee;
-- DP002: column id
SELECT count(*) FILTER (WHERE id = 7) FROM hr.employee;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE CASE WHEN id = 7 THEN true ELSE gender = 'F' END;
-- DP002: column id
SELECT avg(salary * (id = 7)::int) FROM hr.employee;
-- DP002: column id
SELECT count(DISTINCT CASE WHEN id = 7 THEN dept END) FROM hr.employee;
-- DP002: column id
SELECT sum(salary) FILTER (WHERE id <> 7), sum(salary) FROM hr.employee;
-- through subqueries, WITH, joins
-- DP002: column id
SELECT count(*) FROM (SELECT id, salary FROM hr.employee) e WHERE id = 7;
-- DP002: column who
SELECT count(*) FROM (SELECT id AS who FROM hr.employee) e WHERE who = 7;
-- DP002: column who
WITH a AS (SELECT id AS who FROM hr.employee), b AS (SELECT who FROM a) SELECT count(*) FROM b WHERE who = 7;
-- DP002: column id
WITH one AS (SELECT * FROM hr.employee WHERE id = 7) SELECT avg(salary) FROM one;
-- DP002: column id
SELECT count(*) FROM hr.employee a JOIN hr.employee b ON a.id = b.id AND a.id = 7;
-- DP002: column id
SELECT count(*) FROM clinic.patient p JOIN clinic.visit v ON p.id = v.patient_id WHERE p.id = 13;
-- DP002: column patient_id
SELECT sum(v.cost) FROM clinic.patient p JOIN clinic.visit v ON p.id = v.patient_id AND v.patient_id IN (13, 14);
-- DP002: column id
SELECT count(*) FROM clinic.patient p LEFT JOIN clinic.visit v ON p.id = v.patient_id AND p.id = 13;
-- DP002: column id
SELECT count(*) FROM hr.employee e JOIN zip_area z ON e.id = z.population;
-- DP002: column id
SELECT count(*) FROM hr.employee e, ward_floor w WHERE e.id = w.beds;
-- DP002: column x
SELECT count(*) FROM (SELECT id AS x FROM clinic.patient UNION ALL SELECT age FROM clinic.patient) u WHERE x = 13;
-- DP002: column x
SELECT count(*) FROM (SELECT id AS x FROM clinic.patient UNION ALL SELECT age FROM clinic.patient) p
JOIN clinic.visit v ON p.x = v.patient_id;
-- DP002: using column x
SELECT count(*) FROM (SELECT id AS x FROM clinic.patient UNION ALL SELECT patient_id FROM clinic.visit) u WHERE x = 13;
-- DP002: column v with other values
SELECT sum(age) FROM clinic.patient WHERE id IN (SELECT u.id FROM (SELECT id, id AS v FROM clinic.patient
UNION ALL SELECT id, 13 FROM clinic.patient) u GROUP BY u.id HAVING count(DISTINCT v) = 1);
-- people as groups, and what names them inside a number
-- DP002: column id
SELECT id, count(*) FROM hr.employee GROUP BY id;
-- DP002: column patient_id
SELECT patient_id, sum(cost) FROM clinic.visit GROUP BY patient_id;
-- DP002: column id
SELECT id % 100, avg(salary) FROM hr.employee GROUP BY 1;
-- DP002: column id
SELECT sum(id) FROM hr.employee;
-- DP002: column id
SELECT max(id) FROM hr.employee;
-- DP002: column id
SELECT sum(salary * id) FROM hr.employee;
-- DP002: column id
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM hr.employee;
-- DP002: column id
SELECT bucket(id, 1), count(*) FROM hr.employee GROUP BY 1;
-- DP002: column id
SELECT count(DISTINCT id + 0) FROM hr.employee;

-- ===== the same by columns that are unique together: (dob, zip, gender) and (region, roll_no) of voters

-- direct
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE dob = '1950-05-01' AND zip = '2001' AND gender = 'F';
-- DP002: columns dob, gender, zip
SELECT sum(donation) FROM census.voter WHERE voted AND gender = 'F' AND (zip = '2001' AND '1950-05-01' = dob);
-- DP002: columns region, roll_no
SELECT avg(donation) FROM census.voter WHERE region = 'Coast' AND roll_no = 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no = 7 AND (gender = 'F' OR gender = 'M');
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region IN ('Coast', 'Lakes') AND roll_no IN (7, 8, 9);

-- difference: all, and all but one (Schlörer)
-- DP002: columns region, roll_no
SELECT sum(donation) FROM census.voter WHERE NOT (region = 'Coast' AND roll_no = 7);
-- DP002: columns region, roll_no
SELECT sum(donation) FROM census.voter WHERE region <> 'Coast' OR roll_no <> 7;
-- DP002: columns region, roll_no
SELECT sum(donation) FROM census.voter WHERE region = 'Coast' AND roll_no <> 7;
-- DP002: columns region, roll_no
SELECT sum(donation) FROM census.voter WHERE region = 'Coast' AND NOT roll_no IN (7);
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE dob = '1950-05-01' AND zip = '2001' AND gender <> 'M';
-- DP002: columns region, roll_no
SELECT sum(donation) FROM census.voter WHERE region = 'Coast' AND (roll_no < 7 OR roll_no > 7);

-- individual tracker: key = v OR c, key = v OR NOT c (Denning, Denning and Schwartz 1979)
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (region = 'Coast' AND roll_no = 7) OR voted;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (region = 'Coast' AND roll_no = 7) OR NOT voted;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE voted AND NOT (region = 'Coast' AND roll_no = 7);
-- DP002: columns dob, gender, zip
SELECT sum(donation) FROM census.voter WHERE (dob = '1950-05-01' AND zip = '2001' AND gender = 'F' AND voted)
OR party = 'Left';

-- tracker by inclusion and exclusion: count(a AND b) = count(a) + count(b) - count(a OR b)
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' OR roll_no = 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (region = 'Coast') <> (roll_no = 7);
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE dob = '1950-05-01' OR (zip = '2001' AND gender = 'F');

-- general, double and union trackers
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE party = 'Left' OR (region = 'Coast' AND roll_no = 7) OR party = 'Right';
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (party = 'Left' AND voted) OR (party = 'Right'
AND NOT (region = 'Coast' AND roll_no = 7));
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (voted OR region = 'Coast') AND (voted OR roll_no = 7);

-- counting a value out
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE registered > '2015-01-01' OR (dob = '1950-05-01' AND zip = '2001'
AND gender = 'F' AND donation > 5);

-- De Morgan, double negation, tests of truth and NULL
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE NOT (region <> 'Coast' OR roll_no <> 7);
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE NOT NOT (region = 'Coast' AND NOT NOT roll_no = 7);
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (region <> 'Coast') IS NOT TRUE AND (roll_no = 7) IS TRUE;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (region = 'Coast' AND roll_no = 7 AND NULL) IS NULL;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE NULLIF(roll_no, 7) IS NULL AND region = 'Coast';
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND 1 / (roll_no - 7) IS NULL;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND sqrt(roll_no - 7) IS NOT NULL
AND sqrt(7 - roll_no) IS NOT NULL;

-- BETWEEN, ranges of one value, IN, = ANY, rows, LIKE
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region BETWEEN 'Coast' AND 'Coast' AND roll_no BETWEEN 7 AND 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no >= 7 AND roll_no <= 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no > 6 AND roll_no < 8;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no BETWEEN 6.5 AND 7.5;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND NOT (roll_no < 7 OR roll_no + 1 > 8);
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND abs(roll_no - 7) < 1;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE zip = '2001' AND gender = 'F' AND dob > '1950-04-30' AND dob < '1950-05-02';
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE zip >= '2001' AND zip <= '2001' AND gender = 'F' AND dob = '1950-05-01';
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = ANY (ARRAY['Coast']) AND roll_no = ANY (ARRAY[7, 8]);
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE 7 IN (roll_no, 0) AND region = 'Coast';
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (region, roll_no) = ('Coast', 7);
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (region, roll_no, voted) = ('Coast', 7, true);
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region IS NOT DISTINCT FROM 'Coast' AND roll_no IS DISTINCT FROM 7;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE zip LIKE '2001' AND gender ILIKE 'f' AND dob = '1950-05-01';
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE dob = '1950-05-01' AND zip = '2001' AND gender LIKE 'F%';
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE dob = '1950-05-01' AND zip = '2001' AND gender < 'G';

-- arithmetic identities, casts, functions that keep the value
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no + 0 = 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND 2 * (3 - roll_no) + 8 = 0;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND -roll_no >= -7 AND roll_no >= 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no * roll_no = 49;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no % 100000 = 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no / 10 = 0 AND roll_no % 10 = 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND round(roll_no::numeric) = 7.0;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region::text = 'Coast' AND roll_no::text = '7';
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND NOT (roll_no - 7)::bool;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND sign(roll_no - 7) = 0;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region || '/' || roll_no::text = 'Coast/7';
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE lower(region) = 'coast' AND COALESCE(roll_no, 0) = 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE left(region, 2) = 'Co' AND GREATEST(roll_no, 7) = 7 AND LEAST(roll_no, 7) = 7;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE upper(trim(zip)) = '2001' AND gender = 'F' AND dob - DATE '1950-05-01' = 0;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE zip = '2001' AND gender = 'F' AND dob::timestamp = '1950-05-01 00:00:00';
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE zip = '2001' AND gender = 'F' AND date_trunc('day', dob) = '1950-05-01';
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE zip = '2001' AND gender = 'F' AND extract(year FROM dob) = 1950
AND extract(month FROM dob) = 5 AND extract(day FROM dob) = 1;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE zip = '2001' AND gender = 'F' AND date_trunc('month', dob) = '1950-05-01'
AND date_part('day', dob) = 1;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE zip = '2001' AND gender = 'F' AND extract(year FROM dob)::int = 1950
AND extract(doy FROM dob) = 121;

-- equality by chains
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE dob = registered AND registered = '1950-05-01' AND zip = '2001'
AND gender = 'F';
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter a JOIN census.person p ON a.id = p.id AND a.roll_no = p.age
WHERE p.age = 7 AND a.region = 'Coast';

-- CASE, FILTER, GROUP BY, conditions inside numbers
-- DP002: columns region, roll_no
SELECT count(*) FILTER (WHERE roll_no = 7) FROM census.voter WHERE region = 'Coast';
-- DP002: columns region, roll_no
SELECT count(*), sum(donation) FILTER (WHERE region = 'Coast' AND roll_no <> 7) FROM census.voter;
-- DP002: columns region, roll_no
SELECT sum(CASE WHEN region = 'Coast' AND roll_no = 7 THEN donation ELSE 0 END) FROM census.voter;
-- DP002: columns region, roll_no
SELECT sum(CASE roll_no WHEN 7 THEN CASE region WHEN 'Coast' THEN donation END END) FROM census.voter;
-- DP002: columns region, roll_no
SELECT sum(donation * (region = 'Coast')::int * (roll_no = 7)::int) FROM census.voter;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE (region = 'Coast')::int + (roll_no = 7)::int = 2;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE CASE WHEN region = 'Coast' THEN roll_no = 7 ELSE voted END;
-- DP002: columns region, roll_no
SELECT count(DISTINCT CASE WHEN region = 'Coast' THEN party END) FILTER (WHERE roll_no = 7) FROM census.voter;
-- DP002: columns region, roll_no
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN roll_no = 7 THEN donation END) FROM census.voter
WHERE region = 'Coast';
-- DP002: columns region, roll_no
SELECT region, sum(donation) FROM census.voter WHERE roll_no = 7 GROUP BY region;
-- DP002: columns region, roll_no
SELECT region, roll_no, count(*) FROM census.voter GROUP BY region, roll_no;
-- DP002: columns region, roll_no
SELECT region = 'Coast' AS a, roll_no = 7 AS b, sum(donation) FROM census.voter GROUP BY 1, 2;
-- DP002: columns region, roll_no
SELECT region, count(*) FROM census.voter GROUP BY CUBE (region, roll_no);
-- DP002: columns dob, gender, zip
SELECT dob, zip, gender, count(*) FROM census.voter GROUP BY dob, zip, gender;
-- DP002: columns dob, gender, zip
SELECT dob::text || zip AS who, count(*) FROM census.voter WHERE gender = 'F' GROUP BY 1;

-- through subqueries, WITH, UNION ALL
-- DP002: columns region, roll_no
SELECT sum(pay) FROM (SELECT region AS a, roll_no + 1 AS b, donation AS pay FROM census.voter) v
WHERE a = 'Coast' AND b = 8;
-- DP002: columns region, roll_no
WITH c AS (SELECT * FROM census.voter WHERE region = 'Coast'), d AS (SELECT roll_no AS n FROM c)
SELECT count(*) FROM d WHERE n = 7;
-- DP002: columns region, roll_no
SELECT count(*) FROM (SELECT region = 'Coast' AS a, roll_no = 7 AS b FROM census.voter) v WHERE a AND b;
-- DP002: columns region, roll_no
SELECT count(*) FROM (SELECT * FROM (SELECT (roll_no = 7)::int AS hit, region FROM census.voter) x) y
WHERE hit = 1 AND region = 'Coast';
-- DP002: columns region, roll_no
SELECT count(*) FROM (SELECT roll_no FROM census.voter WHERE region = 'Coast'
UNION ALL SELECT roll_no FROM census.voter WHERE region = 'Lakes') u WHERE roll_no = 7;
-- by rows of a person that are told apart: one has the column, the next a value of the question
-- DP002: columns region, roll_no
SELECT sum(donation) FROM census.voter WHERE id IN (SELECT u.id FROM (SELECT id, roll_no AS v FROM census.voter
UNION ALL SELECT id, 7 FROM census.voter) u GROUP BY u.id HAVING count(DISTINCT v) = 1) AND region = 'Coast';
-- DP002: columns region, roll_no
SELECT sum(r) FROM (SELECT u.id, dense_rank() OVER (PARTITION BY u.id ORDER BY v) AS r
FROM (SELECT id, roll_no AS v FROM census.voter WHERE region = 'Coast'
UNION ALL SELECT id, 7 FROM census.voter WHERE region = 'Coast') u) x;
-- DP002: columns region, roll_no
SELECT count(*) FROM (SELECT v.id, variance(CASE WHEN k = 1 THEN roll_no ELSE 7 END) AS spread
FROM census.voter v CROSS JOIN generate_series(1, 10) AS k WHERE region = 'Coast' GROUP BY v.id) x WHERE spread = 0;
-- a range of both columns, and of a sum of copies; rounding to steps that no two whole numbers share
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region || roll_no::text > 'Coast7' AND region || roll_no::text < 'Coast8';
-- DP002: columns region, roll_no
SELECT count(*) FROM (SELECT v.id, sum(roll_no) AS r FROM census.voter v CROSS JOIN generate_series(1, 10) AS k
WHERE region = 'Coast' GROUP BY v.id) x WHERE r > 69 AND r < 71;
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND round(roll_no * 1.5) = 11;

-- through joins; a public list with the whole key says of each row whom it means (Sweeney 1997)
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter v JOIN club c ON c.dob = v.dob AND c.zip = v.zip AND c.gender = v.gender
WHERE c.member = 'Adams';
-- DP002: columns dob, gender, zip
SELECT sum(v.donation) FROM census.voter v JOIN club c USING (dob, zip, gender);
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter v LEFT JOIN club c ON c.dob = v.dob AND c.zip = v.zip AND c.gender = v.gender
WHERE c.member IS NULL;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter v JOIN club c ON c.dob = v.dob AND c.zip = v.zip WHERE v.gender = 'F';
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter v, club c WHERE v.dob >= c.dob AND c.dob >= v.dob AND v.zip = c.zip
AND v.gender = c.gender;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter v JOIN (SELECT a.dob, b.zip, b.gender
FROM club a JOIN club b ON a.member = b.member) c
ON c.dob = v.dob AND c.zip = v.zip AND c.gender = v.gender;
-- DP002: columns dob, gender, zip
SELECT count(*) FROM census.voter v JOIN calendar c ON c.day = v.dob JOIN zip_area z ON z.zip = v.zip
WHERE c.day = '1950-05-01' AND z.zip = '2001' AND v.gender = 'F';
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter a JOIN census.voter b ON a.id = b.id WHERE a.region = 'Coast' AND b.roll_no = 7;
-- DP002: columns region, roll_no
SELECT count(b.donation) FROM census.voter a LEFT JOIN census.voter b ON a.id = b.id AND b.region = 'Coast'
AND b.roll_no = 7;
-- params: ["Coast", "7"]
-- DP002: columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = $1 AND roll_no = $2;

-- ===== one row, not a statistic

-- DP001: *
SELECT * FROM hr.employee;
-- DP001: GROUP BY
SELECT name, salary FROM hr.employee;
-- DP001: GROUP BY
SELECT salary FROM hr.employee ORDER BY salary DESC LIMIT 1;
-- DP002: singles out
SELECT DISTINCT id FROM hr.employee;
-- DP001: uses itself
SELECT count(*) FROM (SELECT salary AS "discreet unit" FROM hr.employee) t;
-- DP001: GROUP BY
SELECT DISTINCT ON (dept) dept, salary FROM hr.employee ORDER BY dept, salary DESC;
-- DP001: GROUP BY
SELECT dept, salary, count(*) FROM hr.employee GROUP BY dept;
-- DP001: there is no column employee
SELECT employee FROM hr.employee;
-- DP001: there is no column e
SELECT count(e) FROM hr.employee e;
-- DP001: empty select list
SELECT FROM hr.employee;
-- DP001: single rows
SELECT 1 FROM hr.employee;
-- DP001: array_agg() is not supported: it would show the values of single people
SELECT array_agg(salary) FROM hr.employee;
-- DP001: string_agg() is not supported: it would show the values of single people
SELECT string_agg(name, ',') FROM hr.employee;
-- DP001: json_agg
SELECT json_agg(salary) FROM hr.employee;
-- DP001: mode() of values that are not declared
SELECT mode() WITHIN GROUP (ORDER BY salary) FROM hr.employee;
-- DP001: ORDER BY
SELECT count(salary ORDER BY salary) FROM hr.employee;

-- ===== one person must not count for more, and no row may depend on another

-- DP001: LIMIT
SELECT avg(salary) FROM (SELECT salary FROM hr.employee ORDER BY salary DESC LIMIT 1) t;
-- DP001: LIMIT
SELECT count(*) FROM (SELECT dept FROM hr.employee OFFSET 10) t;
-- DP001: LIMIT
SELECT count(*) FROM (SELECT dept FROM hr.employee FETCH FIRST 10 ROWS ONLY) t;
-- DP001: DISTINCT
SELECT count(*) FROM (SELECT DISTINCT salary FROM hr.employee) t;
-- DP001: several people
SELECT avg(salary) FROM (SELECT salary, row_number() OVER (ORDER BY salary) AS n FROM hr.employee) t WHERE n = 1;
-- DP001: several people
SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY dept ORDER BY salary) r FROM hr.employee) t WHERE r = 1;
-- DP001: subquery
SELECT count(*) FROM hr.employee WHERE EXISTS (SELECT FROM clinic.patient);
-- DP001: subquery
SELECT count(*), ARRAY(SELECT salary FROM hr.employee) FROM hr.employee;
-- DP001: TABLESAMPLE
SELECT count(*) FROM hr.employee TABLESAMPLE SYSTEM (10);
-- DP001: ctid
SELECT count(*) FROM hr.employee WHERE ctid = '(0,1)';
-- DP001: xmin
SELECT count(DISTINCT xmin) FROM hr.employee;
-- DP001: tableoid
SELECT count(*) FROM hr.employee WHERE tableoid = 1;
-- DP001: function generate_series
SELECT count(*) FROM (SELECT generate_series(1, 1000) FROM hr.employee) t;
-- DP001: generate_series() of more than 10000 rows
SELECT count(*) FROM hr.employee, generate_series(1, 20000);
-- DP001: generate_series() of more than 10000 rows
SELECT count(*) FROM hr.employee, generate_series(1, 10, 0);
-- DP001: generate_series() of more than 10000 rows
SELECT count(*) FROM hr.employee, generate_series(timestamp '2020-01-01', '2025-01-01', '1 minute');
-- DP001: generate_series() of more than 10000 rows
SELECT count(*) FROM hr.employee, generate_series(timestamp '2020-01-01', '2025-01-01', '1 month -30 days');
-- DP001: generate_series() of moments without a constant interval
SELECT count(*) FROM hr.employee, generate_series(timestamp '2020-01-01', timestamp '2025-01-01');
-- DP001: generate_series() of something other than constants
SELECT count(*) FROM generate_series(1.5, 2) n JOIN hr.employee ON true;
-- DP001: VALUES of something other than constants
SELECT count(*) FROM hr.employee e WHERE EXISTS (SELECT FROM (VALUES (e.salary)) v(x) WHERE x > 5);
-- DP001: values of kinds
SELECT count(*) FROM hr.employee e JOIN (VALUES (1), (DATE '2020-01-01')) v(x) ON true;
-- DP001: without FROM
SELECT count(*) FROM hr.employee e, LATERAL (SELECT e.salary) t;
-- DP001: on the person
SELECT count(*) FROM hr.employee a, hr.employee b;
-- DP001: on the person
SELECT count(*) FROM hr.employee a JOIN hr.employee b ON a.dept = b.dept;
-- DP001: on the person
SELECT count(*) FROM hr.employee a CROSS JOIN hr.employee b;
-- DP002: column id
SELECT count(*) FROM clinic.patient p JOIN clinic.visit v ON p.id <> v.patient_id;
-- DP001: several datasets
SELECT count(*) FROM hr.employee e JOIN clinic.patient p ON e.id = p.id;
-- DP002: column id
SELECT count(*) FROM clinic.patient NATURAL JOIN clinic.visit;
-- DP001: FULL JOIN
SELECT count(*) FROM clinic.patient p FULL JOIN clinic.visit v ON p.id = v.patient_id AND v.cost > 5;
-- DP001: FULL JOIN
SELECT count(*) FROM hr.employee e FULL JOIN zip_area z ON e.zip = z.zip;
-- DP001: people's side
SELECT count(*) FROM zip_area z LEFT JOIN hr.employee e ON e.zip = z.zip WHERE e.dept IS NULL;
-- DP001: people's side
SELECT z.city, count(*) FROM zip_area z LEFT JOIN hr.employee e ON e.zip = z.zip WHERE e.salary > 5 GROUP BY z.city;
-- DP001: people's side
SELECT e.dept, count(*) FROM zip_area z LEFT JOIN hr.employee e ON e.zip = z.zip GROUP BY e.dept;
-- DP001: the people's side
SELECT z.city, z.zip, e.dept, count(*) FROM zip_area z LEFT JOIN hr.employee e ON e.zip = z.zip GROUP BY 1, 2, 3;
-- DP001: LEFT JOIN from public rows
SELECT count(*) FROM (SELECT z.city, e.salary FROM zip_area z LEFT JOIN hr.employee e ON e.zip = z.zip) x;
-- DP001: UNION without the person
SELECT count(*) FROM (SELECT salary FROM hr.employee UNION SELECT salary FROM hr.employee) u;
-- DP001: EXCEPT without the person
SELECT count(*) FROM (SELECT salary FROM hr.employee EXCEPT SELECT salary FROM hr.employee) u;
-- DP001: people and public
SELECT count(*) FROM (SELECT zip FROM hr.employee INTERSECT SELECT zip FROM zip_area) u;
-- DP001: several datasets
SELECT count(*) FROM (SELECT zip FROM hr.employee UNION ALL SELECT zip FROM clinic.patient) u;
-- DP001: people and public
SELECT count(*) FROM (SELECT zip FROM hr.employee UNION ALL SELECT zip FROM zip_area) u;
-- DP001: several types
SELECT count(*) FROM (SELECT salary AS x FROM hr.employee UNION ALL SELECT hired FROM hr.employee) u;
-- DP001: WITH RECURSIVE
WITH RECURSIVE r AS (SELECT salary FROM hr.employee UNION ALL SELECT salary FROM r) SELECT count(*) FROM r;
-- DP001: GROUP BY below
SELECT count(*) FROM hr.employee e JOIN (SELECT dept, count(*) FROM hr.employee GROUP BY dept) d ON d.dept = e.dept;
-- DP001: several datasets
SELECT count(*) FROM hr.employee e JOIN clinic.patient p ON e.zip = p.zip AND e.id = p.id;
-- DP001: without people
SELECT count(*) FROM zip_area;
-- DP001: without FROM
SELECT 1;
-- DP001: more than 32 grouping sets
SELECT count(*) FROM hr.employee GROUP BY CUBE (dept, gender, position, zip, hired, dob);

-- ===== without bounds a person's influence has no limit

-- DP005: household
SELECT sum(household) FROM census.person;
-- DP005: household
SELECT avg(household) FROM census.person;
-- DP005: household
SELECT stddev(household) FROM census.person;
-- DP005: household
SELECT max(household) FROM census.person;
-- DP005: household
SELECT sum(income * household) FROM census.person;
-- DP005: household
SELECT count(*) FROM census.person WHERE household + 0 = 5;
-- DP005: household
SELECT bucket(household, 10), count(*) FROM census.person GROUP BY 1;
-- DP005: near to 0
SELECT sum(income / age) FROM census.person;
-- DP005: near to 0
SELECT avg(salary / (salary - 50000)) FROM hr.employee;
-- DP005: column household
SELECT sum(CASE WHEN age > 5 THEN household ELSE 0 END) FROM census.person;

-- ===== errors as an oracle: what can fail on a row is not let in

-- DP001: a power whose exponent is no constant
SELECT sum(power(salary, salary)) FROM hr.employee;
-- DP005: a power of a number that may be large
SELECT sum(salary ^ 20) FROM hr.employee;
-- DP005: exp() of a number that may be large
SELECT sum(exp(salary)) FROM hr.employee;
-- DP001: cast from text
SELECT count(*) FROM hr.employee WHERE name::date > '2000-01-01';
-- DP001: cast to
SELECT count(*) FROM hr.employee WHERE name::xml IS NOT NULL;
-- DP001: cast to
SELECT count(*) FROM hr.employee WHERE name::varchar(3) = 'Ali';
-- DP001: cast to
SELECT count(*) FROM hr.employee WHERE zip::regclass IS NOT NULL;
-- DP001: function to_number
SELECT sum(to_number(zip, '99999')) FROM hr.employee;
-- DP001: function to_date
SELECT count(*) FROM hr.employee WHERE to_date(name, 'YYYY') > hired;
-- DP001: a pattern that repeats what is repeated
SELECT count(*) FROM hr.employee WHERE name ~ '(a+)+$';
-- DP001: a pattern with a ( that is not closed
SELECT count(*) FROM hr.employee WHERE regexp_replace(name, '(', 'a') = 'x';
-- DP001: SIMILAR
SELECT count(*) FROM hr.employee WHERE name SIMILAR TO 'A%';
-- DP001: LIKE
SELECT count(*) FROM hr.employee WHERE name LIKE dept;
-- DP001: escape character
SELECT count(*) FROM hr.employee WHERE name LIKE 'Alice\';
-- DP001: is no list
SELECT count(*) FROM hr.employee WHERE salary = ANY ('1,2');
-- DP001: is no list
SELECT count(*) FROM hr.employee WHERE salary = ANY ('{{1,2},{3,4}}'::numeric[]);
-- DP001: is no int
SELECT count(*) FROM hr.employee WHERE salary = ANY ('{1,much}'::int[]);
-- DP001: ANY or ALL
SELECT count(*) FROM hr.employee WHERE dept = ANY (string_to_array('a,b', ','));
-- DP001: operator &&
SELECT count(*) FROM hr.employee WHERE dept && ANY (ARRAY['a', 'b']);
-- DP001: comparing values of this type
SELECT count(*) FROM hr.employee WHERE dept = 'hr.employee'::regclass;
-- DP001: array
SELECT count(*) FROM hr.employee WHERE (ARRAY[1, 2])[salary::int] = 1;
-- DP001: function repeat
SELECT count(*) FROM hr.employee WHERE length(repeat(name, 1000000)) > 1;
-- DP001: function chr
SELECT count(*) FROM hr.employee WHERE chr(salary::int) = 'a';
-- DP001: operator ->
SELECT count(*) FROM hr.employee WHERE name -> 'a' IS NULL;
-- DP001: adding something to a date
SELECT count(*) FROM hr.employee WHERE hired + 1000000 > '2024-01-01';
-- DP001: more than 1000 years
SELECT count(*) FROM hr.employee WHERE hired + INTERVAL '200000 years' > '2024-01-01';
-- DP001: is no interval
SELECT count(*) FROM hr.employee WHERE hired > DATE '2024-01-01' - INTERVAL 'a while';
-- DP001: arithmetic on interval
SELECT count(*) FROM hr.employee WHERE hired > DATE '2024-01-01' - 2 * INTERVAL '1 year';
-- DP001: cast to interval
SELECT count(*) FROM hr.employee WHERE dept::interval > INTERVAL '1 year';
-- DP001: digits
SELECT sum(salary * 1e60 * salary) FROM hr.employee;
-- DP001: digits
SELECT count(*) FROM hr.employee WHERE salary > 1e999999999;
-- DP001: is no numeric
SELECT count(*) FROM hr.employee WHERE salary > 'much';
-- DP001: is no date
SELECT count(*) FROM hr.employee WHERE hired > '2024-02-30';
-- DP001: is no date
SELECT count(*) FROM hr.employee WHERE hired > 'now';
-- DP001: kinds numeric and text
SELECT count(*) FROM hr.employee WHERE name = salary;

-- ===== running code, reading time, users and settings

-- DP001: function pg_sleep
SELECT count(*) FROM hr.employee WHERE pg_sleep(1) IS NULL;
-- DP001: function query_to_xml
SELECT count(*), query_to_xml('SELECT * FROM hr.employee', true, true, '') FROM hr.employee;
-- DP001: function set_config
SELECT set_config('x.y', 'z', false), count(*) FROM hr.employee;
-- DP001: function nextval
SELECT count(*) FROM hr.employee WHERE nextval('s') > salary;
-- DP001: function pg_notify
SELECT count(*) FROM hr.employee WHERE pg_notify('a', name) IS NULL;
-- DP001: function pg_advisory_lock
SELECT count(*) FROM hr.employee WHERE pg_advisory_lock(1) IS NULL;
-- DP001: function lo_import
SELECT lo_import('/etc/passwd'), count(*) FROM hr.employee;
-- DP001: function random
SELECT count(*) FROM hr.employee WHERE random() < 0.5;
-- DP001: function clock_timestamp
SELECT count(*) FROM hr.employee WHERE hired > clock_timestamp();
-- DP001: time or user
SELECT count(*) FROM hr.employee WHERE hired > current_time;
-- DP001: time or user
SELECT count(*) FROM hr.employee WHERE name = current_user;
-- DP001: function mine.f
SELECT count(*) FROM hr.employee WHERE mine.f(salary);
-- DP001: function f
SELECT f(count(*)) FROM hr.employee;
-- DP001: function dblink
SELECT dblink('dbname=x', 'SELECT 1'), count(*) FROM hr.employee;
-- DP001: operator of another schema
SELECT count(*) FROM hr.employee WHERE salary OPERATOR(mine.=) 1;
-- DP001: operator of another schema
SELECT count(*) OPERATOR(mine.@@) ANY (ARRAY[1]) FROM hr.employee;
-- DP001: cast to mine
SELECT count(*)::mine FROM hr.employee;
-- DP001: cast to d
SELECT count(*)::pg_temp.d FROM hr.employee;
-- DP001: COLLATE
SELECT count(*) FROM hr.employee WHERE name COLLATE "C" < 'a';
-- DP001: XML
SELECT count(*), xmlelement(name x) FROM hr.employee;
-- DP001: USING
SELECT dept, count(*) FROM hr.employee GROUP BY dept ORDER BY count(*) USING OPERATOR(mine.<);
-- DP001: USING
SELECT dept, rank() OVER (ORDER BY count(*) USING OPERATOR(mine.<)) FROM hr.employee GROUP BY dept;

-- ===== not a question, or about what is not there

-- DP001: not SQL
SELEC count(*) FROM hr.employee;
-- DP001: 2 statements
SELECT count(*) FROM hr.employee; DELETE FROM hr.employee;
-- DP001: 0 statements
;
-- DP001: INSERT
INSERT INTO hr.employee VALUES (1);
-- DP001: UPDATE
UPDATE hr.employee SET salary = 0;
-- DP001: DELETE
DELETE FROM hr.employee;
-- DP001: COPY
COPY hr.employee TO STDOUT;
-- DP001: EXPLAIN
EXPLAIN ANALYZE SELECT count(*) FROM hr.employee;
-- DP001: DO
DO $$BEGIN END$$;
-- DP001: INTO
SELECT count(*) INTO t FROM hr.employee;
-- DP001: FOR UPDATE
SELECT count(*) FROM hr.employee FOR UPDATE;
-- DP001: VALUES
VALUES (1);
-- DP001: UNION
SELECT count(*) FROM hr.employee UNION ALL SELECT count(*) FROM hr.employee;
-- DP001: WITH query
WITH gone AS (DELETE FROM hr.employee RETURNING *) SELECT count(*) FROM gone;
-- DP001: parameter $1
SELECT count(*) FROM hr.employee WHERE salary > $1;
-- DP001: no column wages
SELECT avg(wages) FROM hr.employee;
-- DP001: no column name
SELECT count(*) FROM clinic.patient WHERE name = 'Tom Fielding';
-- DP001: ambiguous
SELECT count(*) FROM clinic.patient p JOIN zip_area z ON p.zip = z.zip WHERE zip = '02139';
-- DP001: database
SELECT count(*) FROM other.hr.employee;
-- 42704: hr.nothing
SELECT count(*) FROM hr.nothing;
-- 42704: pg_stats
SELECT count(*) FROM hr.employee, pg_stats;
-- DP004: no budget
SELECT count(*) FROM hr.secret;
-- DP004: no budget
SELECT count(*) FROM hr.employee e JOIN hr.secret s ON e.id = s.id;

-- ===== dp_ aggregates used wrongly

-- DP001: a lower bound above the upper bound
SELECT dp_sum(salary, 200000, 0) FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_sum(salary, NULL, 10) FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_avg(salary, 0, NULL::numeric) FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_avg(salary, 'NaN', 10) FROM hr.employee;
-- DP001: 'NaN' is no float
SELECT dp_avg(salary, 0, 'NaN'::float8) FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_median(salary, '-Infinity', 10) FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_median(hired, '2000-01-01', 'infinity') FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_sum(salary, 0, salary) FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_sum(salary, 0, 10 * 1000) FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_sum(hired, 0, 10) FROM hr.employee;
-- DP001: a bound that is not a finite constant
SELECT dp_sum(salary, DATE '2000-01-01', DATE '2001-01-01') FROM hr.employee;
-- DP001: more than 60 digits
SELECT dp_sum(salary, 0, 1e100) FROM hr.employee;
-- DP001: bounds of text
SELECT dp_median(name, 'a', 'z') FROM hr.employee;
-- DP001: a call that is not dp_sum(value, lower, upper [, epsilon])
SELECT dp_sum(salary) FROM hr.employee;
-- DP001: a call that is not dp_sum(value, lower, upper [, epsilon])
SELECT dp_sum(DISTINCT salary, 0, 10) FROM hr.employee;
-- DP001: a call that is not dp_count(*)
SELECT dp_count(DISTINCT zip) FROM hr.employee;
-- DP001: a call that is not dp_count(*)
SELECT dp_count() FROM hr.employee;
-- DP001: a call that is not dp_count_distinct
SELECT dp_count_distinct(*) FROM hr.employee;
-- DP001: a call that is not dp_quantile
SELECT dp_quantile(salary, 0, 200000) FROM hr.employee;
-- DP001: a fraction that is not from 0 to 1
SELECT dp_quantile(salary, 50, 0, 200000) FROM hr.employee;
-- DP001: an epsilon that is not a finite constant
SELECT dp_sum(salary, 0, 10, salary) FROM hr.employee;
-- DP001: an epsilon that is not a finite constant
SELECT dp_sum(salary, 0, 10, NULL) FROM hr.employee;
-- DP001: an epsilon that is not a finite constant
SELECT dp_sum(salary, 0, 10, 'Infinity') FROM hr.employee;
-- 22023: epsilon must be positive
SELECT dp_sum(salary, 0, 10, -1) FROM hr.employee;
-- 22023: epsilon must be positive
SELECT dp_count(salary, 0) FROM hr.employee;
-- 22023: epsilon is too large
SELECT dp_median(salary, 0, 10, 1000) FROM hr.employee;
-- DP002: column id
SELECT dp_sum(id, 0, 1000) FROM hr.employee;
-- DP002: column patient_id
SELECT dp_median(patient_id, 0, 1000, 5) FROM clinic.visit;
-- DP005: column household has no bounds
SELECT dp_sum(household * 2, 0, 1000) FROM census.person;
-- DP001: function discreet.sum()
SELECT discreet.sum(salary) FROM hr.employee;
-- DP001: function pg_catalog.dp_sum()
SELECT pg_catalog.dp_sum(salary, 0, 10) FROM hr.employee;
-- DP001: function public.dp_sum()
SELECT public.dp_sum(salary, 0, 10) FROM hr.employee;
-- DP001: function dp_mode()
SELECT dp_mode(salary, 0, 10) FROM hr.employee;
-- DP001: function dp_sum() around the answer
SELECT dp_sum(n, 0, 10) FROM (SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept) t;
-- DP001: function dp_sum() around the answer
SELECT dp_sum(salary, 0, 10) OVER () FROM hr.employee;
-- DP001: function dp_sum()
SELECT count(*) FROM hr.employee WHERE dp_sum(salary, 0, 10) > 5;
-- DP001: NamedArgExpr
SELECT dp_sum(salary, 0, 10, epsilon => 1) FROM hr.employee;

-- ===== questions within a question

-- DP002: singles out a person
SELECT count(*) FROM hr.employee WHERE salary > (SELECT avg(salary) FROM hr.employee WHERE id = 3);
-- DP002: region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no >= (SELECT count(*) * 0 + 5 FROM census.voter)
AND roll_no <= (SELECT count(*) * 0 + 5 FROM census.voter);
-- DP002: region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no < (SELECT count(*) FROM census.voter);
-- DP005: has no bounds
SELECT sum(salary - (SELECT count(*) FROM hr.employee)) FROM hr.employee;
-- DP001: people of another dataset
SELECT count(*) FROM hr.employee WHERE salary > (SELECT max(age) FROM clinic.patient);
-- DP001: an aggregate in a subquery without the person
SELECT count(*) FROM hr.employee
WHERE salary > (SELECT avg(salary) FROM hr.employee WHERE salary > (SELECT avg(salary) FROM hr.employee));
-- DP001: the type of this subquery is not known
SELECT count(*) FROM hr.employee WHERE salary > (SELECT sum(salary) / count(*) FROM hr.employee);
-- DP001: a constant in GROUP BY
SELECT count(*) FROM hr.employee GROUP BY (SELECT avg(salary) FROM hr.employee);
-- DP001: an aggregate in a subquery without the person
SELECT count(*) FROM hr.employee e
WHERE salary > (SELECT avg(salary) FROM hr.employee f WHERE f.dept = e.dept);

-- ===== elements

-- DP001: unnest() of something other than an array
SELECT count(*) FROM hr.employee, unnest(dept) AS d;
-- DP001: jsonb_array_elements() of something other than jsonb
SELECT count(*) FROM hr.employee, jsonb_array_elements(dept) AS d;
-- DP001: WITH ORDINALITY
SELECT count(*) FROM hr.employee, unnest(dept) WITH ORDINALITY AS d(e, n);
-- DP001: several columns of generate_series()
SELECT count(*) FROM generate_series(1, 2) AS n(a, b) JOIN hr.employee ON true;
-- rows that a question lists are constants, however they are written
-- DP002: column id
SELECT count(*) FROM hr.employee e JOIN (VALUES (7)) v(x) ON e.id = v.x;
-- DP002: column id
SELECT count(*) FROM hr.employee e JOIN generate_series(7, 7) n ON e.id = n;
-- DP002: column id
SELECT count(*) FROM hr.employee e, unnest(ARRAY[7, 8]) n WHERE n = e.id;
-- DP002: column id
SELECT count(*) FROM hr.employee WHERE id IN (VALUES (7));
-- DP002: comparing the columns dob, gender, zip by value
SELECT count(*) FROM census.voter v JOIN (VALUES (DATE '1940-01-02', '2001', 'F')) w(d, z, g)
ON v.dob = w.d AND v.zip = w.z AND v.gender = w.g;
-- DP002: comparing the columns dob, gender, zip by value
SELECT count(*) FROM census.voter v, (VALUES (DATE '1940-01-02')) a(d), (VALUES ('2001')) b(z), unnest(ARRAY['F']) c(g)
WHERE v.dob = d AND v.zip = z AND v.gender = g;
-- DP002: comparing the columns dob, gender, zip by value
SELECT count(*) FROM census.voter v JOIN (VALUES (DATE '1940-01-02', DATE '1940-01-02')) w(a, b)
ON v.dob BETWEEN w.a AND w.b AND v.zip = '2001' AND v.gender = 'F';
-- DP002: comparing the columns dob, gender, zip by value
SELECT d, count(v.id) FROM generate_series(DATE '1940-01-02', DATE '1940-01-05', '1 day') d
LEFT JOIN census.voter v ON v.dob = d AND v.zip = '2001' AND v.gender = 'F' GROUP BY d;
-- DP002: comparing the columns region, roll_no by value
SELECT n, count(v.id) FROM generate_series(1, 50) n LEFT JOIN census.voter v ON v.roll_no = n AND v.region = 'Coast' GROUP BY n;

-- ===== frames of a range

-- DP001: no constant from 0 on
SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY patient_id ORDER BY day
RANGE BETWEEN '-1 day' PRECEDING AND CURRENT ROW) AS n FROM clinic.visit) v WHERE n > 1;
-- DP001: one number or moment
SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY patient_id ORDER BY ward
RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM clinic.visit) v WHERE n > 1;
-- DP001: no constant from 0 on
SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY patient_id ORDER BY cost
RANGE BETWEEN -1 PRECEDING AND CURRENT ROW) AS n FROM clinic.visit) v WHERE n > 1;
-- DP001: function regexp_split_to_table() in FROM
SELECT count(*) FROM hr.employee e, regexp_split_to_table(e.zip, '0') AS part;
-- DP001: VALUES of this type
SELECT count(*) FROM hr.employee JOIN (VALUES (interval '1 day')) v(x) ON true;
-- DP001: unnest() of an empty list, or of lists
SELECT count(*) FROM hr.employee, unnest(ARRAY[ARRAY[1], ARRAY[2]]) n;
-- DP001: generate_series() with 1 arguments
SELECT count(*) FROM hr.employee, generate_series(1) n;
-- DP001: generate_series() of numbers this large
SELECT count(*) FROM hr.employee, generate_series(1, 99999999999) n;

-- ===== columns with the schema of their table: the rules are those of columns without

-- DP002: column id
SELECT count(*) FROM clinic.patient WHERE clinic.patient.id = 7;
-- DP001: there is no column clinic.patient.name
SELECT count(*) FROM clinic.patient WHERE clinic.patient.name = 'Ann';
-- DP001: there is no column clinic.patient.age
SELECT count(*) FROM clinic.patient p WHERE clinic.patient.age > 30;
-- DP001: there is no column hr.patient.age
SELECT count(*) FROM clinic.patient WHERE hr.patient.age > 30;
-- DP001: a column name with a database
SELECT count(*) FROM clinic.patient WHERE here.clinic.patient.age > 30;
-- DP001: table visit is ambiguous
SELECT count(*) FROM clinic.visit, hr.visit WHERE visit.ward = 'Surgery';
-- DP001: column ward is ambiguous
SELECT count(*) FROM clinic.visit JOIN hr.visit ON clinic.visit.ward = hr.visit.ward WHERE ward = 'Surgery';
-- DP001: two tables of one name
SELECT count(*) FROM clinic.visit, (SELECT ward FROM hr.visit) visit WHERE clinic.visit.ward = 'Surgery';
-- DP001: beside an alias visit
SELECT count(*) FROM clinic.visit WHERE EXISTS (SELECT 1 FROM clinic.visit visit
WHERE clinic.visit.patient_id = visit.patient_id AND visit.cost > 100);
-- DP002: comparing the columns region, roll_no
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND census.voter.roll_no = 4;
-- DP001: is neither in GROUP BY nor in an aggregate
SELECT clinic.patient.age, count(*) FROM clinic.patient GROUP BY clinic.patient.sex;
-- DP002: comparing the columns dob, gender, zip
SELECT sum(regexp_count(zip, '^02139$')) FROM census.voter WHERE dob = '1950-01-01' AND gender = 'F';
-- DP002: comparing the columns dob, gender, zip
SELECT sum(regexp_instr(zip, '^02139$')) FROM census.voter WHERE dob = '1950-01-01' AND gender = 'F';
-- DP002: comparing the columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE (regexp_match(zip, '(.*)'))[1] = '02139' AND dob = '1950-01-01' AND gender = 'F';
-- DP002: comparing the columns dob, gender, zip
SELECT count(*) FROM census.voter WHERE (regexp_split_to_array(zip, 'x'))[1] = '02139' AND dob = '1950-01-01' AND gender = 'F';
-- DP001: function jsonb_object_keys()
SELECT jsonb_object_keys('{"a": 1}'), count(*) FROM hr.employee GROUP BY 1;
-- DP001: there is no column tag
SELECT count(*) FROM (SELECT id, unnest(ARRAY['a', 'b']) AS tag FROM hr.employee WHERE tag = 'a') x;
