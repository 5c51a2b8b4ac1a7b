-- Who asked what, at what price; and a log that shows tampering.
SELECT id, role, epsilon, split_part(question, E'\n', 1) AS question FROM discreet.charges ORDER BY id;
SELECT dataset, charges, intact, finding FROM discreet.verify_log();
