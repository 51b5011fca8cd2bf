-- Queries of Analytics Engine over the dataset of docs/reference/metrics.md. Nobody ran them in an account.
-- `_sample_interval` is the number of points that a stored one stands for.

-- Calls, errors and times by route.
SELECT blob2 AS route,
  SUM(_sample_interval) AS calls,
  SUM(IF(double8 >= 500, _sample_interval, 0)) AS errors,
  quantileExactWeighted(0.5)(double1, _sample_interval) AS p50,
  quantileExactWeighted(0.95)(double1, _sample_interval) AS p95,
  SUM(double2 * _sample_interval) / SUM(_sample_interval) AS object_ms,
  SUM(double3 * _sample_interval) / SUM(_sample_interval) AS d1_ms,
  SUM(double4 * _sample_interval) / SUM(_sample_interval) AS embedder_ms
FROM cairn
WHERE blob1 = 'call' AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY route ORDER BY calls DESC;

-- Failures by code.
SELECT toStartOfInterval(timestamp, INTERVAL '1' HOUR) AS hour, blob3 AS code, SUM(_sample_interval) AS calls
FROM cairn
WHERE blob1 = 'call' AND blob3 != 'ok' AND timestamp > NOW() - INTERVAL '7' DAY
GROUP BY hour, code ORDER BY hour;

-- The users with the most calls.
SELECT blob4 AS owner, SUM(_sample_interval) AS calls
FROM cairn
WHERE blob1 = 'call' AND blob4 != '' AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY owner ORDER BY calls DESC LIMIT 20;

-- Tokens by model.
SELECT blob2 AS model, SUM(_sample_interval) AS calls,
  SUM(double5 * _sample_interval) AS input_tokens, SUM(double6 * _sample_interval) AS output_tokens
FROM cairn
WHERE blob1 = 'model' AND timestamp > NOW() - INTERVAL '1' DAY
GROUP BY model;

-- Alert on any row, each five minutes: more than one call of a hundred failed.
SELECT SUM(IF(double8 >= 500, _sample_interval, 0)) / SUM(_sample_interval) AS share
FROM cairn
WHERE blob1 = 'call' AND timestamp > NOW() - INTERVAL '15' MINUTE
HAVING share > 0.01;

-- Alert on any row: alarms fail, so that their work piles up.
SELECT blob2 AS chore, SUM(_sample_interval) AS failures
FROM cairn
WHERE blob1 = 'chore' AND timestamp > NOW() - INTERVAL '1' HOUR
GROUP BY chore HAVING failures > 50;

-- Alert on any row: writes stay intents, or were given up.
SELECT blob3 AS outcome, SUM(_sample_interval) AS writes
FROM cairn
WHERE blob1 = 'write' AND timestamp > NOW() - INTERVAL '15' MINUTE
GROUP BY outcome HAVING writes > 10;
