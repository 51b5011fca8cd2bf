-- The catalogue of all threads of the tenant. The threads themselves are in their users' objects, which keep this
-- up to date: at once when a thread begins, changes or goes, and within a minute when messages are appended.
CREATE TABLE threads (
  id TEXT PRIMARY KEY,
  user_hash TEXT NOT NULL,
  user_id TEXT,                         -- NULL for a thread of nobody
  title TEXT NOT NULL,
  agent TEXT,
  resource_slug TEXT,
  record_id TEXT,
  metadata TEXT,                        -- JSON object, or unset
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE INDEX threads_by_age ON threads (created_at, id);
CREATE INDEX threads_by_user ON threads (user_hash, created_at, id);
