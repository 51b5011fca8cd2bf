import type { DatabaseSync } from "node:sqlite";

/** SQLite as Node has it. Rejects with a sentence where it is missing, or too old for what is asked of it. */
export async function databaseClass(): Promise<typeof DatabaseSync> {
  // The failed import says less than the sentence, and would be printed with its stack.
  const sqlite = await import("node:sqlite").catch(() => null);
  // Node 22.13 has SQLite, and no rows as arrays yet.
  if (sqlite !== null && "setReturnArrays" in sqlite.StatementSync.prototype) return sqlite.DatabaseSync;
  throw new Error(
    `@edgecairn/embed/testing needs Node 22.16 or newer, or Deno 2.2: this is Node ${process.versions.node}`,
  );
}
