-- Margins: the lowest and the highest number that an exact one can be, as an array of two, through the arithmetic around an
-- answer. They see released numbers only. -Infinity and Infinity stand for no limit. NULL: there is no number.

-- discreet._margin_plus: of a sum.
CREATE FUNCTION discreet._margin_plus(a numeric[], b numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ARRAY[a[1] + b[1], a[2] + b[2]] $$;
COMMENT ON FUNCTION discreet._margin_plus(numeric[], numeric[]) IS 'Lowest and highest sum of two numbers with margins.';

-- discreet._margin_minus: of a difference.
CREATE FUNCTION discreet._margin_minus(a numeric[], b numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ARRAY[a[1] - b[2], a[2] - b[1]] $$;
COMMENT ON FUNCTION discreet._margin_minus(numeric[], numeric[]) IS 'Lowest and highest difference of two numbers with margins.';

-- discreet._margin_times: of a product.
CREATE FUNCTION discreet._margin_times(a numeric[], b numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN (a[1] = 0 AND a[2] = 0) OR (b[1] = 0 AND b[2] = 0) THEN ARRAY[0, 0]::numeric[]
        WHEN '-Infinity' IN (a[1], b[1]) OR 'Infinity' IN (a[2], b[2]) THEN ARRAY['-Infinity', 'Infinity']::numeric[]
        ELSE ARRAY[
            LEAST(a[1] * b[1], a[1] * b[2], a[2] * b[1], a[2] * b[2]),
            GREATEST(a[1] * b[1], a[1] * b[2], a[2] * b[1], a[2] * b[2])]
        END
$$;
COMMENT ON FUNCTION discreet._margin_times(numeric[], numeric[]) IS 'Lowest and highest product of two numbers with margins.';

-- discreet._margin_over: of a quotient; there is no limit where the divisor may be 0. Whole numbers divide towards 0.
CREATE FUNCTION discreet._margin_over(a numeric[], b numeric[], whole boolean)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN b[1] <= 0 AND b[2] >= 0 OR a[1] = '-Infinity' OR a[2] = 'Infinity' THEN ARRAY['-Infinity', 'Infinity']::numeric[]
        WHEN whole THEN ARRAY[
            LEAST(trunc(a[1] / b[1]), trunc(a[1] / b[2]), trunc(a[2] / b[1]), trunc(a[2] / b[2])),
            GREATEST(trunc(a[1] / b[1]), trunc(a[1] / b[2]), trunc(a[2] / b[1]), trunc(a[2] / b[2]))]
        ELSE ARRAY[
            LEAST(a[1] / b[1], a[1] / b[2], a[2] / b[1], a[2] / b[2]),
            GREATEST(a[1] / b[1], a[1] / b[2], a[2] / b[1], a[2] / b[2])]
        END
$$;
COMMENT ON FUNCTION discreet._margin_over(numeric[], numeric[], boolean) IS
    'Lowest and highest quotient of two numbers with margins.';

-- discreet._margin_abs: of an absolute value.
CREATE FUNCTION discreet._margin_abs(a numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY[CASE WHEN a[1] <= 0 AND a[2] >= 0 THEN 0 ELSE LEAST(abs(a[1]), abs(a[2])) END, GREATEST(abs(a[1]), abs(a[2]))]
$$;
COMMENT ON FUNCTION discreet._margin_abs(numeric[]) IS 'Lowest and highest absolute value of a number with margins.';

-- discreet._margin_sqrt: of a square root; below 0 there is none.
CREATE FUNCTION discreet._margin_sqrt(a numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ARRAY[sqrt(GREATEST(a[1], 0)), sqrt(GREATEST(a[2], 0))] $$;
COMMENT ON FUNCTION discreet._margin_sqrt(numeric[]) IS 'Lowest and highest square root of a number with margins.';

-- discreet._margin_exp: of e to that power. Beyond 700, where numerics take long and doubles end, there is no limit.
CREATE FUNCTION discreet._margin_exp(a numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY[
        CASE WHEN a[1] < -700 THEN 0 ELSE exp(LEAST(a[1], 700)) END,
        CASE WHEN a[2] > 700 THEN 'Infinity' ELSE exp(GREATEST(a[2], -700)) END]
$$;
COMMENT ON FUNCTION discreet._margin_exp(numeric[]) IS 'Lowest and highest exponential of a number with margins.';

-- discreet._margin_ln: of a natural logarithm; of 0 and below there is none.
CREATE FUNCTION discreet._margin_ln(a numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY[
        CASE WHEN a[1] <= 0 THEN '-Infinity' ELSE ln(a[1]) END, CASE WHEN a[2] <= 0 THEN 'Infinity' ELSE ln(a[2]) END]
$$;
COMMENT ON FUNCTION discreet._margin_ln(numeric[]) IS 'Lowest and highest natural logarithm of a number with margins.';

-- discreet._margin_log: of a logarithm to base 10; of 0 and below there is none.
CREATE FUNCTION discreet._margin_log(a numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY[
        CASE WHEN a[1] <= 0 THEN '-Infinity' ELSE log(a[1]) END, CASE WHEN a[2] <= 0 THEN 'Infinity' ELSE log(a[2]) END]
$$;
COMMENT ON FUNCTION discreet._margin_log(numeric[]) IS 'Lowest and highest decimal logarithm of a number with margins.';

-- discreet._margin_sign: of a sign.
CREATE FUNCTION discreet._margin_sign(a numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY[sign(a[1]), sign(a[2])]
$$;
COMMENT ON FUNCTION discreet._margin_sign(numeric[]) IS 'Lowest and highest sign of a number with margins.';

-- discreet._margin_mod: of the remainder after division by an exact number. While the quotient is the same whole number, the
-- remainder grows with what is divided.
CREATE FUNCTION discreet._margin_mod(a numeric[], divisor numeric)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN divisor = 0 THEN NULL
        WHEN a[1] > '-Infinity' AND a[2] < 'Infinity' AND div(a[1], divisor) = div(a[2], divisor)
            THEN ARRAY[mod(a[1], divisor), mod(a[2], divisor)]
        ELSE ARRAY[
            CASE WHEN a[1] < 0 THEN -abs(divisor) ELSE 0 END, CASE WHEN a[2] > 0 THEN abs(divisor) ELSE 0 END]
        END
$$;
COMMENT ON FUNCTION discreet._margin_mod(numeric[], numeric) IS 'Lowest and highest remainder of a number with margins.';

-- discreet._margin_power: of a power with an exact exponent. Numbers below 0 have whole powers only. There is no limit where the
-- number may be 0 and the exponent is below 0, nor for numbers so large that the power takes long.
CREATE FUNCTION discreet._margin_power(a numeric[], exponent numeric)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN a[1] < -1e30 OR a[2] > 1e30 OR a[2] < 0 AND exponent <> trunc(exponent)
            OR exponent < 0 AND a[1] <= 0 AND a[2] >= 0 THEN ARRAY['-Infinity', 'Infinity']::numeric[]
        WHEN exponent <> trunc(exponent) THEN ARRAY[
            LEAST(power(GREATEST(a[1], 0), exponent), power(a[2], exponent)),
            GREATEST(power(GREATEST(a[1], 0), exponent), power(a[2], exponent))]
        WHEN mod(exponent, 2) = 0 AND a[1] <= 0 AND a[2] >= 0 THEN ARRAY[
            CASE WHEN exponent = 0 THEN 1 ELSE 0 END, GREATEST(power(a[1], exponent), power(a[2], exponent))]
        ELSE ARRAY[
            LEAST(power(a[1], exponent), power(a[2], exponent)), GREATEST(power(a[1], exponent), power(a[2], exponent))]
        END
$$;
COMMENT ON FUNCTION discreet._margin_power(numeric[], numeric) IS 'Lowest and highest power of a number with margins.';

-- discreet._margin_ntile: of the part of so many rows in which the row at this place is, among so many parts; the first ones have
-- a row more.
CREATE FUNCTION discreet._margin_ntile(place numeric[], rows bigint, parts numeric)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY[min(part), max(part)]
    FROM (
        SELECT CASE
            WHEN number <= larger * (size + 1) THEN ceil(number / (size + 1))
            ELSE larger + ceil((number - larger * (size + 1)) / size)
            END AS part
        FROM (SELECT div(rows, parts) AS size, mod(rows, parts) AS larger) AS sizes, unnest(place) AS number
    ) AS found
$$;
COMMENT ON FUNCTION discreet._margin_ntile(numeric[], bigint, numeric) IS
    'Lowest and highest part in which a row with margins of its place is.';

-- discreet._margin_rounded: of a number rounded, in whatever way, to so many digits after the point.
CREATE FUNCTION discreet._margin_rounded(a numeric[], digits int)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ARRAY[floor(a[1] * 10::numeric ^ digits) * 10::numeric ^ -digits, ceil(a[2] * 10::numeric ^ digits) * 10::numeric ^ -digits] $$;
COMMENT ON FUNCTION discreet._margin_rounded(numeric[], int) IS 'Lowest and highest result of rounding a number with margins.';

-- discreet._margin_extreme: of GREATEST or LEAST, which leave out NULL.
CREATE FUNCTION discreet._margin_extreme(a numeric[], b numeric[], largest boolean)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN a IS NULL THEN b
        WHEN b IS NULL THEN a
        WHEN largest THEN ARRAY[GREATEST(a[1], b[1]), GREATEST(a[2], b[2])]
        ELSE ARRAY[LEAST(a[1], b[1]), LEAST(a[2], b[2])]
        END
$$;
COMMENT ON FUNCTION discreet._margin_extreme(numeric[], numeric[], boolean) IS
    'Lowest and highest extreme of two numbers with margins.';

-- discreet._margin_either: of a number that is one of two, where noise decides which.
CREATE FUNCTION discreet._margin_either(a numeric[], b numeric[])
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE WHEN a IS NULL THEN b WHEN b IS NULL THEN a ELSE ARRAY[LEAST(a[1], b[1]), GREATEST(a[2], b[2])] END $$;
COMMENT ON FUNCTION discreet._margin_either(numeric[], numeric[]) IS 'Lowest and highest of two numbers with margins.';

-- discreet._margin_exact: of a number without noise.
CREATE FUNCTION discreet._margin_exact(number numeric)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ARRAY[number, number] $$;
COMMENT ON FUNCTION discreet._margin_exact(numeric) IS 'A number without noise, with margins.';

-- discreet._margin_sum: of a sum over rows with noise of their own. `lower` and `upper` are the sums of the margins of all rows,
-- `total` that of the numbers before they are shown; `squares` and `scale` say how large the noise is (theorem in gate/margins.py), `chances`
-- is ln(2 / probability to miss).
CREATE FUNCTION discreet._margin_sum(
    lower numeric, upper numeric, total numeric, squares numeric, scale numeric, chances numeric)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN lower IS NULL OR upper IS NULL THEN NULL
        WHEN total IS NULL OR squares IS NULL OR scale IS NULL OR upper - lower <= 2 * width THEN ARRAY[lower, upper]
        ELSE ARRAY[total - width, total + width]
        END
    FROM (
        SELECT CASE
            WHEN squares >= 3 * chances * scale ^ 2 THEN sqrt(16 * squares * chances / 3)
            WHEN scale > 0 THEN 2 * scale * chances + 2 * squares / (3 * scale)
            ELSE 0
            END AS width
    ) AS found
$$;
COMMENT ON FUNCTION discreet._margin_sum(numeric, numeric, numeric, numeric, numeric, numeric) IS
    'Lowest and highest sum over rows with noise of their own.';

-- discreet._margin_rank: of a rank among rows; `lowest` and `highest` are the ends of all rows in ascending order, `others` is the
-- number of rows without a number, which PostgreSQL puts first or last.
CREATE FUNCTION discreet._margin_rank(own numeric[], lowest numeric[], highest numeric[], others bigint, descending boolean)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
    -- a little less than the own lower end: rows whose upper end is below it come before, or after, in any case
    SELECT CASE
        WHEN descending THEN ARRAY[
            1 + cardinality(lowest) - width_bucket(own[2], lowest),
            cardinality(highest) - width_bucket(own[1] - 1e-30, highest) + others]
        ELSE ARRAY[1 + width_bucket(own[1] - 1e-30, highest), width_bucket(own[2], lowest) + others]
        END::numeric[]
$$;
COMMENT ON FUNCTION discreet._margin_rank(numeric[], numeric[], numeric[], bigint, boolean) IS
    'Lowest and highest rank of a number with margins among others.';

-- discreet._margin: of two ends.
CREATE FUNCTION discreet._margin(lower numeric, upper numeric)
RETURNS numeric[]
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ARRAY[lower, upper] $$;
COMMENT ON FUNCTION discreet._margin(numeric, numeric) IS 'Margins from their ends.';

-- discreet._margin_part: one of the numbers that say how exact a released one is.
CREATE FUNCTION discreet._margin_part(margin numeric[], place int)
RETURNS numeric
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT margin[place] $$;
COMMENT ON FUNCTION discreet._margin_part(numeric[], int) IS 'One of the numbers that say how exact a released one is.';

-- discreet._margin_error: the most that a number is away from those within its margins.
CREATE FUNCTION discreet._margin_error(number numeric, margin numeric[])
RETURNS numeric
LANGUAGE sql
IMMUTABLE
STRICT
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE WHEN number = 'NaN' THEN 'Infinity' ELSE GREATEST(margin[2] - number, number - margin[1], 0) END $$;
COMMENT ON FUNCTION discreet._margin_error(numeric, numeric[]) IS
    'The most that a number is away from those within its margins.';
