-- The record of long-term memories. Columns are added by later migrations; none is ever changed or dropped here.
CREATE TABLE memories (
  user_hash TEXT NOT NULL,              -- names the owner's object; every statement is bound to one
  id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  kind TEXT NOT NULL,                   -- fact, episode, procedure, reflection
  text TEXT NOT NULL,
  tags TEXT NOT NULL DEFAULT '[]',      -- JSON array of strings
  score REAL,                           -- 0 to 1, or unset
  metadata TEXT,                        -- JSON object, or unset
  dedupe_key TEXT NOT NULL,             -- hash of kind and normalised text
  created_at INTEGER NOT NULL,          -- milliseconds since the epoch
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (user_hash, id)
);

CREATE INDEX memories_by_age ON memories (user_hash, created_at, id);
