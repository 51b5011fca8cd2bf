-- Erasures that are under way, by when they were asked for: the cron wakes the objects of those that take too long.
CREATE INDEX erasures_running ON erasures (state ->> '$.requestedAt', id) WHERE state ->> '$.status' = 'running';
