-- What an update of the extension does to objects of users.

-- discreet._outside_update: runs a statement of an upgrade script whose objects and grants are users' own.
CREATE FUNCTION discreet._outside_update(statement text)
RETURNS void
LANGUAGE c
VOLATILE
STRICT
PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'discreet_outside_update';
COMMENT ON FUNCTION discreet._outside_update(text) IS
'Runs a statement of an upgrade script whose objects and grants are users'' own.';
