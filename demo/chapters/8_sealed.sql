-- Sealed columns: a value that the disk, the backup and the dump do not know.
\connect - carol

-- Carol makes a key. Its secret is stored nowhere; the first one who opens the key gives it.
SELECT discreet.create_key('wages');
SELECT discreet.open_key('wages', 'correct horse battery staple');

-- From now on salaries are encrypted before they are stored.
GRANT SELECT, UPDATE ON hr.noisy TO eric;
SELECT discreet.grant_key('wages', 'eric');
SELECT discreet.seal_column('hr.noisy', 'salary', 'wages');
SELECT left(encode(salary, 'hex'), 40) AS what_the_disk_holds FROM hr.noisy_sealed LIMIT 2;

\connect - eric

-- Eric may read the table, and has not opened the key: he sees everything but salaries, and cannot write them.
SELECT count(*) > 0 AS people, count(salary) AS salaries FROM hr.noisy;
UPDATE hr.noisy SET salary = 1;

-- A wrong secret opens nothing. With the right one his SQL is what it always was.
SELECT discreet.open_key('wages', 'guess');
SELECT discreet.open_key('wages', 'correct horse battery staple');
SELECT count(salary) = count(*) AS all_salaries_are_there FROM hr.noisy;

\connect - postgres

-- A thief with the files moves a salary to another row. Encryption notices.
UPDATE hr.noisy_sealed SET salary = (SELECT salary FROM hr.noisy_sealed ORDER BY ctid DESC LIMIT 1)
WHERE ctid = (SELECT ctid FROM hr.noisy_sealed LIMIT 1);
SELECT discreet.open_key('wages', 'correct horse battery staple');
SELECT sum(salary) FROM hr.noisy;

-- The key has another secret in no time: no salary is written again.
SELECT discreet.rotate_key('wages', 'correct horse battery staple', 'a better one');
