-- discreet._last_answer: what the gate has told of the last answer in this session, to the user who asked.
CREATE FUNCTION discreet._last_answer()
RETURNS jsonb
LANGUAGE c
VOLATILE
PARALLEL RESTRICTED
SECURITY INVOKER
AS 'MODULE_PATHNAME', 'discreet_last_answer';
COMMENT ON FUNCTION discreet._last_answer() IS 'What the gate has told of the last answer in this session.';

-- discreet.last_answer: price, what is left, errors and caveats of the last answer in this session, for tools that hide notices.
CREATE VIEW discreet.last_answer AS
SELECT a.asked_at, a.epsilon, a.delta, a.epsilon_left, a.delta_left, a.from_store, a.columns, a.caveats
FROM (SELECT discreet._last_answer() AS told) AS last,
     LATERAL jsonb_to_record(last.told) AS a(
         asked_at timestamptz, epsilon numeric, delta numeric, epsilon_left numeric, delta_left numeric, from_store boolean,
         columns jsonb, caveats text[])
WHERE last.told IS NOT NULL;
COMMENT ON VIEW discreet.last_answer IS
'Price, what is left, errors and caveats of the last answer in this session; for tools that hide notices.';
