import { Stopped } from "./stopped.ts";
import { requireTenant, type Desk } from "./tenants.ts";

const HEAD = ["tenant", "worker", "shards", "jurisdiction", "model", "vectorize", "databases"];

/** Prints what the files here say of the tenants. */
export function list(desk: Desk): void {
  const names = desk.files.names();
  if (names.length === 0) {
    desk.say("There are no tenants here. npm run tenant -- create NAME makes one.");
    return;
  }
  const rows = names.map((name) => rowOf(desk, name));
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [HEAD, ...rows])
    desk.say(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

/** The row of a file, or its error: an unreadable file hides no other. */
function rowOf(desk: Desk, name: string): string[] {
  try {
    const { worker, shards, jurisdiction, model, index, databases } = requireTenant(desk, name);
    const made = databases.size === (shards > 1 ? shards + 1 : 1) ? "made" : "unfinished: create it again";
    return [name, worker, String(shards), jurisdiction ?? "-", model, index ?? "-", made];
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return [name, "?", "?", "?", "?", "?", error.message];
  }
}
