import { entrySchema } from "../entry-store.ts";
import type { Migration } from "../migrate.ts";
import { answersSchema } from "./answers.ts";

/**
 * The tables of a user's object. `position` places a message among all of the user's messages (see
 * thread-store.ts); `n` names a document of the search index: a message's is its position, a memory's is a
 * number below the first position, never used twice.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    description: "threads, messages, entries, the search index and the intents of memory writes",
    sql: `
      CREATE TABLE owner (id TEXT NOT NULL);

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
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
      );
      CREATE INDEX threads_by_update ON threads (updated_at DESC, n) WHERE deleted = 0;
      CREATE INDEX threads_by_agent ON threads (agent, updated_at DESC, n) WHERE deleted = 0;
      CREATE INDEX threads_by_parent ON threads (parent, fork_seq) WHERE parent IS NOT NULL;
      CREATE TABLE catalogue_changes (
        thread_id TEXT PRIMARY KEY,
        due_at INTEGER NOT NULL,
        version INTEGER NOT NULL DEFAULT 0
      );

      CREATE TABLE messages (
        position INTEGER PRIMARY KEY,
        body BLOB NOT NULL,
        created_at INTEGER NOT NULL
      );
      CREATE TABLE message_pieces (
        position INTEGER NOT NULL,
        piece INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (position, piece)
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
      ${answersSchema}

      CREATE TABLE documents (
        n INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        memory_id TEXT,
        dedupe_key TEXT,
        record TEXT NOT NULL,
        created_at INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX documents_by_memory ON documents (memory_id) WHERE memory_id IS NOT NULL;
      CREATE UNIQUE INDEX documents_by_dedupe_key ON documents (dedupe_key) WHERE dedupe_key IS NOT NULL;
      CREATE TABLE memory_documents (last INTEGER NOT NULL);
      INSERT INTO memory_documents (last) VALUES (0);
      CREATE VIRTUAL TABLE words USING fts5 (
        text, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
      );
      CREATE TABLE vectors (
        n INTEGER PRIMARY KEY,
        model TEXT NOT NULL,
        scale REAL NOT NULL,
        data BLOB NOT NULL
      );
      CREATE TABLE unembedded (n INTEGER PRIMARY KEY, attempts INTEGER NOT NULL DEFAULT 0);
      CREATE INDEX unembedded_by_attempts ON unembedded (attempts, n);
      CREATE INDEX vectors_by_model ON vectors (model);

      CREATE TABLE intents (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_id TEXT NOT NULL,
        intent TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        due_at INTEGER NOT NULL
      );
      CREATE INDEX intents_by_memory ON intents (memory_id);
    `,
  },
];
