// No call leaves a statement open: SQLite renames and drops no table while one is read, as an erasure does.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { restore } from "../../doubles/control.ts";
import { objectOf } from "../../erasure-calls.ts";
import { recall, remember } from "../../memory-calls.ts";
import { append, create, fork, say } from "../../thread-calls.ts";

afterEach(restore);

const undone = new Error("undone");

/** Tries to drop a table of the user's object; says what came of it. */
async function dropped(user: string): Promise<string> {
  return runInDurableObject(await objectOf(user), (_, { storage }) => {
    try {
      storage.transactionSync(() => {
        storage.sql.exec("DROP TABLE zeros");
        throw undone;
      });
    } catch (error) {
      return error === undone ? "dropped" : String(error);
    }
    return "unknown";
  });
}

it("reads pages, exports and recalls to their ends, or closes what it reads", async () => {
  const user = newUser();
  const thread = await create(user);
  const messages = (from: number) => Array.from({ length: 300 }, (_, i) => say(`heron ${from + i}`));
  for (const from of [0, 300]) await append(thread.id, messages(from));
  await append(thread.id, [say("x".repeat(20_000)), say("y".repeat(20_000))]);
  let last: { id: string } = thread;
  for (let i = 0; i < 20; i++) {
    last = (await fork(last.id)).body;
    await append(last.id, [say(`fork ${i}`)]);
  }
  for (const [from, to] of [
    [1, 2],
    [4, 5],
    [7, 8],
  ])
    await call(`/v1/threads/${thread.id}/compactions`, { json: { summary: "some", from, to } });
  for (const key of ["a", "b", "c"])
    await call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: "z".repeat(20_000) });
  for (let i = 0; i < 5; i++) await remember(user, { text: `I saw ${i} herons` });
  const read = (path: string) => call(`/v1/${path}`);
  const steps: Record<string, () => Promise<unknown>> = {
    "a page of messages": () => read(`threads/${thread.id}/messages?limit=2`),
    "a page of the oldest": () => read(`threads/${thread.id}/messages?limit=2&order=oldest`),
    "a page of a chain of forks": () => read(`threads/${last.id}/messages?limit=2`),
    "a fork": () => fork(last.id),
    "a page of compactions": () => read(`threads/${thread.id}/compactions?limit=1`),
    "a page of entries": () => read(`users/${user}/kv?limit=1`),
    "a page of values": () => read(`users/${user}/kv?limit=1&values=true`),
    "a page of threads": () => read(`users/${user}/threads?limit=1`),
    "a deleted message": () => call(`/v1/threads/${last.id}/messages/3`, { method: "DELETE" }),
    "a page with hidden messages": () => read(`threads/${last.id}/messages?limit=2`),
    "a page of an export": async () => {
      const object = await objectOf(user);
      const page = await object.exportPage();
      if (page.ok && page.value.next) await object.exportPage(page.value.next);
    },
    "a recall by words": () => recall(user, { query: "heron", k: 1 }),
    "a recall of a kind": () => recall(user, { query: "herons I saw", k: 1, kinds: ["episode"] }),
    "a recall of the newest": () => recall(user, { query: "?", k: 1 }),
    "a deleted thread": () => call(`/v1/threads/${last.id}`, { method: "DELETE" }),
  };
  for (const [name, step] of Object.entries(steps)) {
    await step();
    expect(await dropped(user), name).toBe("dropped");
  }
});
