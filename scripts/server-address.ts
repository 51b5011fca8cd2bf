import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Who serves a state: its keeper's process, which leads the group of all that it runs, and its address. */
export type Holder = { pid: number; url: string };

/** The folder of the local databases. */
export const STATE = process.env.CAIRN_STATE ?? join(import.meta.dirname, "../.wrangler/state");

/** The last one that served the state. */
export function holderOf(state: string): Holder | null {
  try {
    const { pid, url } = JSON.parse(readFileSync(join(state, "server.json"), "utf8")) as Partial<Holder>;
    return typeof pid === "number" && typeof url === "string" ? { pid, url } : null;
  } catch {
    return null;
  }
}
