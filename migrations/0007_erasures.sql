-- What was asked to be erased, how far it is, and in the end the signed receipt. Outlives what it tells of: no content is in
-- it, and of the user only the hash.
CREATE TABLE erasures (
  id TEXT PRIMARY KEY,                  -- <user hash>.<uuid v7>
  revision INTEGER NOT NULL,            -- a state that arrives after a later one changes nothing
  state TEXT NOT NULL                   -- JSON: see src/schema/erasure.ts
);

-- The public keys that receipts were signed with, so that a receipt outlives a change of CAIRN_SECRET.
CREATE TABLE receipt_keys (
  kid TEXT PRIMARY KEY,
  jwk TEXT NOT NULL                     -- JSON
);

-- The fence of an erased user, beside the number of the last write: versions up to `erased_up_to`, and rows of an epoch
-- before this one, are read by nobody and written no more, however late they arrive.
ALTER TABLE memory_writes ADD COLUMN erased_up_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_writes ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

-- The catalogue of all users, for who leaves with everybody's memory. A user's object puts itself here with its first write.
CREATE TABLE users (
  user_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  epoch INTEGER NOT NULL DEFAULT 0
);
INSERT OR IGNORE INTO users (user_hash, user_id) SELECT user_hash, user_id FROM memories GROUP BY user_hash;
INSERT OR IGNORE INTO users (user_hash, user_id)
  SELECT user_hash, user_id FROM threads WHERE user_id IS NOT NULL GROUP BY user_hash;
