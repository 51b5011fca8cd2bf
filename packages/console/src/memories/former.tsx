import type { Memory } from "edgecairn";
import { useLoad } from "../parts/load.ts";
import { Time } from "../parts/times.tsx";
import { useSession } from "../shell/session.ts";

/** Versions that are looked at: one that only added a tag, or a source, has the same text as the one after it. */
const LAST = 5;

/** The value before the present one, of a memory that was written more than once. */
export function Former({ user, memory: shown }: { user: string; memory: Memory }) {
  const { memory } = useSession();
  const { id, version, text } = shown;
  const loaded = useLoad(
    async (signal) => {
      const { items } = await memory.memories.history(user, id, { limit: LAST }, { signal });
      return items.find((one) => one.version < version && one.text !== text) ?? null;
    },
    [user, id, version],
  );
  const former = loaded.value;
  if (former == null) return null;
  return (
    <span class="quiet">
      {" "}
      <span class="chip">{former.correctedAt === undefined ? "changed" : "corrected"}</span>{" "}
      <Time at={shown.updatedAt} day />, before: <bdi>{(former.object ?? former.text).slice(0, 80)}</bdi>
    </span>
  );
}
