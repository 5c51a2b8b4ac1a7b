#!/usr/bin/env bash
# A first session, in a database of its own: real psql sessions under real roles, real output.
# usage: demo/first_session.sh CONNECTION_STRING, of a superuser in a cluster that trusts local roles
set -euo pipefail
here=$(dirname "$0")
dsn="$1 dbname=discreet_demo"

quietly() { psql "$@" -XqAt -v ON_ERROR_STOP=1 >/dev/null 2>&1; }
session() {  # role, script
    printf '\n════ %s ════\n\n' "psql, as role $1"
    psql "$dsn user=$1" -X -q --echo-all -P footer=off -f "$2" 2>&1 | sed 's/^psql:[^ ]*: //'
}

quietly "$1" -c 'DROP DATABASE IF EXISTS discreet_demo' -c 'CREATE DATABASE discreet_demo'
quietly "$dsn" <<'SQL'
SET client_min_messages = error;
CREATE EXTENSION discreet CASCADE;
DO $$ BEGIN
    IF to_regrole('hr_team') IS NULL THEN CREATE ROLE hr_team; END IF;
    IF to_regrole('carol') IS NULL THEN CREATE ROLE carol LOGIN; END IF;
    IF to_regrole('ann') IS NULL THEN CREATE ROLE ann LOGIN; END IF;
    IF to_regrole('otto') IS NULL THEN CREATE ROLE otto LOGIN; END IF;
END $$;
GRANT hr_team TO ann;
GRANT discreet_curator TO carol;
GRANT discreet_auditor TO otto;
SQL
python3 "$here/sample_data.py" --size 1 | quietly "$dsn"
quietly "$dsn" -c 'ALTER TABLE hr.employee OWNER TO carol' -c 'ALTER SCHEMA hr OWNER TO carol' \
    -c 'GRANT USAGE ON SCHEMA hr TO hr_team'

session carol "$here/curator.sql"
session ann "$here/analyst.sql"
session otto "$here/auditor.sql"

cat <<EOF

Try it yourself:  make psql      (or psql "\$(make -s dsn) user=NAME")
EOF
