-- A row becomes one version of a memory: what was held true, from when to when, and since when it was held. The key
-- changes, so the table is made anew and the rows move over.
CREATE TABLE memory_versions (
  user_hash TEXT NOT NULL,              -- names the owner's object; every statement is bound to one
  id TEXT NOT NULL,
  version INTEGER NOT NULL,             -- counts the versions of all of this user's memories; never used twice
  user_id TEXT NOT NULL,
  kind TEXT NOT NULL,                   -- fact, episode, procedure, reflection
  status TEXT NOT NULL,                 -- active, or quarantined: kept for review, never recalled
  text TEXT NOT NULL,
  title TEXT,                           -- of a procedure
  subject TEXT,                         -- of a fact, as are the next six
  predicate TEXT,
  object TEXT,
  topic_key TEXT,
  subject_norm TEXT,                    -- the three that make a fact one, as they are compared: case and spaces aside
  predicate_norm TEXT,
  key_norm TEXT,
  scope TEXT,                           -- what the memory belongs to besides its user: a project, an app
  external_id TEXT,                     -- the caller's own id
  tags TEXT NOT NULL DEFAULT '[]',      -- JSON array of strings
  score REAL,                           -- 0 to 1, or unset
  importance REAL,                      -- 0 to 1, or unset
  source TEXT,                          -- JSON object { thread, message, extractor }, or unset
  source_entity TEXT,                   -- of an episode or reflection: who it came from
  context TEXT,                         -- of an episode, as are the next three
  type TEXT,
  intensity REAL,
  appraisal TEXT,                       -- JSON object of numbers, or unset
  valence REAL,                         -- of an episode or reflection, -1 to 1, as are the next two
  arousal REAL,
  dominance REAL,
  trigger_text TEXT,                    -- of a reflection: what gave rise to it
  metadata TEXT,                        -- JSON object, or unset
  dedupe_key TEXT NOT NULL,             -- hash of kind, scope and normalised text
  created_at INTEGER NOT NULL,          -- times are milliseconds since the epoch
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,                   -- alive while now <= expires_at
  valid_from INTEGER NOT NULL,          -- true in the world from then
  valid_to INTEGER,                     -- until before then, as the caller said
  recorded_at INTEGER NOT NULL,         -- held by us from then
  corrected_at INTEGER,                 -- until before then: another version took its place, as it was wrong or incomplete
  superseded_at INTEGER,                -- the world changed: the next version of this fact is true from then
  superseded_by INTEGER,                -- and this is it
  PRIMARY KEY (user_hash, id, version)
);

INSERT INTO memory_versions (user_hash, id, version, user_id, kind, status, text, tags, score, metadata, dedupe_key,
  created_at, updated_at, valid_from, recorded_at)
SELECT user_hash, id, ROW_NUMBER() OVER (PARTITION BY user_hash ORDER BY created_at, id), user_id, kind, 'active', text,
  tags, score, metadata, dedupe_key, created_at, updated_at, created_at, updated_at
FROM memories;

DROP TABLE memories;
ALTER TABLE memory_versions RENAME TO memories;

CREATE INDEX memories_by_age ON memories (user_hash, created_at, version) WHERE corrected_at IS NULL;

-- The number of each user's last write of memories. A write that arrives after a later one is known by it, and does nothing.
CREATE TABLE memory_writes (
  user_hash TEXT PRIMARY KEY,
  seq INTEGER NOT NULL                  -- the time of the write, in milliseconds, or more
);
