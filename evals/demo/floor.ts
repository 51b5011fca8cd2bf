// The floor to compare with: the turns in a plain FTS5 table, and the words of the question as they are.
import { DatabaseSync } from "node:sqlite";
import { contentOf, type Turn } from "./conversation.ts";

/** Finds the ids of the k best turns for a question. */
export function plainFts5(turns: readonly Turn[]): (question: string, k: number) => string[] {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE turns USING fts5 (id UNINDEXED, text, tokenize = 'porter unicode61')");
  const insert = database.prepare("INSERT INTO turns (id, text) VALUES (?, ?)");
  for (const turn of turns) insert.run(turn.id, `${turn.speaker}: ${contentOf(turn)}`);
  const select = database.prepare("SELECT id FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?");
  return (question, k) => {
    const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    return select.all(words.map((word) => `"${word}"`).join(" OR "), k).map(({ id }) => String(id));
  };
}
