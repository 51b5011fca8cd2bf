// The floor to compare with: texts in a plain FTS5 table, searched by all words of the question as they are.
import { DatabaseSync } from "node:sqlite";

/** Returns a search for the ids of the k best documents for a question. */
export function plainFts5(
  documents: readonly { id: string; text: string }[],
): (question: string, k: number) => string[] {
  const database = new DatabaseSync(":memory:");
  database.exec(
    "CREATE VIRTUAL TABLE documents USING fts5 (id UNINDEXED, text, tokenize = 'porter unicode61')",
  );
  const insert = database.prepare("INSERT INTO documents (id, text) VALUES (?, ?)");
  for (const { id, text } of documents) insert.run(id, text);
  const select = database.prepare("SELECT id FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?");
  return (question, k) => {
    const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    // FTS5 takes no empty query.
    if (words.length === 0) return [];
    return select.all(words.map((word) => `"${word}"`).join(" OR "), k).map(({ id }) => String(id));
  };
}
