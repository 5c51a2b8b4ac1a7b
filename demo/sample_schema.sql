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

CREATE TABLE hr.employee (
    id       int PRIMARY KEY,
    name     text NOT NULL,
    gender   text,
    dob      date,
    zip      text,
    dept     text,
    position text,
    salary   numeric(10,2),
    hired    date
);
COMMENT ON TABLE hr.employee IS 'One row per invented employee of a company, with salary.';

CREATE TABLE clinic.patient (
    id        int PRIMARY KEY,
    name      text,
    zip       text,
    age       int,
    sex       text,
    diagnosis text,
    insurer   text,
    smoker    boolean
);
COMMENT ON TABLE clinic.patient IS 'One row per invented patient of a clinic, with the main diagnosis.';

CREATE TABLE clinic.visit (
    id         bigint PRIMARY KEY,
    patient_id int NOT NULL REFERENCES clinic.patient,
    day        date,
    ward       text,
    cost       numeric(10,2)
);
CREATE INDEX visit_patient_id_idx ON clinic.visit (patient_id);
COMMENT ON TABLE clinic.visit IS 'One row per visit of an invented patient, from none to hundreds for each.';

CREATE TABLE census.person (
    id        int PRIMARY KEY,
    region    text,
    district  text,
    age       int,
    sex       text,
    income    numeric(12,2),
    household int
);
COMMENT ON TABLE census.person IS 'One row per invented inhabitant, with the household that shares a district.';
