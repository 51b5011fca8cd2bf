import { entrySchema } from "../storage/entry-store.ts";
import { failuresSchema } from "../storage/failures.ts";
import type { Migration } from "../storage/migrate.ts";
import { idempotencySchema } from "../storage/idempotency-store.ts";

export const vectorOutboxSchema = `
  CREATE TABLE vector_outbox (
    model TEXT NOT NULL,
    n INTEGER NOT NULL,
    wanted INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'send',
    may_be_there INTEGER NOT NULL,
    sent_at INTEGER,
    settles_at INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    resent INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (model, n)
  ) WITHOUT ROWID;
  CREATE INDEX vector_outbox_by_due ON vector_outbox (due_at);
  CREATE TABLE vector_outbox_models (model TEXT PRIMARY KEY) WITHOUT ROWID;
`;

/**
 * The tables of a user's object. `position` places a message among all of the user's messages (see
 * thread-store.ts); `n` names a document of the search index: a message's is its position, a memory's is a
 * number below the first position, never used twice.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    description: "all tables of a user's object",
    sql: `
      CREATE TABLE owner (id TEXT NOT NULL, hash TEXT, due_at INTEGER);
      CREATE TABLE erasure_epoch (epoch INTEGER NOT NULL, erased_up_to INTEGER NOT NULL);
      INSERT INTO erasure_epoch (epoch, erased_up_to) VALUES (0, 0);

      -- speakers: JSON, the names of its users; null if no user wrote in it. recalls: JSON, of the last day, which appends took along.
      CREATE TABLE threads (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        agent TEXT,
        resource_slug TEXT,
        record_id TEXT,
        metadata TEXT,
        length INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        parent INTEGER,
        fork_seq INTEGER NOT NULL DEFAULT 0,
        forked_from TEXT,
        deleted INTEGER NOT NULL DEFAULT 0,
        importing INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        indexing TEXT,
        retention TEXT,
        rule_at INTEGER,
        change INTEGER NOT NULL DEFAULT 0,
        speakers TEXT,
        recalls TEXT
      );
      CREATE INDEX threads_by_agent ON threads (agent, updated_at DESC, n) WHERE deleted = 0;
      CREATE INDEX threads_by_parent ON threads (parent, fork_seq) WHERE parent IS NOT NULL;
      CREATE INDEX threads_by_rule ON threads (n) WHERE retention IS NOT NULL;
      CREATE TABLE catalogue_changes (
        thread_id TEXT PRIMARY KEY,
        due_at INTEGER NOT NULL,
        version INTEGER NOT NULL DEFAULT 0
      ) WITHOUT ROWID;
      -- Writes of the catalogue that may still land. threads: JSON.
      CREATE TABLE catalogue_attempts (id TEXT PRIMARY KEY, lands_until INTEGER NOT NULL, threads TEXT NOT NULL) WITHOUT ROWID;

      -- document: of a long message, what recall reads instead of the body, which comes last in the row. role: null if it has no words.
      -- standing: 2 if its user gives a standing instruction in it, 1 if a preference alone; passages: where, as JSON.
      -- trust: of who appended it; null for a person. appended_at: set if created_at was ahead of it.
      CREATE TABLE messages (
        position INTEGER PRIMARY KEY,
        created_at INTEGER NOT NULL,
        role TEXT,
        standing INTEGER,
        passages TEXT,
        trust TEXT,
        appended_at INTEGER,
        document TEXT,
        body BLOB NOT NULL
      );
      CREATE INDEX messages_by_time ON messages (created_at) WHERE role IS NOT NULL;
      CREATE INDEX messages_without_words ON messages (created_at) WHERE role IS NULL;
      CREATE INDEX messages_standing ON messages (standing, created_at) WHERE standing IS NOT NULL;
      CREATE TABLE message_parts (
        position INTEGER NOT NULL,
        part INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (position, part)
      );
      CREATE TABLE hidden_messages (
        thread INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (thread, seq)
      ) WITHOUT ROWID;
      CREATE INDEX hidden_by_position ON hidden_messages (position);
      CREATE TABLE compactions (
        thread INTEGER NOT NULL,
        id TEXT NOT NULL,
        from_seq INTEGER NOT NULL,
        to_seq INTEGER NOT NULL,
        summary BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (thread, id)
      ) WITHOUT ROWID;
      -- Holds all but the summary, which may be 1 MiB: what is shown is chosen, and a page is found, without reading any.
      CREATE INDEX compactions_by_range ON compactions (thread, from_seq, id, to_seq, created_at);

      ${entrySchema}
      ${idempotencySchema}
      ${failuresSchema}

      CREATE VIRTUAL TABLE words USING fts5 (
        text, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
      );
      -- Reads the terms of words. It stores nothing.
      CREATE VIRTUAL TABLE word_terms USING fts5vocab (words, row);
      -- model, vector: null if the text has no vector. pieces: null until they are cut.
      CREATE TABLE vectors (
        n INTEGER PRIMARY KEY,
        model INTEGER,
        vector BLOB,
        pieces BLOB
      );
      CREATE INDEX vectors_without_pieces ON vectors (n) WHERE pieces IS NULL;
      CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE unembedded (n INTEGER PRIMARY KEY, attempts INTEGER NOT NULL DEFAULT 0);
      CREATE INDEX unembedded_by_attempts ON unembedded (attempts, n) WHERE attempts > 0;

      CREATE TABLE memories (
        user_hash TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER PRIMARY KEY,
        user_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        status TEXT NOT NULL,
        text TEXT NOT NULL,
        title TEXT,
        subject TEXT,
        predicate TEXT,
        object TEXT,
        topic_key TEXT,
        subject_norm TEXT,
        predicate_norm TEXT,
        key_norm TEXT,
        scope TEXT,
        external_id TEXT,
        tags TEXT NOT NULL,
        score REAL,
        importance REAL,
        source TEXT,
        attributes TEXT,
        trust TEXT NOT NULL,
        provenance TEXT,
        metadata TEXT,
        dedupe_key TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        expires_at INTEGER,
        valid_from INTEGER NOT NULL,
        valid_to INTEGER,
        recorded_at INTEGER NOT NULL,
        corrected_at INTEGER,
        superseded_at INTEGER,
        superseded_by INTEGER,
        -- Of a triple: the beginning of its object, as objects are compared. D1 has no such column.
        thing TEXT
      );
      CREATE INDEX memories_by_id ON memories (id, version);
      CREATE INDEX memories_by_kind ON memories (kind, updated_at);
      CREATE INDEX memories_by_scope ON memories (scope) WHERE scope IS NOT NULL;
      CREATE INDEX memories_by_text ON memories (dedupe_key) WHERE corrected_at IS NULL;
      CREATE INDEX memories_by_external_id ON memories (external_id) WHERE external_id IS NOT NULL;
      CREATE INDEX memories_by_expiry ON memories (expires_at)
        WHERE expires_at IS NOT NULL AND corrected_at IS NULL AND superseded_at IS NULL;
      CREATE INDEX memories_guarded ON memories (version) WHERE (corrected_at IS NOT NULL OR superseded_at IS NOT NULL
        OR valid_to IS NOT NULL OR expires_at IS NOT NULL OR status <> 'active' OR valid_from > recorded_at);
      CREATE INDEX memories_by_key ON memories (key_norm, version) WHERE key_norm IS NOT NULL;
      CREATE INDEX memories_by_triple ON memories (subject_norm, predicate_norm, version)
        WHERE subject_norm IS NOT NULL;
      CREATE INDEX memories_by_thing ON memories (subject_norm, thing) WHERE thing IS NOT NULL AND corrected_at IS NULL;
      CREATE INDEX memories_by_successor ON memories (superseded_by)
        WHERE superseded_by IS NOT NULL AND corrected_at IS NULL;
      CREATE INDEX memories_by_entry ON memories (metadata ->> '$.cairnEntry')
        WHERE (metadata ->> '$.cairnEntry') IS NOT NULL;
      CREATE INDEX memories_reviewed ON memories (status, recorded_at, expires_at)
        WHERE status <> 'active' AND corrected_at IS NULL;
      CREATE INDEX memories_by_former_id ON memories (provenance ->> '$.waitedAs')
        WHERE (provenance ->> '$.waitedAs') IS NOT NULL;
      CREATE TABLE memory_tags (
        tag TEXT NOT NULL,
        version INTEGER NOT NULL,
        PRIMARY KEY (tag, version)
      ) WITHOUT ROWID;
      -- Tags that are overwritten before a delete are no JSON.
      CREATE TRIGGER memory_tagged AFTER INSERT ON memories WHEN NEW.tags <> '[]' BEGIN
        INSERT OR IGNORE INTO memory_tags SELECT value, NEW.version FROM json_each(NEW.tags);
      END;
      CREATE TRIGGER memory_retagged AFTER UPDATE OF tags ON memories WHEN OLD.tags <> NEW.tags BEGIN
        DELETE FROM memory_tags WHERE version = OLD.version AND tag IN (
          SELECT value FROM json_each(iif(json_valid(OLD.tags), OLD.tags, '[]')));
        INSERT OR IGNORE INTO memory_tags
          SELECT value, NEW.version FROM json_each(iif(json_valid(NEW.tags), NEW.tags, '[]'));
      END;
      CREATE TRIGGER memory_untagged AFTER DELETE ON memories WHEN json_valid(OLD.tags) AND OLD.tags <> '[]' BEGIN
        DELETE FROM memory_tags WHERE version = OLD.version AND tag IN (SELECT value FROM json_each(OLD.tags));
      END;
      CREATE INDEX memories_important ON memories (kind, importance)
        WHERE importance >= 0.7 AND corrected_at IS NULL AND superseded_at IS NULL;
      CREATE TABLE memory_clock (owner TEXT, last_version INTEGER NOT NULL, last_write INTEGER NOT NULL);
      INSERT INTO memory_clock (last_version, last_write) VALUES (0, 0);

      -- An intent is one row, or several if its versions exceed one: the later ones have only n and put.
      CREATE TABLE intents (
        n INTEGER NOT NULL,
        put TEXT NOT NULL,
        owner TEXT,
        forgotten TEXT,
        forgets_all INTEGER,
        answer TEXT,
        attempts INTEGER,
        due_at INTEGER
      );

      CREATE TABLE answer_memories (
        memory_id TEXT NOT NULL,
        key TEXT NOT NULL,
        PRIMARY KEY (memory_id, key)
      ) WITHOUT ROWID;

      ${vectorOutboxSchema}
      CREATE TABLE index_state (model TEXT);
      INSERT INTO index_state (model) VALUES (NULL);
      CREATE TABLE reindex (
        owner TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        finished_at INTEGER,
        after_id TEXT NOT NULL DEFAULT '',
        after_version INTEGER NOT NULL DEFAULT 0,
        done INTEGER NOT NULL DEFAULT 0,
        due_at INTEGER
      );

      CREATE TABLE message_copies (
        model TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        ended INTEGER NOT NULL DEFAULT 0
      ) WITHOUT ROWID;

      CREATE TABLE erasures (
        id TEXT PRIMARY KEY,
        erased TEXT NOT NULL,
        state TEXT NOT NULL,
        fenced INTEGER NOT NULL DEFAULT 0,
        revision INTEGER NOT NULL DEFAULT 1,
        attempts INTEGER NOT NULL DEFAULT 0,
        due_at INTEGER NOT NULL,
        merged_in INTEGER,
        overwritten_in INTEGER
      );
      CREATE TABLE erasing_versions (
        erasure TEXT NOT NULL,
        n INTEGER NOT NULL,
        PRIMARY KEY (erasure, n)
      ) WITHOUT ROWID;
      -- The triggers count in the transaction of each change: counting later would read all rows.
      CREATE TABLE entry_count (n INTEGER NOT NULL);
      INSERT INTO entry_count (n) VALUES (0);
      CREATE TRIGGER entry_came AFTER INSERT ON entries BEGIN
        UPDATE entry_count SET n = n + 1;
      END;
      CREATE TRIGGER entry_went AFTER DELETE ON entries BEGIN
        UPDATE entry_count SET n = n - 1;
      END;
      -- What the blocks of prompts show, by its places. thread: 0 for none. name: of the stable block, a turn or a run.
      CREATE TABLE context_blocks (
        thread INTEGER NOT NULL,
        name TEXT NOT NULL,
        body TEXT NOT NULL,
        used_at INTEGER NOT NULL,
        expires_at INTEGER,
        PRIMARY KEY (thread, name)
      ) WITHOUT ROWID;
      CREATE INDEX context_blocks_by_expiry ON context_blocks (expires_at) WHERE expires_at IS NOT NULL;
      -- Values of entries that a block shows.
      CREATE TABLE context_entries (
        entry TEXT NOT NULL,
        version TEXT NOT NULL,
        thread INTEGER NOT NULL,
        text TEXT NOT NULL,
        expires_at INTEGER,
        PRIMARY KEY (entry, version, thread)
      ) WITHOUT ROWID;
      CREATE TABLE context_profiles (name TEXT PRIMARY KEY, layers TEXT NOT NULL) WITHOUT ROWID;
      -- A block whose entry is gone has an empty key in its place, which is of no entry. Thread 0: snapshots.
      CREATE TRIGGER entry_left_context AFTER DELETE ON entries BEGIN
        UPDATE context_blocks SET body = replace(body, '"key":' || json_quote(OLD.key) || ',', '"key":"",')
          WHERE EXISTS (SELECT 1 FROM context_entries WHERE entry = OLD.key)
            AND thread IN (SELECT 0 UNION ALL SELECT thread FROM context_entries WHERE entry = OLD.key)
            AND instr(body, '"key":' || json_quote(OLD.key) || ',') > 0;
        DELETE FROM context_entries WHERE entry = OLD.key;
      END;
      CREATE TRIGGER thread_left_context AFTER DELETE ON threads BEGIN
        DELETE FROM context_blocks WHERE thread = OLD.n;
        DELETE FROM context_entries WHERE thread = OLD.n;
      END;
      CREATE TRIGGER thread_left_its_forks AFTER UPDATE OF deleted ON threads WHEN NEW.deleted = 1 BEGIN
        DELETE FROM context_blocks WHERE thread = OLD.n;
        DELETE FROM context_entries WHERE thread = OLD.n;
      END;
      -- kind: memory or thread. ids: JSON, null for all; of an erasure, its id.
      CREATE TABLE removals (
        kind TEXT NOT NULL,
        n INTEGER NOT NULL,
        at INTEGER NOT NULL,
        ids TEXT NOT NULL,
        erasure INTEGER NOT NULL,
        PRIMARY KEY (kind, n)
      ) WITHOUT ROWID;
      -- One row. user_hash: an erased user's receiver is told so, and the owner is gone by then.
      CREATE TABLE webhook_delivery (
        user_hash TEXT NOT NULL,
        version TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        next_at INTEGER NOT NULL
      );
      CREATE TABLE removals_pruned (kind TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
      -- JSON. log: recalls of the last day. counters: numbers by a memory's id.
      CREATE TABLE memory_usage (n INTEGER PRIMARY KEY, folded_at INTEGER NOT NULL, log TEXT NOT NULL, counters TEXT NOT NULL);
      -- due_at: null once it has ended. extracted: memories of the caller's own model, until they are stored.
      CREATE TABLE ingests (
        id TEXT PRIMARY KEY,
        thread INTEGER NOT NULL,
        scope TEXT,
        due_at INTEGER,
        ended_at INTEGER,
        state TEXT NOT NULL,
        extracted TEXT
      ) WITHOUT ROWID;
      -- session: names the conversation. facts, episodes, procedures: each is extracted up to this seq, except in the ranges of
      -- failed, as JSON.
      CREATE TABLE ingested_threads (
        thread INTEGER PRIMARY KEY,
        session TEXT,
        facts INTEGER NOT NULL DEFAULT 0,
        episodes INTEGER NOT NULL DEFAULT 0,
        procedures INTEGER NOT NULL DEFAULT 0,
        failed TEXT
      );
      -- day: since the epoch.
      CREATE TABLE model_usage (
        day INTEGER PRIMARY KEY,
        calls INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL
      );
      CREATE INDEX ingested_threads_by_session ON ingested_threads (session) WHERE session IS NOT NULL;
      CREATE TRIGGER thread_left_ingests AFTER DELETE ON threads BEGIN
        UPDATE ingests SET scope = zeroblob(octet_length(scope)), state = zeroblob(octet_length(state)),
          extracted = zeroblob(octet_length(extracted)) WHERE thread = OLD.n;
        DELETE FROM ingests WHERE thread = OLD.n;
        DELETE FROM ingested_threads WHERE thread = OLD.n;
      END;
      CREATE TRIGGER thread_left_ingests_to_forks AFTER UPDATE OF deleted ON threads WHEN NEW.deleted = 1 BEGIN
        UPDATE ingests SET scope = zeroblob(octet_length(scope)), state = zeroblob(octet_length(state)),
          extracted = zeroblob(octet_length(extracted)) WHERE thread = OLD.n;
        DELETE FROM ingests WHERE thread = OLD.n;
        DELETE FROM ingested_threads WHERE thread = OLD.n;
      END;
      -- One row. JSON: tenant, null until D1 was asked for it; own; noted: deletions that the audit log lacks; last.
      CREATE TABLE retention (tenant TEXT, own TEXT NOT NULL, due_at INTEGER, noted TEXT NOT NULL, last TEXT);
      -- erasure: the erasure that waits for the range; null if its thread was only deleted.
      CREATE TABLE tombstones (
        first INTEGER PRIMARY KEY,
        last INTEGER NOT NULL,
        erasure TEXT
      );
      CREATE INDEX tombstones_by_erasure ON tombstones (erasure) WHERE erasure IS NOT NULL;
      -- Threads that the catalogue was told of, or that are marked as unlisted, before they began.
      CREATE TABLE announced_threads (
        thread_id TEXT PRIMARY KEY,
        marked INTEGER NOT NULL DEFAULT 0,
        due_at INTEGER NOT NULL
      ) WITHOUT ROWID;
      -- merging: a round is under way; rounds: number of rounds that ended.
      CREATE TABLE word_merge (
        due_at INTEGER,
        merging INTEGER NOT NULL DEFAULT 0,
        rounds INTEGER NOT NULL DEFAULT 0
      );
      INSERT INTO word_merge (due_at) VALUES (NULL);
      -- peak: the most bytes in use so far; filled: the round is removing its zeros.
      CREATE TABLE free_pages (
        peak INTEGER NOT NULL,
        filled INTEGER NOT NULL DEFAULT 0,
        rounds INTEGER NOT NULL DEFAULT 0
      );
      INSERT INTO free_pages (peak) VALUES (0);
      CREATE TABLE zeros (bytes BLOB NOT NULL);
    `,
  },
];
