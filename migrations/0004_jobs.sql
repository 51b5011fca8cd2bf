-- What goes on over many runs of the cron, and where it is at.
CREATE TABLE jobs (
  name TEXT PRIMARY KEY,
  detail TEXT NOT NULL,                 -- what it was begun for
  position TEXT NOT NULL DEFAULT '',    -- the last that is done
  done INTEGER NOT NULL DEFAULT 0,      -- how many are
  started_at INTEGER NOT NULL,          -- milliseconds since the epoch
  finished_at INTEGER
);

CREATE INDEX threads_by_owner ON threads (user_hash);
