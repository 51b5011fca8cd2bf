-- What this database was first used as. The Worker compares it with its bindings, and refuses all calls when it differs: with
-- another number of shards, or in another jurisdiction, it would look for what is stored where it is not.
CREATE TABLE deployment (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  shards INTEGER NOT NULL,              -- over how many databases the users are spread
  shard INTEGER NOT NULL,               -- which of them this is, from 0 on; -1: none of them, it keeps what is not a user's
  jurisdiction TEXT NOT NULL            -- of the users' objects; empty: none
);

-- Whoever has data by now has one database, and objects without a jurisdiction.
INSERT INTO deployment (one, shards, shard, jurisdiction)
SELECT 1, 1, 0, '' WHERE EXISTS (SELECT 1 FROM memory_writes) OR EXISTS (SELECT 1 FROM threads) OR EXISTS (SELECT 1 FROM memories);
