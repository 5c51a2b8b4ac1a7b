-- A clinic: patients, their visits and what was given at them; a domain, enums, a boolean, CHECKs, and a list of insurers.
CREATE SCHEMA clinic;
CREATE DOMAIN clinic.years AS int CHECK (VALUE BETWEEN 0 AND 120);
CREATE TYPE clinic.ward AS ENUM ('surgery', 'children', 'emergency', 'closed');
CREATE TABLE clinic.insurer (code text PRIMARY KEY, label text NOT NULL);
CREATE TABLE clinic.patient (
    id int PRIMARY KEY, name text NOT NULL, phone text, sex text NOT NULL CHECK (sex IN ('f', 'm', 'x')),
    age clinic.years NOT NULL, smoker boolean NOT NULL, insurer text NOT NULL REFERENCES clinic.insurer, weight int);
CREATE TABLE clinic.visit (
    id bigint PRIMARY KEY, patient_id int NOT NULL REFERENCES clinic.patient, ward clinic.ward NOT NULL,
    seen date NOT NULL CHECK (seen >= '2025-01-01' AND seen < '2026-01-01'), notes text,
    cost numeric(8, 2) NOT NULL CHECK (cost >= 0 AND cost <= 2000));
CREATE TABLE clinic.dose (
    id bigint PRIMARY KEY, visit_id bigint NOT NULL REFERENCES clinic.visit, milligrams int CHECK (milligrams BETWEEN 1 AND 500));

INSERT INTO clinic.insurer SELECT code, 'Insurer ' || code FROM unnest('{a,b,c,none}'::text[]) code;
INSERT INTO clinic.patient
SELECT n, 'patient ' || n, '555-' || n, (ARRAY['f', 'm'])[n % 2 + 1], n % 100, n % 5 = 0, (ARRAY['a', 'b', 'c'])[n % 3 + 1],
       50 + n % 40
FROM generate_series(1, 3000) n;
INSERT INTO clinic.visit
SELECT p * 3 + k, p, (ARRAY['surgery', 'children', 'emergency'])[(p + k) % 3 + 1]::clinic.ward,
       date '2025-01-01' + (p + k * 90) % 360, 'came by bus', (p * 7 + k) % 1500
FROM generate_series(1, 3000) p, generate_series(0, 2) k WHERE k <= p % 3;
INSERT INTO clinic.dose SELECT v.id, v.id, 1 + v.id % 500 FROM clinic.visit v;
