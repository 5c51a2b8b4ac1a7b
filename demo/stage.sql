-- Who plays in the tour, and what is there before it begins. tour.py runs this after the sample data.

CREATE ROLE hr_team;
CREATE ROLE carol LOGIN IN ROLE discreet_curator;
CREATE ROLE ann LOGIN IN ROLE hr_team;
CREATE ROLE eric LOGIN;
CREATE ROLE trudy LOGIN;
CREATE ROLE otto LOGIN IN ROLE discreet_auditor;

ALTER SCHEMA hr OWNER TO carol;
ALTER SCHEMA clinic OWNER TO carol;
ALTER TABLE hr.employee OWNER TO carol;
ALTER TABLE clinic.patient OWNER TO carol;
GRANT USAGE ON SCHEMA hr, clinic TO hr_team, eric, trudy;

SET ROLE carol;

-- the tracker finds the same people behind sums only, and under each policy
CREATE TABLE hr.noisy (LIKE hr.employee INCLUDING ALL);
CREATE TABLE hr.audited (LIKE hr.employee INCLUDING ALL);
CREATE TABLE hr.personal (LIKE hr.employee INCLUDING ALL);
INSERT INTO hr.noisy SELECT * FROM hr.employee;
INSERT INTO hr.audited SELECT * FROM hr.employee;
INSERT INTO hr.personal SELECT * FROM hr.employee;

CREATE FUNCTION hr.total(condition text)
RETURNS numeric
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
AS $$
DECLARE
    people int;
    total numeric;
BEGIN
    EXECUTE 'SELECT count(*), sum(salary) FROM hr.employee WHERE ' || condition INTO people, total;
    IF people < 10 THEN
        RAISE 'fewer than 10 people';
    END IF;
    RETURN total;
END
$$;

-- the same patients, for one budget and for many
CREATE TABLE clinic.one_budget (id int PRIMARY KEY, age int, smoker boolean);
CREATE TABLE clinic.own_budgets (LIKE clinic.one_budget INCLUDING ALL);
INSERT INTO clinic.one_budget SELECT id, age, smoker FROM clinic.patient;
INSERT INTO clinic.own_budgets SELECT id, age, smoker FROM clinic.patient;

-- public knowledge: some of the patients, by name
CREATE TABLE clinic.voter AS SELECT name, age, sex, zip FROM clinic.patient WHERE age >= 18;
RESET ROLE;
