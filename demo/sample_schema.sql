-- The sample tables: a company, a clinic and a census, all of them invented.
-- demo/sample_data.py prints this file, inside a transaction, before the rows.

DO $$
DECLARE
    present text;
BEGIN
    SELECT string_agg(name, ', ') INTO present
    FROM unnest(ARRAY['hr.employee', 'clinic.patient', 'clinic.visit', 'census.person']) AS name
    WHERE to_regclass(name) IS NOT NULL;
    IF present IS NOT NULL THEN
        RAISE duplicate_table USING
            MESSAGE = format('sample tables exist already: %s', present),
            HINT = 'To drop them with their rows and make new ones: python3 demo/sample_data.py --replace';
    END IF;
END
$$;

CREATE SCHEMA IF NOT EXISTS hr;
CREATE SCHEMA IF NOT EXISTS clinic;
CREATE SCHEMA IF NOT EXISTS census;

-- with defaults, so that an employee can be added by id and name alone
CREATE TABLE hr.employee (
    id       int PRIMARY KEY,
    name     text NOT NULL,
    gender   text,
    dob      date NOT NULL DEFAULT '1980-01-01',
    zip      text,
    dept     text NOT NULL DEFAULT 'Production',
    position text NOT NULL DEFAULT 'Specialist',
    salary   numeric(10,2) NOT NULL DEFAULT 50000,
    hired    date NOT NULL DEFAULT '2020-01-01'
);
COMMENT ON TABLE hr.employee IS 'One row per invented employee of a company, with salary.';

CREATE TABLE clinic.patient (
    id        int PRIMARY KEY,
    name      text,
    zip       text,
    age       int NOT NULL,
    sex       text NOT NULL,
    diagnosis text NOT NULL,
    insurer   text,
    smoker    boolean
);
COMMENT ON TABLE clinic.patient IS 'One row per invented patient of a clinic, with the main diagnosis.';

CREATE TABLE clinic.visit (
    id         bigint PRIMARY KEY,
    patient_id int NOT NULL REFERENCES clinic.patient,
    day        date NOT NULL,
    ward       text NOT NULL,
    cost       numeric(10,2) NOT NULL
);
CREATE INDEX visit_patient_id_idx ON clinic.visit (patient_id);
COMMENT ON TABLE clinic.visit IS 'One row per visit of an invented patient, from none to hundreds for each.';

CREATE TABLE census.person (
    id        int PRIMARY KEY,
    region    text NOT NULL,
    district  text NOT NULL,
    age       int NOT NULL,
    sex       text NOT NULL,
    income    numeric(12,2),
    household int NOT NULL
);
COMMENT ON TABLE census.person IS 'One row per invented inhabitant, with the household that shares a district.';
