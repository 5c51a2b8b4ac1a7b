-- discreet.set_personal_budget: gives one person another budget than the table's unit_epsilon; what was spent stays spent.
CREATE FUNCTION discreet.set_personal_budget(relation regclass, unit_value text, epsilon numeric)
RETURNS void
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET DateStyle = 'ISO, MDY'
AS $python$
    # @PYTHON_PATH@
    from discreet.server import personal
    return personal.set_personal_budget(plpy, relation, unit_value, epsilon)
$python$;
COMMENT ON FUNCTION discreet.set_personal_budget(regclass, text, numeric) IS
'Gives one person another budget than the unit_epsilon of the table; what was spent stays spent. 0: takes no part in anything.';

-- discreet.personal_status: how many people have how much left, for curators.
CREATE FUNCTION discreet.personal_status(relation regclass)
RETURNS TABLE (left_from numeric, left_below numeric, people bigint)
LANGUAGE discreet_python
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $python$
    # @PYTHON_PATH@
    from discreet.server import personal
    return personal.personal_status(plpy, relation)
$python$;
COMMENT ON FUNCTION discreet.personal_status(regclass) IS
'How many of the people whom questions have met so far have how much left, in tenths of the unit_epsilon of the table.';

-- discreet._set_personal_budget: of the person whom this text names, who gets a number if there is none yet.
CREATE FUNCTION discreet._set_personal_budget(dataset text, unit text, budget int)
RETURNS void
LANGUAGE plpgsql
VOLATILE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plpgsql$
#variable_conflict use_column
DECLARE
    head discreet._personal_ledger := discreet._personal_head($1);
    person int;
BEGIN
    SELECT p.first + u.place - 1 INTO person
    FROM discreet._personal_people p, unnest(discreet._personal_units(p.units)) WITH ORDINALITY AS u(unit, place)
    WHERE p.ledger = head.ledger AND u.unit = $2 COLLATE "C";
    IF person IS NULL THEN
        person := head.people;
        PERFORM discreet._personal_append(head, discreet._personal_list($2));
    END IF;
    INSERT INTO discreet._personal_budget VALUES (head.ledger, person, $3)
    ON CONFLICT (ledger, number) DO UPDATE SET budget = excluded.budget;
END
$plpgsql$;
COMMENT ON FUNCTION discreet._set_personal_budget(text, text, int) IS 'Gives one person a budget.';

-- discreet._personal_left: what each person has left of the budget for a table; only the extension's owner may see it.
CREATE FUNCTION discreet._personal_left(relation regclass)
RETURNS TABLE (unit text, epsilon_left numeric)
LANGUAGE sql
STABLE
STRICT
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sql$
    SELECT known.unit, trim_scale(GREATEST(coalesce(b.budget, trunc(p.unit_epsilon * 100000)) - known.spent, 0) / 100000)
    FROM discreet._protected_table p JOIN discreet._personal_ledger l USING (dataset)
    CROSS JOIN LATERAL ROWS FROM (
        unnest(ARRAY(SELECT u.unit FROM discreet._personal_people o,
                            unnest(discreet._personal_units(o.units)) WITH ORDINALITY AS u(unit, place)
                     WHERE o.ledger = l.ledger ORDER BY o.first, u.place)),
        unnest(discreet._personal_spent(l.ledger, l.applied, l.people))) WITH ORDINALITY AS known(unit, spent, place)
    LEFT JOIN discreet._personal_budget b ON b.ledger = l.ledger AND b.number = known.place - 1
    WHERE p.relation = $1 AND p.policy = 'personal'
$sql$;
COMMENT ON FUNCTION discreet._personal_left(regclass) IS 'What each person has left of the budget for a table.';
