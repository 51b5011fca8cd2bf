// The floor to compare with: everything that was said or remembered in a plain FTS5 table, and the words as they are.
import { DatabaseSync } from "node:sqlite";
import type { Corpus } from "./dataset.ts";

/** Finds the ids of the k best documents for a question. */
export function plainFts5({ sessions, memories }: Corpus): (question: string, k: number) => string[] {
  const database = new DatabaseSync(":memory:");
  database.exec(
    "CREATE VIRTUAL TABLE documents USING fts5 (id UNINDEXED, text, tokenize = 'porter unicode61')",
  );
  const insert = database.prepare("INSERT INTO documents (id, text) VALUES (?, ?)");
  for (const { turns } of sessions)
    for (const { id, speaker, text } of turns) insert.run(id, `${speaker}: ${text}`);
  for (const { id, text } of memories) insert.run(id, text);
  const select = database.prepare("SELECT id FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?");
  return (question, k) => {
    const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    return select.all(words.map((word) => `"${word}"`).join(" OR "), k).map(({ id }) => String(id));
  };
}
