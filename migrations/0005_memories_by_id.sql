-- Lists go on after the id of the last memory, not after its version: a correction makes a new one of these.
DROP INDEX memories_by_age;
CREATE INDEX memories_by_age ON memories (user_hash, created_at, id) WHERE corrected_at IS NULL;
