-- Who asked what, at what price; and a log that shows tampering.
SELECT id, role, epsilon, left(regexp_replace(ltrim(question), '\s+', ' ', 'g'), 60) AS question FROM discreet.charges ORDER BY id;
SELECT dataset, charges, intact, finding FROM discreet.verify_log();
