-- Levels: one table, and what each of three clearances sees of it.
\connect - postgres

-- The security officer names the labels, clears people, and makes a table in which every value has a label.
SELECT discreet.mls_define(ARRAY['U', 'C', 'S']);
CREATE ROLE uma LOGIN; CREATE ROLE cleo LOGIN; CREATE ROLE sam LOGIN;
CREATE ROLE tess LOGIN IN ROLE discreet_trusted;
SELECT discreet.mls_clear('uma', 'U'), discreet.mls_clear('cleo', 'C'),
       discreet.mls_clear('sam', 'S'), discreet.mls_clear('tess', 'S');
CREATE TABLE mission (ship text PRIMARY KEY, objective text, destination text);
GRANT SELECT, INSERT, UPDATE, DELETE ON mission TO uma, cleo, sam, tess;
SELECT discreet.mls_table('mission', ARRAY['ship']);

\connect - tess

-- Tess is trusted: she loads three ships and chooses the label of each value.
INSERT INTO mission (ship, ship_label, objective, objective_label, destination, destination_label) VALUES
    ('Atlantis', 'U', 'Exploration', 'U', 'Talos', 'U'),
    ('Voyager',  'U', 'Spying',      'S', 'Mars',  'C'),
    ('Phantom',  'S', 'Spying',      'S', 'Rigel', 'S');

\connect - uma

-- Uma, cleared for U, does not see the Phantom; nor is she told that the name is taken.
SELECT ship, objective, destination, tc FROM mission ORDER BY ship, tc;
INSERT INTO mission (ship, objective, destination) VALUES ('Phantom', 'Supply', 'Venus');

\connect - cleo

-- Cleo, cleared for C, sees where the Voyager flies. She gives the Atlantis another destination, at her label.
UPDATE mission SET destination = 'Vega' WHERE ship = 'Atlantis';
SELECT ship, objective, destination, destination_label, tc FROM mission ORDER BY ship, tc;

\connect - sam

-- Sam, cleared for S, sees all versions: Uma's Phantom is a cover story for his.
SELECT ship, ship_label, objective, objective_label, destination, destination_label, tc
FROM mission ORDER BY ship, ship_label, tc;

\connect - uma

-- Uma sees nothing of what Cleo wrote or what Sam sees, and cannot raise her label.
SELECT ship, objective, destination, tc FROM mission ORDER BY ship, tc;
SET discreet.level = 'S';
\echo SQLSTATE :SQLSTATE
