-- Questions that analysts ask, and that must be answered. One statement ends with ; at the end of a line.
-- Words for tests may stand before one: "-- params: [...]" gives the values of $1, $2, …

-- ===== a company: hr.employee, one row per person

SELECT count(*) FROM hr.employee;
SELECT count(*) AS staff FROM hr.employee AS e;
SELECT count(dob), count(zip) FROM hr.employee;
SELECT count(DISTINCT zip) FROM hr.employee;
SELECT count(DISTINCT id) FROM hr.employee;
SELECT dept, count(*) FROM hr.employee GROUP BY dept;
SELECT dept, count(*) FROM hr.employee GROUP BY 1 ORDER BY 2 DESC;
SELECT dept AS department, count(*) AS n FROM hr.employee GROUP BY department ORDER BY n DESC, department LIMIT 5;
SELECT e.dept, avg(e.salary) FROM hr.employee e GROUP BY e.dept ORDER BY avg(e.salary) DESC;
SELECT dept, gender, round(avg(salary)) AS mean FROM hr.employee GROUP BY dept, gender ORDER BY dept, gender;
SELECT gender, avg(salary), stddev(salary), min(salary), max(salary) FROM hr.employee GROUP BY gender;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) AS median FROM hr.employee;
SELECT dept, percentile_disc(0.9) WITHIN GROUP (ORDER BY salary DESC) FROM hr.employee GROUP BY dept;
SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY salary), percentile_cont(0.75) WITHIN GROUP (ORDER BY salary)
FROM hr.employee;
SELECT sum(salary) AS payroll FROM hr.employee;
SELECT dept, sum(salary) / 12 AS per_month FROM hr.employee GROUP BY dept;
SELECT sum(salary * 1.05) - sum(salary) AS raise FROM hr.employee;
SELECT sum(salary * CASE WHEN dept = 'Sales' THEN 0.10 ELSE 0.05 END) AS bonus FROM hr.employee;
SELECT avg(CASE WHEN gender = 'F' THEN salary END) / avg(CASE WHEN gender = 'M' THEN salary END) AS pay_gap
FROM hr.employee;
SELECT avg(salary) FILTER (WHERE gender = 'F') AS women, avg(salary) FILTER (WHERE gender = 'M') AS men
FROM hr.employee;
SELECT count(*) FILTER (WHERE gender = 'F') * 100.0 / count(*) AS share_of_women FROM hr.employee;
SELECT dept, count(*) FILTER (WHERE salary > 100000) AS high, count(*) AS staff FROM hr.employee GROUP BY dept;
SELECT count(*) FROM hr.employee WHERE salary BETWEEN 50000 AND 75000;
SELECT count(*) FROM hr.employee WHERE dept IN ('Sales', 'Support', 'Legal');
SELECT count(*) FROM hr.employee WHERE dept NOT IN ('Executive') AND position <> 'Director';
SELECT count(*) FROM hr.employee WHERE dept = ANY (ARRAY['Sales', 'Support']);
SELECT count(*) FROM hr.employee WHERE position LIKE 'Senior%';
SELECT count(*) FROM hr.employee WHERE position ILIKE '%lead%' OR position ILIKE '%manager%';
SELECT count(*) FROM hr.employee WHERE position NOT LIKE '%specialist';
SELECT count(*) FROM hr.employee WHERE zip IS NULL;
SELECT count(*) FROM hr.employee WHERE gender IS NOT NULL AND NOT (gender = 'M');
SELECT count(*) FROM hr.employee WHERE gender IS DISTINCT FROM 'M';
SELECT count(*) FROM hr.employee WHERE (dept, gender) = ('Sales', 'F');
SELECT count(*) FROM hr.employee WHERE dob < DATE '1970-01-01';
SELECT count(*) FROM hr.employee WHERE dob BETWEEN '1980-01-01' AND '1989-12-31';
SELECT count(*) FROM hr.employee WHERE extract(year FROM hired) = 2023;
SELECT extract(year FROM hired) AS year, count(*) FROM hr.employee GROUP BY extract(year FROM hired) ORDER BY year;
SELECT extract(month FROM hired) AS month, count(*) AS hired FROM hr.employee GROUP BY 1 ORDER BY 1;
SELECT date_trunc('year', hired) AS year, count(*) FROM hr.employee GROUP BY 1 ORDER BY 1;
SELECT date_trunc('quarter', hired)::date AS quarter, count(*) FROM hr.employee GROUP BY 1;
SELECT avg(DATE '2025-01-01' - hired) / 365.25 AS years_of_service FROM hr.employee;
SELECT avg((DATE '2025-01-01' - dob) / 365) AS age FROM hr.employee;
SELECT (2025 - extract(year FROM dob))::int / 10 * 10 AS decade, count(*) FROM hr.employee GROUP BY 1 ORDER BY 1;
SELECT bucket(salary, 10000) AS band, count(*) FROM hr.employee GROUP BY band ORDER BY band;
SELECT bucket(salary, 2500.5) AS band, count(*) FROM hr.employee GROUP BY 1;
SELECT CASE WHEN salary < 50000 THEN 'low' WHEN salary < 100000 THEN 'middle' ELSE 'high' END AS band, count(*)
FROM hr.employee GROUP BY 1;
SELECT CASE dept WHEN 'Sales' THEN 'front' WHEN 'Support' THEN 'front' ELSE 'back' END AS office, avg(salary)
FROM hr.employee GROUP BY office;
SELECT salary > 100000 AS well_paid, count(*) FROM hr.employee GROUP BY salary > 100000;
SELECT left(zip, 3) AS area, count(*) FROM hr.employee GROUP BY left(zip, 3) HAVING count(*) > 20;
SELECT substring(zip FROM 1 FOR 3), avg(salary) FROM hr.employee GROUP BY 1;
SELECT upper(dept), lower(position), count(*) FROM hr.employee GROUP BY upper(dept), lower(position);
SELECT COALESCE(gender, 'unknown') AS gender, count(*) FROM hr.employee GROUP BY 1;
SELECT dept, count(*) FROM hr.employee GROUP BY dept HAVING count(*) > 10 AND avg(salary) > 60000;
SELECT dept, count(*) FROM hr.employee GROUP BY dept HAVING dept <> 'Executive';
SELECT dept, gender, count(*) FROM hr.employee GROUP BY ROLLUP (dept, gender);
SELECT dept, gender, count(*), sum(salary) FROM hr.employee GROUP BY CUBE (dept, gender);
SELECT dept, position, count(*) FROM hr.employee GROUP BY GROUPING SETS ((dept), (position), ());
SELECT dept, count(*), round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent FROM hr.employee GROUP BY dept;
SELECT dept, avg(salary), rank() OVER (ORDER BY avg(salary) DESC) AS place FROM hr.employee GROUP BY dept;
SELECT variance(salary), var_pop(salary), stddev_samp(salary), stddev_pop(salary) FROM hr.employee;
SELECT count(salary), sum(salary), avg(salary) FROM hr.employee;
SELECT sum(round(salary / 1000)) AS thousands FROM hr.employee;
SELECT avg(sqrt(salary)), avg(abs(salary - 60000)), sum(sign(salary - 60000)) FROM hr.employee;
SELECT avg(GREATEST(salary, 30000)), avg(LEAST(salary, 150000)) FROM hr.employee;
SELECT avg(NULLIF(salary, 0)) FROM hr.employee;
SELECT sum(salary) / NULLIF(count(*), 0) FROM hr.employee;
SELECT avg(length(position)) FROM hr.employee;
SELECT max(hired) FROM hr.employee WHERE dept = 'Sales';
SELECT min(dob), max(dob) FROM hr.employee;
SELECT count(*) FROM hr.employee WHERE trim(zip) = '02139' OR strpos(zip, '0214') = 1;
SELECT count(*) FROM hr.employee WHERE position('lead' IN lower(position)) > 0;
SELECT count(*) FROM hr.employee WHERE dept || '/' || position = 'Sales/Manager';
SELECT avg(mod(salary, 1000)), avg(salary % 1000) FROM hr.employee;
SELECT avg(salary::int), avg(salary::float8), count(salary::text) FROM hr.employee;
SELECT avg((gender = 'F')::int) AS share FROM hr.employee;
SELECT DISTINCT dept FROM hr.employee ORDER BY dept;
SELECT DISTINCT upper(zip) AS zip, gender FROM hr.employee LIMIT 5;
SELECT DISTINCT round(avg(salary), -3) FROM hr.employee GROUP BY dept;
SELECT dept, count(*) FROM hr.employee WHERE true GROUP BY dept LIMIT 3 OFFSET 1;
SELECT count(*) FROM hr.employee WHERE dept <> ALL (ARRAY['Sales', 'Legal']) AND position LIKE ANY (ARRAY['S%', '%r']);
SELECT count(*) FROM hr.employee WHERE salary > ANY ('{50000,60000}') AND dept = ANY ('{Sales,"Legal", NULL}'::text[]);
SELECT count(*) FROM hr.employee WHERE hired > CURRENT_DATE - 365;
SELECT count(*) FROM hr.employee WHERE hired > now() - INTERVAL '1 year 6 months';
SELECT count(*) FROM hr.employee WHERE hired + INTERVAL '10 years' < CURRENT_TIMESTAMP AND dob + 365 < LOCALTIMESTAMP;
SELECT extract(year FROM hired - INTERVAL '6 months') AS fiscal, count(*) FROM hr.employee GROUP BY 1;
SELECT avg((CURRENT_DATE - dob) / 365) AS age FROM hr.employee;
SELECT count(*) FROM hr.employee WHERE salary > '5e4'::float8 AND hired > DATE '2024-01-01' - INTERVAL '1 year';
SELECT n, sum(pay) FROM (SELECT dept, salary FROM hr.employee) AS e(n, pay) GROUP BY n;
SELECT max(number) FROM (SELECT dept, count(*) FROM hr.employee GROUP BY dept) AS t(dept, number);
WITH e(d, s) AS (SELECT dept, salary FROM hr.employee) SELECT d, avg(s) FROM e GROUP BY d;
WITH t(d, n) AS (SELECT dept, count(*) FROM hr.employee GROUP BY dept) SELECT d FROM t WHERE n > 10;
SELECT count(*) FROM zip_area AS z(code, place) JOIN hr.employee e ON e.zip = z.code WHERE z.place = 'Cambridge';
SELECT count(DISTINCT who) FROM hr.employee AS e(who);
-- params: ["{Sales,Legal}"]
SELECT count(*) FROM hr.employee WHERE dept = ANY ($1);
-- params: ["Sales", "50000"]
SELECT count(*) FROM hr.employee WHERE dept = $1 AND salary > $2;
-- params: ["2015-01-01", null, "3"]
SELECT dept, count(*) FROM hr.employee WHERE hired >= $1 AND zip IS DISTINCT FROM $2 GROUP BY dept LIMIT $3;

-- ===== the same through subqueries and WITH

SELECT avg(salary) FROM (SELECT salary FROM hr.employee WHERE dept = 'Sales') s;
SELECT dept, avg(pay) FROM (SELECT dept, salary / 12 AS pay FROM hr.employee) AS monthly GROUP BY dept;
WITH sales AS (SELECT * FROM hr.employee WHERE dept = 'Sales') SELECT position, count(*) FROM sales GROUP BY position;
WITH a AS (SELECT id, salary, dept FROM hr.employee), b AS (SELECT dept, salary * 2 AS s FROM a WHERE salary > 1000)
SELECT dept, avg(s) FROM b GROUP BY dept;
SELECT max(n) FROM (SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept) t;
SELECT dept, n FROM (SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept) t WHERE n > 50 ORDER BY n DESC;
SELECT *, n * 100 / total AS percent FROM (SELECT dept, count(*) AS n, sum(count(*)) OVER () AS total
FROM hr.employee GROUP BY dept) t ORDER BY percent DESC;
WITH counts AS (SELECT dept, gender, count(*) AS n FROM hr.employee GROUP BY dept, gender)
SELECT dept, sum(CASE WHEN gender = 'F' THEN n ELSE 0 END) AS women, sum(n) AS everybody FROM counts GROUP BY dept;
WITH by_dept AS (SELECT dept, avg(salary) AS pay FROM hr.employee GROUP BY dept),
     ranked AS (SELECT dept, pay, rank() OVER (ORDER BY pay DESC) AS place FROM by_dept)
SELECT dept, pay FROM ranked WHERE place <= 3;
SELECT count(*) FROM (SELECT salary FROM hr.employee UNION ALL SELECT salary + 0 FROM hr.employee) twice;
SELECT who, count(*) FROM (SELECT 'junior' AS who, salary FROM hr.employee WHERE salary < 50000
UNION ALL SELECT 'senior', salary FROM hr.employee WHERE salary >= 50000) u GROUP BY who;
SELECT count(*) FROM hr.employee a JOIN hr.employee b ON a.id = b.id WHERE a.dept = 'Sales' AND b.salary > 50000;
SELECT count(*) FROM hr.employee a, hr.employee b WHERE a.id = b.id AND a.gender = b.gender;

-- ===== a clinic: patients (one row each) and their visits (many)

SELECT count(*) FROM clinic.visit;
SELECT count(DISTINCT patient_id) FROM clinic.visit;
SELECT count(DISTINCT patient_id) AS patients, count(*) AS visits FROM clinic.visit WHERE ward = 'Oncology';
SELECT ward, count(*) FROM clinic.visit GROUP BY ward ORDER BY count(*) DESC;
SELECT ward, count(DISTINCT patient_id) FROM clinic.visit GROUP BY ward;
SELECT ward, sum(cost), avg(cost), count(*) FROM clinic.visit GROUP BY ward;
SELECT extract(isodow FROM day) AS weekday, count(*) FROM clinic.visit GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', day) AS month, sum(cost) FROM clinic.visit GROUP BY 1 ORDER BY 1;
SELECT date_trunc('week', day) AS week, ward, count(*) FROM clinic.visit GROUP BY 1, 2;
SELECT day, count(DISTINCT patient_id) FROM clinic.visit GROUP BY day;
SELECT ward, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM clinic.visit GROUP BY ward;
SELECT avg(cost), stddev(cost) FROM clinic.visit WHERE day >= '2024-01-01' AND day < '2025-01-01';
SELECT sum(cost) / count(DISTINCT patient_id) AS cost_per_patient FROM clinic.visit;
SELECT ward, sum(cost) FILTER (WHERE day >= '2024-07-01') - sum(cost) FILTER (WHERE day < '2024-07-01') AS growth
FROM clinic.visit GROUP BY ward;
SELECT count(*) FROM clinic.visit WHERE cost > 1000 AND ward IN ('Surgery', 'Emergency');
SELECT count(DISTINCT ward) FROM clinic.visit;
SELECT count(id) FROM clinic.visit;
SELECT max(cost), min(cost) FROM clinic.visit WHERE ward = 'Radiology';
SELECT ward, count(*) FROM clinic.visit GROUP BY ROLLUP (ward);
SELECT bucket(cost, 100) AS price, count(*) FROM clinic.visit GROUP BY 1 ORDER BY 1;
SELECT smoker, count(*), avg(age) FROM clinic.patient GROUP BY smoker;
SELECT sex, bucket(age, 10) AS age, count(*) FROM clinic.patient GROUP BY 1, 2 ORDER BY 1, 2;
SELECT diagnosis, count(*) FROM clinic.patient GROUP BY diagnosis ORDER BY 2 DESC LIMIT 10;
SELECT insurer, diagnosis, count(*) FROM clinic.patient WHERE age >= 65 GROUP BY insurer, diagnosis;
SELECT diagnosis FROM clinic.patient GROUP BY diagnosis;
SELECT count(*) FROM clinic.patient WHERE diagnosis = 'Asthma' AND smoker;
SELECT count(*) FROM clinic.patient WHERE smoker IS TRUE OR smoker IS UNKNOWN;
SELECT count(*) FROM clinic.patient WHERE NOT smoker AND age NOT BETWEEN 18 AND 64;
SELECT sum(age) / count(*) FROM clinic.patient;
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS who, count(*)
FROM clinic.patient GROUP BY 1;
SELECT p.sex, count(*) FROM clinic.visit v JOIN clinic.patient p ON v.patient_id = p.id GROUP BY p.sex;
SELECT p.diagnosis, avg(v.cost) FROM clinic.patient p JOIN clinic.visit v ON p.id = v.patient_id GROUP BY p.diagnosis;
SELECT p.smoker, v.ward, count(DISTINCT p.id) FROM clinic.patient p JOIN clinic.visit v ON v.patient_id = p.id
WHERE v.day >= '2024-01-01' GROUP BY p.smoker, v.ward;
SELECT count(*) FROM clinic.patient p LEFT JOIN clinic.visit v ON v.patient_id = p.id WHERE v.cost IS NULL;
SELECT p.insurer, count(v.cost) FROM clinic.patient p LEFT JOIN clinic.visit v
ON p.id = v.patient_id AND v.cost > 500 GROUP BY p.insurer;
SELECT p.sex, sum(v.cost) FROM clinic.patient p, clinic.visit v WHERE p.id = v.patient_id GROUP BY p.sex;
SELECT count(*) FROM clinic.visit a JOIN clinic.visit b ON a.patient_id = b.patient_id AND a.day < b.day;
SELECT avg(v.cost * CASE WHEN p.smoker THEN 2 ELSE 1 END) FROM clinic.visit v
JOIN clinic.patient p ON p.id = v.patient_id;
SELECT avg(v.cost / (p.age + 1)) FROM clinic.visit v JOIN clinic.patient p ON p.id = v.patient_id;
SELECT x.ward, avg(x.age) FROM (SELECT v.ward, p.age FROM clinic.visit v
JOIN clinic.patient p ON v.patient_id = p.id) x GROUP BY x.ward;
WITH old AS (SELECT id, sex FROM clinic.patient WHERE age > 64), v AS (SELECT patient_id, cost FROM clinic.visit)
SELECT sex, sum(cost) FROM old JOIN v ON old.id = v.patient_id GROUP BY sex;
SELECT kind, count(*) FROM (SELECT 'patient' AS kind, age AS n FROM clinic.patient
UNION ALL SELECT 'visit', 0 FROM clinic.visit) u GROUP BY kind;
SELECT day - DATE '2024-01-01' > 180 AS second_half, count(*) FROM clinic.visit GROUP BY 1;
SELECT count(*) FROM clinic.visit WHERE extract(dow FROM day) IN (0, 6);
SELECT sum(cost)::int AS euros FROM clinic.visit;
SELECT ward, sum(cost)::numeric(12, 2) FROM clinic.visit GROUP BY ward;
SELECT ward, lag(sum(cost)) OVER (ORDER BY ward) FROM clinic.visit GROUP BY ward;

SELECT count(*) FROM (SELECT id FROM (SELECT id FROM clinic.patient) a) b JOIN clinic.visit v ON v.patient_id = b.id;
SELECT count(*) FROM (SELECT x.id, x.sex FROM (SELECT p.id, p.sex FROM clinic.patient p LEFT JOIN clinic.visit v
ON v.patient_id = p.id) x) y JOIN (SELECT patient_id FROM clinic.visit) z ON y.id = z.patient_id;

-- ===== with public tables: zip_area (zip unique), ward_floor (no key)

SELECT z.city, count(*) FROM hr.employee e JOIN zip_area z ON e.zip = z.zip GROUP BY z.city;
SELECT z.city, avg(e.salary) FROM hr.employee e JOIN public.zip_area z USING (zip) GROUP BY z.city ORDER BY 2;
SELECT count(*) FROM hr.employee e LEFT JOIN zip_area z ON e.zip = z.zip WHERE z.zip IS NULL;
SELECT z.city, p.sex, count(*) FROM clinic.patient p JOIN zip_area z ON z.zip = p.zip GROUP BY 1, 2;
SELECT sum(e.salary / z.population) FROM hr.employee e JOIN zip_area z ON z.zip = e.zip;
SELECT w.floor, count(DISTINCT v.patient_id) FROM clinic.visit v JOIN ward_floor w ON w.ward = v.ward GROUP BY w.floor;
SELECT count(*) FROM clinic.visit v, ward_floor w WHERE v.ward = w.ward AND w.beds > 10;
SELECT count(*) FROM zip_area z JOIN hr.employee e ON z.zip = e.zip WHERE z.population > 10000;
SELECT avg(e.salary) FROM hr.employee e JOIN zip_area z ON e.zip = z.zip OR left(e.zip, 3) = left(z.zip, 3);
SELECT z.city, count(*) FROM (SELECT zip, salary FROM hr.employee WHERE salary > 50000) e
JOIN (SELECT zip, city FROM zip_area WHERE population > 100) z ON e.zip = z.zip GROUP BY z.city;

-- ===== a census: one row per person

SELECT region, count(*) FROM census.person GROUP BY region;
SELECT region, sex, bucket(age, 5) AS age, count(*) FROM census.person GROUP BY 1, 2, 3;
SELECT region, percentile_cont(0.5) WITHIN GROUP (ORDER BY income) FROM census.person WHERE age >= 18 GROUP BY region;
SELECT district, count(*) FROM census.person GROUP BY district HAVING count(*) >= 100 ORDER BY district;
SELECT region, count(*) FILTER (WHERE age < 18) AS minors, count(*) FILTER (WHERE age >= 67) AS retired
FROM census.person GROUP BY region;
SELECT (count(*) FILTER (WHERE age < 15) + count(*) FILTER (WHERE age >= 65)) * 100.0
/ count(*) FILTER (WHERE age BETWEEN 15 AND 64) AS dependency_ratio FROM census.person;
SELECT region, sum(income) / count(income) AS mean_income FROM census.person GROUP BY region ORDER BY mean_income;
SELECT sex, count(*) FROM census.person WHERE income > 3 * 12000 GROUP BY sex;
SELECT region, district, count(*) FROM census.person GROUP BY ROLLUP (region, district);
SELECT count(DISTINCT household) FROM census.person;
SELECT avg(income) FROM census.person WHERE region = 'Coast' AND sex = 'F' AND age / 10 = 3;
SELECT region, avg(COALESCE(income, 0)) FROM census.person GROUP BY region;
SELECT width, count(*) FROM (SELECT trunc(income / 5000) AS width FROM census.person) t GROUP BY width;
SELECT CASE WHEN count(*) > 1000 THEN 'large' ELSE 'small' END AS size, region FROM census.person GROUP BY region;
SELECT region, count(*) FROM census.person WHERE region <> 'Islands' GROUP BY region ORDER BY count(*) FETCH FIRST 3 ROWS ONLY;
SELECT max(avg) FROM (SELECT region, avg(income) FROM census.person GROUP BY region) AS t;

-- ===== dp_ aggregates: bounds of the asker, and epsilons of single calls

SELECT dp_count(*), dp_count(zip), dp_count(salary, 0.2) FROM hr.employee;
SELECT discreet.dp_count(*) FROM hr.employee WHERE dept = 'Sales';
SELECT dp_count_distinct(zip), dp_count_distinct(id, 0.1) FROM hr.employee;
SELECT dept, dp_sum(salary, 0, 150000) AS payroll FROM hr.employee GROUP BY dept ORDER BY payroll DESC;
SELECT dept, discreet.dp_avg(salary, 20000, 200000, 0.2) FROM hr.employee GROUP BY dept HAVING dp_count(*) > 10;
SELECT dp_variance(salary, 0, 200000), dp_stddev(salary, 0, 200000) FROM hr.employee;
SELECT gender, dp_median(salary, 0, 200000, 0.5) FROM hr.employee GROUP BY gender;
SELECT dp_quantile(salary, 0.9, 0, 200000), dp_quantile(salary, 0, 0, 200000), dp_quantile(salary, 1, 0, 200000) FROM hr.employee;
SELECT dp_avg(salary / 12, 0, 15000) FILTER (WHERE gender = 'F') FROM hr.employee;
SELECT dp_median(hired, '2000-01-01', '2025-01-01'), dp_avg(dob, DATE '1940-01-01', DATE '2010-12-31') FROM hr.employee;
SELECT dp_sum(household, 0, 10000), dp_median(household, 0, 10000) FROM census.person;
SELECT region, dp_stddev(household, 0, 5000, 0.3), count(*) FROM census.person GROUP BY region;
SELECT round(dp_avg(income, 0, 500000), -2) AS income, dp_sum(age, 0, 120) / dp_count(age) AS age FROM census.person;
SELECT ward, dp_sum(cost, 0, 500), dp_count_distinct(patient_id) FROM clinic.visit GROUP BY ward;
SELECT max(n) FROM (SELECT ward, discreet.dp_count(*) AS n FROM clinic.visit GROUP BY ward) t;
SELECT dp_sum(CASE WHEN sex = 'F' THEN age ELSE 0 END, 0, 120) FROM clinic.patient;
-- params: ["0", "110"]
SELECT dp_avg(age, $1, $2) FROM clinic.patient;
-- params: ["0.5"]
SELECT sex, dp_median(age, 0, 110, $1) FROM clinic.patient GROUP BY sex;

-- ===== voters: (dob, zip, gender) and (region, roll_no) are unique; some, but not all, of a key may be compared by value

SELECT region, count(*) FROM census.voter GROUP BY region;
SELECT gender, count(*), avg(donation) FROM census.voter WHERE zip = '2001' GROUP BY gender;
SELECT count(*) FROM census.voter WHERE gender = 'F' AND zip IN ('2001', '2002', '2003');
SELECT count(*) FROM census.voter WHERE gender = 'F' AND zip = '2001' AND dob >= '1950-01-01';
SELECT count(*) FROM census.voter WHERE gender = 'F' AND zip = '2001' AND dob BETWEEN '1950-01-01' AND '1959-12-31';
SELECT count(*) FROM census.voter WHERE gender <> 'F' AND zip <> '2001' AND extract(year FROM dob) = 1950;
SELECT count(*) FROM census.voter WHERE gender = 'F' AND zip = '2001' AND extract(year FROM dob) = 1950
AND extract(month FROM dob) = 5;
SELECT gender, zip, count(*) FROM census.voter WHERE date_trunc('month', dob) = '1950-05-01' GROUP BY gender, zip;
SELECT zip, gender, extract(decade FROM dob) AS decade, count(*) FROM census.voter GROUP BY 1, 2, 3;
SELECT count(*) FROM census.voter WHERE dob = '1950-05-01';
SELECT count(*) FROM census.voter WHERE dob = '1950-05-01' AND gender = 'F';
SELECT count(*) FROM census.voter WHERE dob = '1950-05-01' AND gender = 'F' AND zip LIKE '20%';
SELECT gender, count(*) FILTER (WHERE zip = '2001') AS here, count(*) FILTER (WHERE dob >= '1990-01-01') AS young
FROM census.voter GROUP BY gender;
SELECT count(*) FILTER (WHERE zip = '2001'), count(*) FILTER (WHERE gender = 'F'), count(*) FILTER (WHERE dob = '1950-05-01')
FROM census.voter;
SELECT region, avg(CASE WHEN voted THEN 1 ELSE 0 END) AS turnout FROM census.voter GROUP BY region;
SELECT party, avg(donation) FROM census.voter WHERE region = 'Coast' GROUP BY party;
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no BETWEEN 100 AND 500;
SELECT bucket(roll_no, 1000) AS page, count(*) FROM census.voter WHERE region IN ('Coast', 'Lakes') GROUP BY page;
SELECT region, roll_no / 1000 AS book, count(*) FROM census.voter GROUP BY region, roll_no / 1000;
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no % 2 = 0;
SELECT count(*) FROM census.voter WHERE region = 'Coast' AND roll_no IS NULL;
SELECT region, count(roll_no), min(roll_no), max(roll_no) FROM census.voter GROUP BY region;
SELECT count(*) FROM census.voter WHERE roll_no = 1;
SELECT CASE WHEN dob < '1945-01-01' THEN 'older' ELSE 'younger' END AS age, gender, zip, count(*)
FROM census.voter GROUP BY 1, 2, 3;
SELECT region, zip, gender, party, voted, count(*) FROM census.voter GROUP BY region, zip, gender, party, voted;
SELECT dob, zip, count(*) FROM census.voter GROUP BY GROUPING SETS ((dob, zip), (dob, gender), (zip, gender));
SELECT count(DISTINCT dob), count(DISTINCT zip || gender) FROM census.voter WHERE region = 'Coast';
SELECT z.city, v.gender, count(*) FROM census.voter v JOIN zip_area z ON z.zip = v.zip GROUP BY z.city, v.gender;
SELECT v.gender, count(*) FROM census.voter v JOIN calendar c ON c.day = v.dob JOIN zip_area z ON z.zip = v.zip
WHERE c.holiday = 'feast' GROUP BY v.gender;
SELECT c.sport, count(*) FROM census.voter v JOIN club c ON c.zip = v.zip AND c.gender = v.gender GROUP BY c.sport;
SELECT p.region, count(*) FROM census.voter v JOIN census.person p ON p.id = v.id
WHERE v.gender = 'F' AND v.zip = '2001' AND p.age = 40 GROUP BY p.region;
WITH women AS (SELECT * FROM census.voter WHERE gender = 'F'), here AS (SELECT zip AS area, donation FROM women)
SELECT area, avg(donation) FROM here GROUP BY area;
SELECT dob = '1950-05-01' AS that_day, count(*) FROM census.voter WHERE gender = 'F' GROUP BY 1;
SELECT avg(donation) FROM (SELECT dob = '1950-05-01' AS day, zip = '2001' AS here, gender = 'F' AS woman, donation
FROM census.voter) v WHERE here AND woman;
SELECT count(*) FROM (SELECT gender FROM census.voter WHERE zip = '2001'
UNION ALL SELECT gender FROM census.voter WHERE zip = '2002') u WHERE gender = 'F';
SELECT count(*) FROM census.voter WHERE registered = dob AND gender = 'F' AND zip = '2001';

-- ===== within one person: groups

SELECT avg(visits) FROM (SELECT patient_id, count(*) AS visits FROM clinic.visit GROUP BY patient_id) v;
SELECT visits, count(*) AS patients FROM (SELECT patient_id, count(*) AS visits FROM clinic.visit GROUP BY 1) v
GROUP BY visits ORDER BY visits;
SELECT count(*) FROM (SELECT patient_id FROM clinic.visit GROUP BY patient_id HAVING count(*) >= 3) v;
WITH spent AS (SELECT patient_id AS who, sum(cost) AS total FROM clinic.visit GROUP BY who)
SELECT avg(total), stddev(total), percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM spent;
SELECT avg(n) FROM (SELECT patient_id, least(count(*), 20) AS n FROM clinic.visit GROUP BY patient_id) v;
SELECT avg(m) FROM (SELECT patient_id, max(cost) AS m FROM clinic.visit GROUP BY patient_id) v WHERE m > 100;
SELECT avg(last - first) FROM (SELECT patient_id, min(day) AS first, max(day) AS last FROM clinic.visit GROUP BY 1) v;
SELECT date_trunc('month', first) AS month, count(*) FROM (
    SELECT patient_id, min(day) AS first FROM clinic.visit GROUP BY patient_id) v GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM (SELECT patient_id FROM clinic.visit GROUP BY patient_id
    HAVING bool_or(ward = 'Surgery') AND NOT bool_or(ward = 'Oncology')) v;
SELECT avg(wards) FROM (SELECT patient_id, count(DISTINCT ward) AS wards FROM clinic.visit GROUP BY patient_id) v;
SELECT ward, avg(n) FROM (SELECT patient_id, ward, count(*) AS n FROM clinic.visit GROUP BY patient_id, ward) v
GROUP BY ward;
SELECT p.sex, avg(v.n) FROM clinic.patient p
JOIN (SELECT patient_id, count(*) AS n FROM clinic.visit GROUP BY patient_id) v ON v.patient_id = p.id GROUP BY p.sex;
SELECT p.sex, avg(coalesce(v.n, 0)) FROM clinic.patient p
LEFT JOIN (SELECT patient_id, count(*) AS n FROM clinic.visit GROUP BY patient_id) v ON v.patient_id = p.id GROUP BY 1;
SELECT sex, count(*) FROM (SELECT p.id, p.sex, count(v.id) AS n FROM clinic.patient p
    LEFT JOIN clinic.visit v ON v.patient_id = p.id GROUP BY p.id) x WHERE n = 0 GROUP BY sex;
SELECT count(*) FROM (SELECT p.id, p.age, sum(v.cost) AS total FROM clinic.patient p
    JOIN clinic.visit v ON v.patient_id = p.id GROUP BY p.id, p.age) x WHERE total > 10 * age;
SELECT bucket(total, 500) AS band, count(*) FROM (
    SELECT patient_id, sum(cost) FILTER (WHERE ward = 'Surgery') AS total FROM clinic.visit GROUP BY patient_id) v
GROUP BY band;
SELECT avg(mean), avg(spread) FROM (SELECT patient_id, avg(cost) AS mean, stddev(cost) AS spread
    FROM clinic.visit GROUP BY patient_id HAVING count(*) > 1) v;
SELECT year, avg(n) FROM (SELECT patient_id, extract(year FROM day) AS year, count(*) AS n FROM clinic.visit
    GROUP BY patient_id, extract(year FROM day)) v GROUP BY year;
SELECT avg(n) FROM (SELECT w.patient_id, count(*) AS n FROM (
    SELECT patient_id, ward, sum(cost) AS s FROM clinic.visit GROUP BY 1, 2) w WHERE w.s > 100 GROUP BY w.patient_id) x;
SELECT sum(n * 2), count(*) FROM (SELECT patient_id, count(*) AS n FROM clinic.visit GROUP BY patient_id) v;
SELECT n > 3 AS often, avg(total / n) FROM (SELECT patient_id, count(*) AS n, sum(cost) AS total
    FROM clinic.visit GROUP BY patient_id) v GROUP BY 1;

-- ===== within one person: distinct rows and sets

SELECT ward, count(*) FROM (SELECT DISTINCT patient_id, ward FROM clinic.visit) v GROUP BY ward;
SELECT count(*) FROM (SELECT DISTINCT patient_id FROM clinic.visit WHERE cost > 100) v;
SELECT count(*) FROM (SELECT patient_id FROM clinic.visit WHERE ward = 'Surgery'
    INTERSECT SELECT patient_id FROM clinic.visit WHERE ward = 'Oncology') v;
SELECT count(*) FROM (SELECT id FROM clinic.patient EXCEPT SELECT patient_id FROM clinic.visit) v;
SELECT count(*) FROM (SELECT id FROM clinic.patient WHERE smoker UNION SELECT patient_id FROM clinic.visit) v;
SELECT ward, count(*) FROM (SELECT patient_id, ward FROM clinic.visit WHERE cost > 100
    EXCEPT SELECT patient_id, ward FROM clinic.visit WHERE cost < 50) v GROUP BY ward;

-- ===== within one person: windows, first rows

SELECT avg(cost) FROM (SELECT cost, row_number() OVER (PARTITION BY patient_id ORDER BY day) AS n
    FROM clinic.visit) v WHERE n = 1;
SELECT ward, count(*) FROM (SELECT DISTINCT ON (patient_id) patient_id, ward FROM clinic.visit
    ORDER BY patient_id, day) v GROUP BY ward;
SELECT avg(gap) FROM (SELECT day - lag(day) OVER (PARTITION BY patient_id ORDER BY day) AS gap FROM clinic.visit) v
WHERE gap BETWEEN 0 AND 365;
SELECT ward, next, count(*) FROM (SELECT ward, lead(ward) OVER (PARTITION BY patient_id ORDER BY day) AS next
    FROM clinic.visit) v GROUP BY ward, next;
SELECT count(*) FROM (SELECT cost, sum(cost) OVER w AS so_far FROM clinic.visit
    WINDOW w AS (PARTITION BY patient_id ORDER BY day)) v WHERE so_far > 500;
SELECT avg(cost) FROM (SELECT cost, avg(cost) OVER (PARTITION BY patient_id ORDER BY day
    ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean FROM clinic.visit) v WHERE cost > mean;
SELECT count(*) FROM (SELECT ward, rank() OVER (PARTITION BY patient_id ORDER BY cost DESC) AS place
    FROM clinic.visit) v WHERE place <= 2 AND ward = 'Surgery';
SELECT sum(x.cost) FROM clinic.patient p CROSS JOIN LATERAL (
    SELECT v.cost FROM clinic.visit v WHERE v.patient_id = p.id ORDER BY v.day DESC LIMIT 2) x;
SELECT p.sex, avg(x.n) FROM clinic.patient p,
    LATERAL (SELECT count(*) AS n FROM clinic.visit v WHERE v.patient_id = p.id) x GROUP BY p.sex;
SELECT x.ward, count(*) FROM clinic.patient p LEFT JOIN LATERAL (
    SELECT v.ward FROM clinic.visit v WHERE v.patient_id = p.id ORDER BY v.day LIMIT 1) x ON true GROUP BY x.ward;

-- ===== within one person: subqueries

SELECT count(*) FROM clinic.patient p WHERE EXISTS (SELECT FROM clinic.visit v WHERE v.patient_id = p.id);
SELECT count(*) FROM clinic.patient p WHERE NOT EXISTS (
    SELECT 1 FROM clinic.visit v WHERE v.patient_id = p.id AND v.cost > 100);
SELECT sex, count(*) FROM clinic.patient WHERE id IN (SELECT patient_id FROM clinic.visit WHERE ward = 'Surgery')
GROUP BY sex;
SELECT count(*) FROM clinic.patient WHERE id NOT IN (SELECT patient_id FROM clinic.visit);
SELECT count(*) FROM clinic.patient WHERE id = ANY (SELECT patient_id FROM clinic.visit
    GROUP BY patient_id HAVING sum(cost) > 500);
SELECT count(*) FROM hr.employee WHERE zip IN (SELECT zip FROM zip_area);
SELECT count(*) FROM hr.employee e WHERE EXISTS (SELECT FROM zip_area z WHERE z.zip = e.zip AND z.population > 1000);
SELECT avg((SELECT count(*) FROM clinic.visit v WHERE v.patient_id = p.id)) FROM clinic.patient p;
SELECT count(*) FROM clinic.patient p WHERE (SELECT sum(v.cost) FROM clinic.visit v WHERE v.patient_id = p.id) > 500;
SELECT count(*) FROM clinic.visit v WHERE v.cost > (SELECT avg(o.cost) FROM clinic.visit o
    WHERE o.patient_id = v.patient_id);
SELECT count(*) FROM clinic.visit v WHERE v.cost >= ALL (SELECT o.cost FROM clinic.visit o
    WHERE o.patient_id = v.patient_id AND o.ward = v.ward);
SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM clinic.visit v WHERE v.patient_id = p.id)) AS seen, count(*)
FROM clinic.patient p;
SELECT (SELECT z.city FROM zip_area z WHERE z.zip = e.zip) AS city, count(*) FROM hr.employee e GROUP BY 1;
SELECT count(*) FROM clinic.visit a JOIN clinic.visit b ON a.patient_id = b.patient_id AND b.day > a.day
WHERE a.ward = 'Emergency' AND b.ward = 'Surgery';

-- ===== joins that keep people apart

SELECT count(*) FROM clinic.patient p RIGHT JOIN clinic.visit v ON p.id = v.patient_id;
SELECT count(p.age), count(v.cost) FROM clinic.patient p FULL JOIN clinic.visit v ON p.id = v.patient_id;
SELECT zip, count(*) FROM hr.employee JOIN zip_area USING (zip) GROUP BY zip;
SELECT city, count(*) FROM hr.employee NATURAL JOIN zip_area GROUP BY city;
SELECT j.city, avg(j.salary) FROM (hr.employee e JOIN zip_area z USING (zip)) AS j GROUP BY j.city;
SELECT count(*) FROM hr.employee e, zip_area z WHERE e.zip = z.zip AND z.population > 1000;
SELECT count(*) FROM hr.employee a JOIN hr.employee b USING (id) JOIN hr.employee c USING (id);
SELECT count(*) FROM clinic.visit a JOIN clinic.visit b ON a.id = b.id;
SELECT avg(LEAST(GREATEST(household, 0), 9)), sum(GREATEST(LEAST(household, 9), 0)) FROM census.person;
SELECT avg(m) FROM (SELECT id, least(greatest(max(household), 0), 9) AS m FROM census.person GROUP BY id) p;

-- ===== a calendar with its empty days

SELECT c.day, count(v.id) FROM calendar c LEFT JOIN clinic.visit v ON v.day = c.day
WHERE c.day BETWEEN '1940-01-01' AND '1940-01-31' GROUP BY c.day ORDER BY c.day;
SELECT z.city, count(e.id), avg(e.salary) FROM zip_area z LEFT JOIN hr.employee e ON e.zip = z.zip AND e.dept = 'Sales'
GROUP BY z.city;
SELECT city, count(*) FILTER (WHERE salary > 50000) FROM hr.employee RIGHT JOIN zip_area USING (zip) GROUP BY city;

-- ===== questions within a question

SELECT count(*) FROM hr.employee WHERE salary > (SELECT avg(salary) FROM hr.employee);
SELECT dept, (SELECT max(salary) FROM hr.employee) FROM hr.employee GROUP BY dept;
SELECT dept, 100.0 * count(*) / (SELECT count(*) FROM hr.employee) AS share FROM hr.employee GROUP BY dept;
SELECT avg(salary) FROM hr.employee WHERE salary < 2 * (SELECT avg(salary) FROM hr.employee);
SELECT sum(salary - (SELECT avg(salary) FROM hr.employee)) FROM hr.employee WHERE dept = 'Sales';
SELECT count(*) FILTER (WHERE salary > (SELECT avg(salary) FROM hr.employee WHERE dept = 'Sales')) FROM hr.employee;
SELECT salary > (SELECT avg(salary) FROM hr.employee) AS rich, count(*) FROM hr.employee GROUP BY 1;
SELECT count(*) FROM clinic.patient
WHERE age > (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM clinic.patient);
SELECT count(*) FROM (SELECT patient_id FROM clinic.visit GROUP BY patient_id
HAVING sum(cost) > (SELECT 3 * avg(cost) FROM clinic.visit)) v;
SELECT dept, count(*) FROM hr.employee GROUP BY dept HAVING count(*) > (SELECT count(*) * 0.1 FROM hr.employee);
SELECT count(*) FROM clinic.patient p WHERE age > (SELECT avg(age) FROM clinic.patient)
AND NOT EXISTS (SELECT FROM clinic.visit v WHERE v.patient_id = p.id);
SELECT avg(x.salary) FROM (SELECT salary FROM hr.employee WHERE salary > (SELECT avg(salary) FROM hr.employee)) x;

-- ===== the order of rows, told by all their columns

SELECT ward, next, count(*) FROM (SELECT ward, lead(ward) OVER (PARTITION BY patient_id ORDER BY day, ward, cost) AS next
    FROM clinic.visit) v GROUP BY ward, next;
SELECT avg(cost) FROM (SELECT cost, avg(cost) OVER (PARTITION BY patient_id ORDER BY day, cost, ward
    ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean FROM clinic.visit) v WHERE cost > mean;
SELECT sum(x.cost) FROM clinic.patient p CROSS JOIN LATERAL (
    SELECT v.cost FROM clinic.visit v WHERE v.patient_id = p.id ORDER BY v.day DESC, v.cost LIMIT 2) x;
SELECT dept, count(*) FROM hr.employee GROUP BY dept ORDER BY count(*) DESC, dept LIMIT 3;

-- ===== rows that a question lists itself

SELECT d.day::date, count(v.id) FROM generate_series(DATE '2025-01-01', DATE '2025-01-31', interval '1 day') AS d(day)
LEFT JOIN clinic.visit v ON v.day = d.day::date GROUP BY 1 ORDER BY 1;
SELECT m::date AS month, count(v.id) AS visits, coalesce(sum(v.cost), 0) AS costs
FROM generate_series(TIMESTAMP '2024-01-01', '2024-12-01', '1 month') m
LEFT JOIN clinic.visit v ON date_trunc('month', v.day) = m GROUP BY m ORDER BY m;
SELECT a, count(p.id) FROM generate_series(0, 100, 10) a LEFT JOIN clinic.patient p ON p.age >= a AND p.age < a + 10
GROUP BY a ORDER BY a;
SELECT a, count(p.id) FROM generate_series(5, 1, -1) a LEFT JOIN clinic.patient p ON p.age = a GROUP BY a ORDER BY a DESC;
SELECT b.name, count(*), avg(p.age) FROM clinic.patient p JOIN (VALUES ('young', 0, 29), ('old', 60, 200)) b(name, low, high)
ON p.age BETWEEN b.low AND b.high GROUP BY b.name ORDER BY b.name;
WITH b(name, low, high) AS (VALUES ('young', 0, 29), ('middle', 30, 59), ('none', 300, 400), ('old', 60, 200))
SELECT b.name, count(p.id) FROM b LEFT JOIN clinic.patient p ON p.age BETWEEN b.low AND b.high GROUP BY b.name ORDER BY 1;
SELECT w.ward, count(v.id) FROM unnest(ARRAY['Surgery', 'Nowhere']) AS w(ward) LEFT JOIN clinic.visit v ON v.ward = w.ward
GROUP BY w.ward ORDER BY w.ward;
SELECT count(*) FROM clinic.visit WHERE ward IN (VALUES ('Surgery'), ('Oncology'));
SELECT count(*) FROM clinic.patient p WHERE EXISTS (
    SELECT FROM (VALUES ('F', 30), ('M', 50)) v(sex, age) WHERE v.sex = p.sex AND p.age > v.age);
SELECT count(*), avg(n) FROM (SELECT v.patient_id, count(*) AS n FROM clinic.visit v
    JOIN (VALUES ('Surgery', 3), ('Oncology', 5)) w(ward, weight) USING (ward) GROUP BY v.patient_id) x;
SELECT sum(v.cost * w.weight) FROM clinic.visit v JOIN (VALUES ('Surgery', 2), ('Oncology', 5)) w(ward, weight) USING (ward);
SELECT count(*) FROM hr.employee, generate_series(1, 10);

-- ===== public rows with several keys, all of whose groups appear

SELECT z.city, z.zip, count(p.id) FROM zip_area z LEFT JOIN clinic.patient p ON p.zip = z.zip GROUP BY z.city, z.zip ORDER BY 1, 2;
SELECT z.city, z.zip, count(p.id) FROM zip_area z LEFT JOIN clinic.patient p ON p.zip = z.zip
GROUP BY ROLLUP (z.city, z.zip) ORDER BY 1, 2;
SELECT c.day, c.holiday, count(v.id) FROM calendar c LEFT JOIN clinic.visit v ON v.day = c.day
WHERE c.day BETWEEN '1942-01-01' AND '1942-02-01' GROUP BY 1, 2 ORDER BY 1;
SELECT g.sex, d::date AS day, count(x.patient_id) FROM unnest(ARRAY['F', 'M']) AS g(sex)
CROSS JOIN generate_series(DATE '2025-03-01', DATE '2025-03-03', '1 day') AS d
LEFT JOIN (SELECT v.patient_id, v.day, p.sex FROM clinic.visit v JOIN clinic.patient p ON p.id = v.patient_id) x
ON x.day = d::date AND x.sex = g.sex GROUP BY 1, 2 ORDER BY 1, 2;

-- ===== moments that are computed keep their bounds

SELECT avg((date_trunc('month', hired)::date - dob) / 365.25) FROM hr.employee;
SELECT avg(date_trunc('week', hired) - date_trunc('year', dob)) FROM hr.employee;
SELECT avg(extract(epoch FROM date_trunc('quarter', hired) - dob) / 86400) FROM hr.employee;
SELECT avg((hired + interval '1 month')::date - hired) FROM hr.employee;
SELECT avg(greatest(hired, DATE '2010-01-01') - dob) FROM hr.employee;
SELECT avg(last - first) FROM (SELECT patient_id, min(day) AS first, max(day) AS last FROM clinic.visit GROUP BY patient_id) v;
SELECT avg(month - first) FROM (SELECT patient_id, date_trunc('month', day)::date AS month,
    first_value(day) OVER (PARTITION BY patient_id ORDER BY day, id) AS first FROM clinic.visit) v WHERE month > first;
SELECT CASE WHEN first >= DATE '2024-01-01' THEN 'new' ELSE 'old' END AS kind, count(*), avg(n)
FROM (SELECT patient_id, min(day) AS first, count(*) AS n FROM clinic.visit GROUP BY patient_id) v GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM clinic.patient p JOIN clinic.visit v ON p.id = v.patient_id WHERE v.day + p.age > '2024-01-01';
SELECT count(*) FROM hr.employee WHERE zip::int > 2000;

-- ===== columns with the schema of their table

SELECT clinic.visit.ward, count(*) FROM clinic.visit GROUP BY clinic.visit.ward ORDER BY clinic.visit.ward;
SELECT avg(n) FROM (SELECT clinic.visit.patient_id, count(*) AS n FROM clinic.visit WHERE clinic.visit.cost > 7
GROUP BY clinic.visit.patient_id) x;
SELECT count(*) FROM clinic.patient WHERE EXISTS (SELECT 1 FROM clinic.visit WHERE patient_id = clinic.patient.id);
SELECT avg(clinic.patient.age) FROM clinic.patient WHERE clinic.patient.id IN (SELECT clinic.visit.patient_id FROM clinic.visit
WHERE clinic.visit.cost > 100);
SELECT count(DISTINCT clinic.patient.id) FROM clinic.patient JOIN clinic.visit ON clinic.visit.patient_id = clinic.patient.id
WHERE clinic.patient.age > 30;
SELECT count(*) FROM (SELECT clinic.visit.* FROM clinic.visit) v WHERE cost > 50;
SELECT avg(hr.visit.minutes) FROM clinic.visit JOIN hr.visit ON hr.visit.ward = clinic.visit.ward WHERE clinic.visit.cost > 50;
SELECT sum(minutes) FROM clinic.visit JOIN hr.visit USING (ward) WHERE hr.visit.minutes > 20 AND clinic.visit.cost > 3;
SELECT count(*) FROM clinic.visit WHERE EXISTS (SELECT 1 FROM hr.visit
WHERE hr.visit.ward = clinic.visit.ward AND hr.visit.minutes > 20);
SELECT count(*) FROM hr.visit, clinic.visit WHERE hr.visit.ward = clinic.visit.ward AND minutes > cost / 10;
SELECT count(*) FROM hr.employee WHERE hr.employee.salary > 1;
