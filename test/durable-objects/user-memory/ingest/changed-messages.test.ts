// UI messages that change after they are stored: a streamed answer that grows, a tool that waits for an approval.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it } from "vitest";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { objectOf } from "../../../erasure-calls.ts";
import { append, create, fork, read } from "../../../thread-calls.ts";
import { ingest, memoriesOf, ring } from "./calls.ts";

afterEach(restore);

const ui = (id: string, role: string, text: string) => ({ id, role, parts: [{ type: "text", text }] });
const sessionId = "monday";
const question = ui("m1", "user", "Which tea shall I order?");
const next = ui("m3", "user", "Thank you.");

/** The seqs and texts of a thread. */
const shown = async (id: string): Promise<unknown[]> =>
  (await read(id, "order=oldest")).items.map(({ seq, message }) => [
    seq,
    (message as unknown as ReturnType<typeof ui>).parts[0]?.text, // as `ui` made it
  ]);

/** The tables of the user's object that hold a word, but for the index's own. */
async function tablesWith(user: string, word: string): Promise<string[]> {
  return runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => {
    const decoder = new TextDecoder("latin1");
    const tables = sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT GLOB '_cf*' AND name NOT GLOB '*words_*'",
    );
    const holds = (name: string) =>
      [...sql.exec(`SELECT * FROM ${name}`).raw()]
        .flat()
        .some((value) =>
          (value instanceof ArrayBuffer ? decoder.decode(value) : String(value)).includes(word),
        );
    return tables
      .toArray()
      .map(({ name }) => name)
      .filter(holds);
  });
}

const hitsOf = async (user: string, query: string): Promise<string[]> =>
  (await call(`/v1/users/${user}/recall`, { json: { query, minScore: 0 } })).body.hits.map(
    ({ text }: { text: string }) => text,
  );

it("replaces a message that has changed at its seq, in the thread and in the search", async () => {
  const owner = newUser();
  const begun = [question, ui("m2", "assistant", "Take the zqvxgone tea")];
  const { body: first } = await ingest(owner, { messages: begun, sessionId });
  const { body: other } = await ingest(owner, { messages: [...begun, next], sessionId });
  const grown = [question, ui("m2", "assistant", "Take the jasmine tea"), next];
  const { body: second } = await ingest(owner, { messages: grown, sessionId });
  expect([first, other, second]).toMatchObject([
    { stored: 2, known: 0 },
    { stored: 1, known: 2 },
    { stored: 0, known: 3, threadId: first.threadId },
  ]);
  expect(await shown(first.threadId)).toEqual([
    [1, "Which tea shall I order?"],
    [2, "Take the jasmine tea"],
    [3, "Thank you."],
  ]);
  expect(await hitsOf(owner, "jasmine")).toContain("Take the jasmine tea");
  expect((await hitsOf(owner, "zqvxgone")).join()).not.toContain("zqvxgone");
  expect(await tablesWith(owner, "jasmine")).toEqual(expect.arrayContaining(["messages"]));
  expect(await tablesWith(owner, "zqvxgone")).toEqual([]);
});

it("replaces it once, however often and from wherever it comes", async () => {
  const owner = newUser();
  const begun = [question, ui("m2", "assistant", "Take")];
  const { body } = await ingest(owner, { messages: begun, sessionId });
  const grown = [question, ui("m2", "assistant", "Take the jasmine tea"), next];
  const alone = [ui("m2", "assistant", "Take the jasmine tea")];
  await Promise.all([grown, grown, alone].map((messages) => ingest(owner, { messages, sessionId })));
  await ingest(owner, { messages: alone, sessionId });
  await ingest(owner, { messages: [...alone, ui("m2", "assistant", "Take the rooibos")], sessionId });
  await ingest(owner, { messages: [ui("m4", "user", "And"), ui("m4", "user", "And milk?")], sessionId });
  expect(await shown(body.threadId)).toEqual([
    [1, "Which tea shall I order?"],
    [2, "Take the rooibos"],
    [3, "Thank you."],
    [4, "And milk?"],
  ]);
});

it("extracts what a changed message says now", async () => {
  const owner = newUser();
  await ingest(owner, { messages: [ui("m1", "user", "I think")], sessionId });
  await ingest(owner, { messages: [ui("m1", "user", "I have moved to Lisbon.")], sessionId });
  const memories = await memoriesOf(owner, "&status=active&status=quarantined");
  expect(memories.map(({ text }) => text).join()).toContain("Lisbon");
});

it("leaves a fork what it shares, and keeps the order of the thread", async () => {
  const owner = newUser();
  const begun = [question, ui("m2", "assistant", "Take"), next];
  const { body } = await ingest(owner, { messages: begun, sessionId });
  const { body: forked } = await fork(body.threadId);
  const last = ui("m4", "assistant", "You are welcome.");
  const grown = [question, ui("m2", "assistant", "Take the jasmine tea"), next, last];
  for (const _ of [1, 2]) await ingest(owner, { messages: grown, sessionId });
  const texts = async (id: string) => (await shown(id)).map((one) => (one as [number, string])[1]); // as `shown` made it
  expect(await texts(forked.id)).toEqual(["Which tea shall I order?", "Take", "Thank you."]);
  expect(await texts(body.threadId)).toEqual([
    "Which tea shall I order?",
    "Take the jasmine tea",
    "Thank you.",
    "You are welcome.",
  ]);
});

it("appends a message with an id of another role, and one that is no UI message", async () => {
  const owner = newUser();
  const plain = (content: string) => ({ id: "m1", role: "user", content });
  const said = [plain("one"), plain("two"), ui("m1", "user", "three"), ui("m1", "assistant", "four")];
  const { body } = await ingest(owner, { messages: said, sessionId });
  expect(body).toMatchObject({ stored: 4 });
  // An append stores what it is given.
  const { id } = await create(owner);
  await append(id, [question]);
  await append(id, [question]);
  expect((await read(id)).items).toHaveLength(2);
});

it("gives a message no vector of what it said when the embedder was asked", async () => {
  // A day from now, so that no alarm rings but when the test rings it.
  control.clockAt = clock() + 24 * 3_600_000;
  const owner = newUser();
  const waiting = async () =>
    runInDurableObject(
      await objectOf(owner),
      (_, { storage: { sql } }) => sql.exec("SELECT n FROM unembedded").toArray().length,
    );
  const extract = { extract: ["episodes"], mode: "background", sessionId };
  await ingest(owner, { ...extract, messages: [ui("m1", "user", "I like green tea.")] });
  control.duringEmbed = async () => {
    control.duringEmbed = async () => {};
    await ingest(owner, { ...extract, messages: [ui("m1", "user", "I like coffee.")] });
  };
  await ring(owner);
  expect([control.embedded.length, await waiting()]).toEqual([1, 1]);
  await ring(owner);
  expect([control.embedded.at(-1)?.texts, await waiting()]).toEqual([["I like coffee."], 0]);
});
