import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Who serves a state: its keeper's process, which leads the group of all that it runs, its address, and its folder. */
export type Holder = { pid: number; url: string; state: string };

/** The folder of the local databases. */
export const STATE = stateIn(process.env);

/** An empty variable is as good as none: of an empty path, the folder would be the current one. */
export function stateIn({ CAIRN_STATE = "" }: NodeJS.ProcessEnv): string {
  return CAIRN_STATE === "" ? join(import.meta.dirname, "../../.wrangler/state") : CAIRN_STATE;
}

/** The last one that served the state. The file of a copied folder tells of the original's server, which is another one. */
export function holderOf(state: string): Holder | null {
  try {
    const last = JSON.parse(readFileSync(join(state, "server.json"), "utf8")) as Partial<Holder>;
    const { pid, url, state: folder } = last;
    if (typeof pid !== "number" || typeof url !== "string" || typeof folder !== "string") return null;
    return realpathSync(folder) === realpathSync(state) ? { pid, url, state: folder } : null;
  } catch {
    return null;
  }
}
