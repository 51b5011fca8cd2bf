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
