// The items that the importers read, before anything is sent.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { filesOf } from "../../../packages/importers/src/files.ts";
import { type Item, itemsOf } from "../../../packages/importers/src/items.ts";
import type { SourceName } from "../../../packages/importers/src/source.ts";
import { sources } from "../../../packages/importers/src/sources/index.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-import-from-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const NOW = Date.UTC(2026, 0, 1);
let files = 0;

/** All that is read, in two passes as the command makes them. */
export async function found(
  name: SourceName,
  content: unknown,
  options: { user?: string; userField?: string; scope?: string } = {},
) {
  const path = join(folder, `${++files}.json`);
  writeFileSync(
    path,
    typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content),
  );
  const source = sources[name];
  const given = { user: undefined, userField: undefined, scope: undefined, ...options };
  const pass = {
    name,
    source,
    files: await filesOf([path], source),
    now: NOW,
    names: new Map<string, string>(),
    ...given,
  };
  const all: Item[] = [];
  for await (const _ of itemsOf(pass, "")) continue;
  for await (const item of itemsOf(pass, "")) all.push(item);
  return {
    memories: all.flatMap((item) => (item.type === "memory" ? [{ user: item.user, ...item.memory }] : [])),
    threads: all.flatMap((item) => (item.type === "thread" ? [{ user: item.user, ...item.thread }] : [])),
    remarks: all.flatMap((item) =>
      item.type === "skipped" || item.type === "changed"
        ? [`${item.type} ${item.count ?? 1} ${item.reason} (${item.example})`]
        : [],
    ),
  };
}
/** A day of January 2025. */
export const day = (n: number): number => Date.UTC(2025, 0, n);
