// Sends memories, those that are missing and those that changed in the source since.
import type { Cairn, CairnError, Memory } from "../../client/src/index.ts";
import type { ImportedMemory } from "./fit.ts";
import { inHalves } from "./in-halves.ts";
import type { Outcome } from "./report.ts";
import { inShort } from "./source.ts";

/** Characters of the ids in one URL: Cloudflare takes URLs up to 16 KB. */
const URL_CHARACTERS = 8_000;

/** Sends the memories of one user. Existing ones stay, unless the source changed them after the last change here. */
export async function sendMemories(
  cairn: Cairn,
  { user, memories }: { user: string; memories: readonly ImportedMemory[] },
  outcome: Outcome,
): Promise<void> {
  const there = await storedOf(cairn, user, memories);
  const due = memories.filter(({ externalId, updatedAt }) => {
    const stored = there.get(externalId);
    return stored === undefined || (updatedAt !== undefined && updatedAt > stored.updatedAt);
  });
  outcome.memories["there already"] += memories.length - due.length;
  const send = async (some: readonly ImportedMemory[]) => {
    const { items } = await cairn.memories.rememberMany(user, some);
    for (const [i, { memory, created }] of items.entries()) {
      if (memory.status === "quarantined") outcome.memories["in quarantine"]++;
      else if (created) outcome.memories.created++;
      else if (there.has(some[i]?.externalId ?? "")) outcome.memories.changed++;
      // A memory that is no longer true is not listed.
      else outcome.memories["there already"]++;
    }
  };
  await inHalves(due, send, ({ externalId }, error) => {
    outcome.memories.failed++;
    outcome.failed.add({ reason: reasonOf(error), example: inShort(externalId) });
  });
}

const reasonOf = (error: CairnError): string =>
  [
    error.message,
    ...error.details.map(
      ({ path, message }) => `${path.replace(/^body\.memories\[\d+\]\.?/, "")} ${message}`,
    ),
  ].join(", ");

async function storedOf(
  cairn: Cairn,
  user: string,
  memories: readonly ImportedMemory[],
): Promise<ReadonlyMap<string, Memory>> {
  const stored = new Map<string, Memory>();
  for (const externalId of idsForUrls(memories)) {
    const query = { externalId, status: ["active" as const, "quarantined" as const], limit: 1000 };
    for await (const memory of cairn.memories.all(user, query)) {
      const { externalId: id = "", updatedAt } = memory;
      // One may wait in quarantine beside the live one.
      if (updatedAt > (stored.get(id)?.updatedAt ?? -Infinity)) stored.set(id, memory);
    }
  }
  return stored;
}

function idsForUrls(memories: readonly ImportedMemory[]): string[][] {
  const groups: string[][] = [];
  let room = 0;
  for (const { externalId } of memories) {
    const characters = encodeURIComponent(externalId).length + "&externalId=".length;
    if (characters > room) {
      groups.push([]);
      room = URL_CHARACTERS;
    }
    groups.at(-1)?.push(externalId);
    room -= characters;
  }
  return groups;
}
