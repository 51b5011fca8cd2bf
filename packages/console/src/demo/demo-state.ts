import type { Cairn } from "#client/index.ts";

/** A conversation in the format of `examples/` (packages/lab/evals/demo/conversation.ts checks it). */
export type Example = {
  id: string;
  sessions: readonly {
    date?: string;
    turns: readonly { id: string; speaker: string; role?: string; text: string; caption?: string }[];
  }[];
  facts: readonly {
    id: string;
    text: string;
    tags?: readonly string[];
    replaces?: string;
    evidence?: readonly string[];
  }[];
};

const DAY_MS = 24 * 60 * 60 * 1000;
const TURN_MS = 60_000;
/** Attempts to see the end of the demo's erasure, and milliseconds between two. */
const [LOOKS, EVERY_MS] = [60, 500];

/**
 * Fills in an example for a user: its sessions as one conversation with their times, its facts with their history, candidates that wait
 * in quarantine, entries, and an erased scope. Does nothing twice.
 */
export async function fillDemo(
  memory: Cairn,
  user: string,
  example: Example,
  say: (what: string) => void,
): Promise<void> {
  const times = new Map<string, number>();
  const firstSpeaker = example.sessions[0]?.turns[0]?.speaker;
  for (const [i, { date, turns }] of example.sessions.entries()) {
    say(`session ${i + 1} of ${example.sessions.length}`);
    const begin =
      date === undefined
        ? Date.now() - (example.sessions.length - i) * DAY_MS
        : Date.parse(date) + DAY_MS / 2;
    const createdAt = turns.map((_, at) => begin + at * TURN_MS);
    for (const [at, turn] of turns.entries()) times.set(turn.id, createdAt[at] ?? begin);
    const { threadId } = await memory.ingest(user, {
      sessionId: `demo ${example.id} ${i}`,
      messages: turns.map(({ speaker, role, text, caption }) => ({
        role: role ?? (speaker === firstSpeaker ? "user" : "assistant"),
        content: caption === undefined ? text : `${text} [${caption}]`,
        ...(speaker !== role && { name: speaker }),
      })),
      createdAt,
      // A claim that no message makes, as a careless model would find it: the checks hold it back.
      ...(i === 0 && {
        extracted: { facts: [{ subject: "user", predicate: "lives in", object: "Madrid", sources: [0] }] },
      }),
      mode: "wait",
    });
    await memory.threads.patch(threadId, {
      title: date === undefined ? `Session ${i + 1}` : `Conversation of ${date}`,
    });
  }
  say("facts");
  // Facts of one root are one fact over time: the later ones end the earlier ones.
  const roots = new Map<string, string>();
  for (const { id, text, tags, replaces, evidence = [] } of example.facts) {
    const key = (replaces !== undefined && roots.get(replaces)) || id;
    roots.set(id, key);
    const at = evidence.map((turn) => times.get(turn)).find((time) => time !== undefined);
    await memory.memories.remember(user, {
      text,
      key,
      ...(tags && { tags: [...tags] }),
      ...(at !== undefined && { validFrom: at }),
    });
  }
  say("entries and an erased scope");
  await memory.kv.set(user, "settings/theme", "dark");
  await memory.kv.set(user, "settings/units", { weight: "g", temperature: "°C" });
  await memory.memories.remember(user, { text: "A note of a project that is over", scope: "old project" });
  const { id } = await memory.erasures.scope(user, "old project");
  for (let look = 0; look < LOOKS; look++) {
    if ((await memory.erasures.get(id))?.status === "done") break;
    await new Promise((resolve) => void setTimeout(resolve, EVERY_MS));
  }
  await memory.kv.set(user, "demo/erasure", id);
}
