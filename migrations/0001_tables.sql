-- The record of long-term memories. A row is one version of a memory: what was held true, from when to when, and since
-- when it was held.
CREATE TABLE memories (
  user_hash TEXT NOT NULL,              -- names the owner's object; every statement is bound to one
  id TEXT NOT NULL,
  version INTEGER NOT NULL,             -- counts the versions of all of this user's memories; never used twice
  user_id TEXT NOT NULL,
  kind TEXT NOT NULL,                   -- fact, episode, procedure, reflection
  status TEXT NOT NULL,                 -- active; quarantined: kept for review, never recalled; expired: waited too long
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
  attributes TEXT,                      -- JSON object of the fields without a column of their own, or unset
  trust TEXT NOT NULL,                  -- user, operator, model, tool, import
  provenance TEXT,                      -- JSON object { writtenBy, sources, reasons, conflictsWith }, or unset
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
  terms INTEGER NOT NULL DEFAULT -1,    -- Bloom filter of tags, scope, subject and the like; all bits: may match anything
  PRIMARY KEY (user_hash, id, version)
);

-- Lists go on after the id of the last memory, not after its version: a correction makes a new one of these.
CREATE INDEX memories_by_age ON memories (user_hash, created_at, id, terms) WHERE corrected_at IS NULL;

-- Counts what waits for review. No other row is in it, so no other write pays for it.
CREATE INDEX memories_waiting ON memories (status, corrected_at) WHERE status = 'quarantined' AND corrected_at IS NULL;

-- The number of each user's last write of memories: a write that arrives after a later one is known by it, and does nothing.
-- And the fence of an erased user: versions up to `erased_up_to`, and rows of an epoch before this one, are read by nobody
-- and written no more, however late they arrive.
CREATE TABLE memory_writes (
  user_hash TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,                 -- the time of the write, in milliseconds, or more
  erased_up_to INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 0
);

-- The catalogue of all threads of the tenant. The threads themselves are in their users' objects, which keep this
-- up to date: at once when a thread begins, changes or goes, and within an hour when messages are appended.
CREATE TABLE threads (
  id TEXT PRIMARY KEY,
  user_hash TEXT NOT NULL,
  user_id TEXT,                         -- NULL for a thread of nobody
  title TEXT NOT NULL,
  agent TEXT,
  agent_hash INTEGER,                   -- 32 bits: an index of the agent itself would keep bytes of a deleted row
  resource_slug TEXT,
  record_id TEXT,
  metadata TEXT,                        -- JSON object, or unset
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  epoch INTEGER NOT NULL DEFAULT 0      -- how often the user had been erased when this was written
);

CREATE INDEX threads_by_age ON threads (created_at, id);
CREATE INDEX threads_by_user ON threads (user_hash, created_at, id);
CREATE INDEX threads_by_agent ON threads (agent_hash, created_at, id) WHERE agent_hash IS NOT NULL;

-- The catalogue of all users, for who leaves with everybody's memory. A user's object puts itself here with its first write.
CREATE TABLE users (
  user_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  epoch INTEGER NOT NULL DEFAULT 0
);

-- What goes on over many runs of the cron, and where it is at.
CREATE TABLE jobs (
  name TEXT PRIMARY KEY,
  detail TEXT NOT NULL,                 -- what it was begun for
  position TEXT NOT NULL DEFAULT '',    -- the last that is done
  done INTEGER NOT NULL DEFAULT 0,      -- how many are
  started_at INTEGER NOT NULL,          -- milliseconds since the epoch
  finished_at INTEGER
);

-- Tokens that are refused before they expire. Each isolate reads the whole list, which is bounded.
CREATE TABLE revoked_tokens (
  token_id TEXT PRIMARY KEY,            -- the token's jti
  expires_at INTEGER NOT NULL,          -- when the token expires by itself, and this row is of no more use (milliseconds)
  revoked_at INTEGER NOT NULL
);

-- At most one row: tokens that were issued before this time are refused.
CREATE TABLE token_floor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  min_issued_at INTEGER NOT NULL        -- milliseconds since the epoch
);

-- Who did what, to whose memory, when, and how it ended. No contents: no texts, no keys, no user ids.
CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,                  -- milliseconds since the epoch
  action TEXT NOT NULL,                 -- an operation of the API, or what happened to tokens
  outcome TEXT NOT NULL,                -- ok, or the code of the error
  actor TEXT,                           -- hash of the token's user, or * for a token of all; NULL: nobody was known
  token_id TEXT,                        -- the token's jti
  user_hash TEXT,                       -- whose memory, if it was one user's
  request_id TEXT,
  about TEXT,                           -- which token or time was set, or that nothing was to be done (dryRun)
  count INTEGER NOT NULL DEFAULT 1      -- how often: what fails in masses is one row a minute
);

CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_user ON audit (user_hash, at, id) WHERE user_hash IS NOT NULL;
CREATE INDEX audit_by_action ON audit (action, at, id);

-- What was asked to be erased, how far it is, and in the end the signed receipt. Outlives what it tells of: no content is in
-- it, and of the user only the hash.
CREATE TABLE erasures (
  id TEXT PRIMARY KEY,                  -- <user hash>.<uuid v7>
  revision INTEGER NOT NULL,            -- a state that arrives after a later one changes nothing
  state TEXT NOT NULL                   -- JSON: see src/domain/schema/erasure.ts
);

-- The public keys that receipts were signed with, so that a receipt outlives a change of CAIRN_SECRET.
CREATE TABLE receipt_keys (
  kid TEXT PRIMARY KEY,
  jwk TEXT NOT NULL                     -- JSON
);

-- Erasures that are under way, by when they were asked for: the cron wakes the objects of those that take too long.
CREATE INDEX erasures_running ON erasures (state ->> '$.requestedAt', id) WHERE state ->> '$.status' = 'running';

-- What this database was first used as. The Worker compares it with its bindings, and refuses all calls when it differs: with
-- another number of shards, or in another jurisdiction, it would look for what is stored where it is not.
CREATE TABLE deployment (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  shards INTEGER NOT NULL,              -- over how many databases the users are spread
  shard INTEGER NOT NULL,               -- which of them this is, from 0 on; -1: none of them, it keeps what is not a user's
  jurisdiction TEXT NOT NULL            -- of the users' objects; empty: none
);

-- Rules of predicates: how many facts of a subject are true at a time, and what happens when two contradict each other.
CREATE TABLE predicates (
  name TEXT PRIMARY KEY,                -- normalised
  cardinality TEXT NOT NULL,            -- one, many
  policy TEXT NOT NULL,                 -- highestTrust, lastWriter, keepAll, reject
  opposites TEXT NOT NULL DEFAULT '[]'  -- JSON array of normalised predicates
);

-- Lists of layers of a context, which all users can name.
CREATE TABLE context_profiles (
  name TEXT PRIMARY KEY,
  layers TEXT NOT NULL                  -- JSON: see src/domain/schema/context.ts
);

-- How often all users together asked the language model on a day, and the tokens of these calls. Of nobody in particular.
CREATE TABLE tenant_model_usage (
  day INTEGER PRIMARY KEY,              -- days since the epoch, UTC
  calls INTEGER NOT NULL,
  tokens INTEGER NOT NULL
);

-- The tenant's own rules, all of a kind in one row.
CREATE TABLE tenant_settings (
  name TEXT PRIMARY KEY,                -- extraction, retention
  settings TEXT NOT NULL                -- JSON: see src/domain/schema/extraction.ts, retention.ts
);

-- At most one row, while the receiver of the webhook fails: how often in a row, since when, and when the next probe is due.
CREATE TABLE webhook_breaker (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  failures INTEGER NOT NULL,
  since INTEGER NOT NULL,               -- milliseconds since the epoch
  probe_at INTEGER NOT NULL
);

-- Users whose changes wait for the receiver, in the order of their last attempt.
CREATE TABLE webhook_waiting (
  n INTEGER PRIMARY KEY,
  user_hash TEXT NOT NULL UNIQUE
);

-- What people signed in to, and the apps that registered: the records of the library of OAuth, by its keys.
CREATE TABLE sign_ins (
  key TEXT PRIMARY KEY,                 -- client:<id>, transaction:<hash>, grant:<user hash>:<id>, token:<user hash>:<grant>:<hash>
  family TEXT NOT NULL,                 -- what is bounded together: the key without its last part; client:used
  user_hash TEXT,                       -- whose memory a grant or a token opens; NULL for all others
  value TEXT NOT NULL,                  -- the library's: hashes of tokens, and the user's id under a key that a token holds
  metadata TEXT,                        -- of a grant: JSON of the app and the resource
  version INTEGER NOT NULL DEFAULT 1,   -- a write that has seen another one is refused
  created_at INTEGER NOT NULL,          -- milliseconds since the epoch
  expires_at INTEGER NOT NULL
);

CREATE INDEX sign_ins_by_family ON sign_ins (family, created_at, key);
CREATE INDEX sign_ins_by_user ON sign_ins (user_hash, created_at) WHERE user_hash IS NOT NULL;
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);
