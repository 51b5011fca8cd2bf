import { type Answer, call, newUser } from "./call.ts";
import { control } from "./doubles/control.ts";
import { patch, remember, remembered } from "./memory-calls.ts";
import { append, create, fork, say, threadOf } from "./thread-calls.ts";

/** A fact of which one is true at a time, without its object. */
export const DRINK = { subject: "I", predicate: "drink", cardinality: "one", scope: "home" };

export const exportOf = async (user: string): Promise<string> => {
  const { status, text } = await call(`/v1/users/${encodeURIComponent(user)}/export`);
  if (status !== 200) throw new Error(text);
  return text;
};
export const importTo = (user: string, raw: BodyInit, query = ""): Promise<Answer> =>
  call(`/v1/users/${encodeURIComponent(user)}/import?${query}`, {
    raw,
    headers: { "Content-Type": "application/x-ndjson" },
  });
export const linesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
/** Lets the tests' clock go on. */
export const at = (ms: number) => void (control.clockAt = (control.clockAt ?? 0) + ms);

/** Forks of forks, hidden and deleted messages, a deleted parent, compactions, entries of all kinds, all kinds of memories. */
export async function busyUser() {
  const user = newUser();
  const origin = await threadOf(user, ["one", "two", "three", "four"]);
  await call(`/v1/threads/${origin.id}/compactions`, { json: { summary: "one and two", to: 2 } });
  const branch = (await fork(origin.id, { at: 3, title: "branch", metadata: { b: 1, a: [null] } })).body;
  at(10);
  await append(branch.id, [say("five")]);
  await call(`/v1/threads/${branch.id}/messages/2`, { method: "DELETE" });
  const twig = (await fork(branch.id, { at: 4 })).body;
  await call(`/v1/threads/${origin.id}/messages/4`, { method: "DELETE" });
  const lost = await threadOf(user, ["shared", "not shared"]);
  const kept = (await fork(lost.id, { at: 1 })).body;
  await call(`/v1/threads/${lost.id}`, { method: "DELETE" });
  // Bytes that a parse and a print would change, and white space between them.
  await call(`/v1/threads/${twig.id}/messages`, {
    raw: '{"messages":[{"role":"user",\n "content":"é\\u00e9","n":1.0,"big":12345678901234567890,"2":0,"1":0}]}',
  });
  const words = await create(user, {
    agent: "planner",
    resourceSlug: "r",
    recordId: "x",
    indexing: "lexical",
  });
  await append(words.id, [say("found by its words")]);
  const put = (key: string, raw: string, query = "") =>
    call(`/v1/users/${user}/kv/${encodeURIComponent(key)}${query}`, { method: "PUT", raw });
  await put("a/b é", ' {"x": 1.0}\n');
  await put("lives", "1", "?ttlMs=86400000&refreshOnRead=true");
  await put("dies", "2", "?ttlMs=1");
  for (const object of ["tea", "coffee", "water"]) {
    at(1000);
    await remember(user, { ...DRINK, object });
  }
  const plain = await remembered(user, {
    text: "I moved to Lisbon",
    tags: ["move"],
    metadata: { z: 1, a: 2 },
  });
  at(1000);
  await patch(user, plain.id, { text: "I moved to Porto", score: 0.5 });
  await remember(user, { kind: "procedure", title: "deploy", text: "npm run deploy" });
  await remember(user, {
    kind: "episode",
    text: "we met",
    type: "chat",
    intensity: 0.5,
    emotion: { valence: 0.5, arousal: 0, dominance: -1 },
    appraisal: { urgency: 0.5, agency: 1 },
    source: { thread: origin.id, message: 3, extractor: "m" },
    expiresAt: (control.clockAt ?? 0) + 3600_000,
  });
  await remember(user, { text: "maybe", status: "quarantined" });
  at(1000);
  return { user, origin, branch, twig, kept, plain };
}
