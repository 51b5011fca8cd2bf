// The block of a turn: what it recalls, what stays with its message, and what leaves it.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { messageHash } from "../../../../src/domain/context/message-hash.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { ContextStore } from "../../../../durable-objects/user-memory/context/context-store.ts";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { forget, patch, remember, remembered } from "../../../memory-calls.ts";
import { append, create, fork, read, say } from "../../../thread-calls.ts";
import { ask, context, lines, lives, MINUTE, turn } from "./calls.ts";

afterEach(restore);

describe("the block of a turn", () => {
  it("is the same for each call of the turn, whatever was written meanwhile, also of calls at once", async () => {
    const user = newUser();
    const { id } = await create(user);
    await remember(user, { text: "My budget for the sofa is 600 euros" });
    control.clockAhead += MINUTE;
    const query = "How much may the sofa cost?";
    const layers = [{ type: "recalled" }];
    const [one, two] = await Promise.all([
      context(user, { query, threadId: id, layers }),
      context(user, { query, threadId: id, layers }),
    ]);
    await remember(user, { text: "My budget for the sofa is 850 euros" });
    expect(one.recalled.text).toContain("600");
    expect([two.recalled, (await context(user, { query, threadId: id, layers })).recalled]).toEqual([
      one.recalled,
      one.recalled,
    ]);
    await append(id, [say(query)]);
    // The program that continues the run finds the message in the thread.
    expect((await context(user, { query, threadId: id, layers })).recalled).toEqual(one.recalled);
    await append(id, [say("600 euros.", "assistant")]);
    expect((await context(user, { query, threadId: id, layers })).recalled.text).toContain("850");
  });

  it("stands in the history as it was sent, for the thread, its forks and a caller's own messages", async () => {
    const user = newUser();
    const { id } = await create(user);
    await remember(user, { text: "My sister Ana is allergic to hazelnuts" });
    const layers = [{ type: "recalled" }];
    const query = "Which nuts can Ana not eat?";
    const { recalled } = await turn(user, id, query, { layers });
    expect(recalled.text).toContain("hazelnuts");
    await turn(user, id, "thanks!", { layers });
    const prompted = await read(id, "view=prompted");
    expect(prompted.items.map(({ message }) => message.content)).toEqual([
      `${recalled.text}\n\n${query}`,
      "Fine.",
      "thanks!",
      "Fine.",
    ]);
    const { body: copy } = await fork(id, {});
    expect((await read(copy.id, "view=prompted")).items).toEqual(prompted.items);
    const messages = await Promise.all([query, "thanks!", "And Ana?"].map(messageHash));
    const own = await context(user, { query: "And Ana?", threadId: id, layers, messages });
    expect(own.pinned).toEqual([{ index: 0, text: recalled.text }]);
    // No item of an earlier block of the prompt comes again.
    expect(own.recalled.text).not.toContain("hazelnuts");
  });

  it("leaves the forks of its thread with the thread", async () => {
    const user = newUser();
    const { id } = await create(user);
    await remember(user, { text: "My sister Ana is allergic to hazelnuts" });
    const query = "Which nuts can Ana not eat?";
    expect((await turn(user, id, query, { layers: [{ type: "recalled" }] })).recalled.text).toContain("nuts");
    const { body: copy } = await fork(id, {});
    expect((await read(copy.id, "view=prompted")).items[0]?.message.content).toContain("hazelnuts");
    await call(`/v1/threads/${id}`, { method: "DELETE" });
    expect((await read(copy.id, "view=prompted")).items[0]?.message.content).toBe(query);
  });

  it("comes back without a query, which keeps nothing, and not for another message than the query", async () => {
    const user = newUser();
    const { id: threadId } = await create(user);
    await append((await create(user)).id, [say("I keep my boat in Setúbal")]);
    const query = "Where is my boat?";
    const { recalled } = await turn(user, threadId, query);
    const messages = await Promise.all([query, "And my bicycle?"].map(messageHash));
    const all = await context(user, { threadId, messages });
    expect([all.pinned, all.pin]).toEqual([[{ index: 0, text: recalled.text }], undefined]);
    const { status, body } = await ask(user, { threadId, messages, query });
    expect([status, body.error.details[0].path]).toEqual([400, "body.messages[1]"]);
  });

  it("loses what is forgotten, and the answer says that the prefix changed", async () => {
    const user = newUser();
    const { id } = await create(user);
    const layers = [{ type: "recalled" }];
    const { id: nuts } = await remembered(user, { text: "My sister Ana is allergic to hazelnuts" });
    const query = "Which nuts can Ana not eat?";
    await turn(user, id, query, { layers });
    await forget(user, nuts);
    const messages = await Promise.all([query, "thanks!"].map(messageHash));
    const later = await context(user, { query: "thanks!", threadId: id, layers, messages });
    expect(later).toMatchObject({ pinned: [], prefixChanged: true });
    const again = await context(user, { query: "thanks!", threadId: id, layers, messages });
    expect([again.pinned, again.prefixChanged]).toEqual([[], undefined]);
    expect((await read(id, "view=prompted")).items[0]?.message.content).toBe(query);
    const object = env.USER_MEMORY.getByName(await userHash(user));
    const stored = await runInDurableObject(object, (_, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT * FROM context_blocks").toArray()),
    );
    expect(stored).toContain("turn:");
    expect(stored).not.toContain("hazelnuts");
  });

  it("is kept for the last turns only, however many a caller asks for", async () => {
    const user = newUser();
    const { id } = await create(user);
    const object = env.USER_MEMORY.getByName(await userHash(user));
    await context(user, { query: "hello", threadId: id });
    const counted = await runInDurableObject(object, (_, { storage: { sql } }) => {
      const store = new ContextStore(sql);
      const [{ thread } = { thread: 0 }] = sql
        .exec<{ thread: number }>("SELECT thread FROM context_blocks")
        .toArray();
      const block = { format: "xml" as const, sections: [], meta: [] };
      for (let i = 0; i < 2_100; i++) store.putTurn(thread, `${i + 1_000_000}`, block, i);
      store.putTurn(thread, `00`, block, 9_999);
      return sql.exec("SELECT name FROM context_blocks WHERE name LIKE 'turn:%'").toArray();
    });
    expect(counted).toHaveLength(2_000);
    expect(counted).toContainEqual({ name: "turn:00" });
  });

  it("keeps a corrected text in the turns that had it", async () => {
    const user = newUser();
    const { id } = await create(user);
    const layers = [{ type: "recalled" }];
    const { id: nuts } = await remembered(user, { text: "My sister Ana is allergic to hazelnuts" });
    const { recalled } = await turn(user, id, "Which nuts can Ana not eat?", { layers });
    await patch(user, nuts, { text: "My sister Ana is allergic to walnuts" });
    expect((await read(id, "view=prompted")).items[0]?.message.content).toContain(recalled.text);
  });

  it("is empty for small talk, and for a query that nothing answers, unless it is asked for", async () => {
    const user = newUser();
    await remember(user, { text: "My sister Ana is allergic to hazelnuts" });
    const layers = [{ type: "recalled" }];
    expect(await context(user, { query: "thanks!", layers })).toMatchObject({
      recalled: { text: "", tokens: 0 },
      abstained: true,
    });
    expect((await context(user, { query: "thanks!", layers, answerable: "off" })).recalled.text).not.toBe("");
    const query = "What is 17 times 23?";
    expect(await context(user, { query, layers })).toMatchObject({ recalled: { text: "" }, abstained: true });
    expect((await context(user, { query, layers, answerable: "off" })).recalled.text).not.toBe("");
  });

  it("is empty for a message without a topic, also if words of it are stored", async () => {
    const user = newUser();
    await remember(user, { text: "I was so bored and tired at the party that I left" });
    const layers = [{ type: "recalled" }];
    const query = "I'm so bored and tired";
    expect(await context(user, { query, layers })).toMatchObject({ recalled: { text: "" }, abstained: true });
    expect((await context(user, { query: "Who was bored at the party?", layers })).recalled.text).not.toBe(
      "",
    );
    expect((await context(user, { query, layers, answerable: "off" })).recalled.text).not.toBe("");
  });

  it("has as many hits as there are, as it is asked for, and as fit", async () => {
    const user = newUser();
    for (let i = 0; i < 36; i++) await remember(user, { text: `Plant ${i} stands in the greenhouse` });
    const query = "Which plants stand in the greenhouse?";
    const shown = async (layer: object) =>
      lines((await context(user, { query, layers: [{ type: "recalled", ...layer }] })).recalled.text).length;
    expect(await shown({})).toBe(36);
    expect(await shown({ k: 32 })).toBe(32);
    expect(await shown({ k: 3 })).toBe(3);
    expect(await shown({ tokens: { max: 60 } })).toBeLessThan(6);
  });

  it("leaves out the messages that the prompt holds", async () => {
    const user = newUser();
    const { id } = await create(user);
    await append(id, [say("The boat of my sister lies in Setúbal")]);
    const layers = [{ type: "recalled" }];
    const query = "Where does the boat of my sister lie?";
    expect((await context(user, { query, threadId: id, layers })).recalled.text).toBe("");
    const { id: other } = await create(user);
    expect((await context(user, { query, threadId: other, layers })).recalled.text).toContain("Setúbal");
  });

  it("leaves out what was made of a message that the prompt holds", async () => {
    const user = newUser();
    const { id: threadId } = await create(user);
    const said = "My sister Ana is allergic to hazelnuts";
    const [before, now] = await Promise.all([said, "Which nuts can Ana not eat?"].map(messageHash));
    const source = { message: before };
    await remembered(user, { kind: "episode", text: `Alice said: ${said}`, source });
    await remembered(user, { text: "Ana is allergic to walnuts", source: { message: 7 } });
    const body = { query: "Which nuts can Ana not eat?", threadId, layers: [{ type: "recalled" }] };
    const held = await context(user, { ...body, messages: [before, now], explain: true });
    expect(lines(held.recalled.text)).toEqual([expect.stringContaining("walnuts")]);
    expect(held.candidates).toContainEqual(expect.objectContaining({ layer: "recalled", why: "known" }));
    const elsewhere = await context(user, { ...body, messages: [now] });
    expect(lines(elsewhere.recalled.text).join()).toContain("hazelnuts");
  });
});

it("recalls nothing twice where the thread keeps the history, and says that its prefix changed", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  const { id } = await remembered(user, { kind: "episode", text: "We sailed the boat to Setúbal" });
  const asked = { threadId, format: "messages" };
  const sail = "Where did we sail the boat?";
  const first = await turn(user, threadId, sail, asked);
  expect(lines(first.recalled.text)).toEqual([expect.stringContaining("to Setúbal")]);
  const second = await turn(user, threadId, "Where did we sail the boat to, again?", asked);
  expect([second.recalled.text, second.prefixChanged]).toEqual(["", undefined]);
  await forget(user, id);
  const third = await turn(user, threadId, "Where did the boat go?", asked);
  expect([JSON.stringify(third).includes("Setúbal"), third.prefixChanged]).toEqual([false, true]);
});

it("keeps nothing of a call that fails, and the next call makes the same turn", async () => {
  const user = newUser();
  const { id } = await create(user);
  await lives(user, "Porto");
  await turn(user, id, "hello");
  await lives(user, "Braga");
  control.failingTransactions = 1;
  expect((await ask(user, { query: "thanks!", threadId: id })).status).toBe(500);
  expect(lines((await context(user, { query: "thanks!", threadId: id })).recalled.text)).toEqual([
    expect.stringContaining("before: Ann lives in Porto"),
  ]);
});

it("answers a whole prompt in the format messages", async () => {
  const user = newUser();
  const { id } = await create(user);
  await lives(user, "Porto");
  const first = await turn(user, id, "hello");
  const { messages, recalled } = await context(user, {
    query: "Where does Ann live?",
    threadId: id,
    format: "messages",
    layers: [{ type: "profile" }, { type: "recalled" }, { type: "history", n: 10 }],
  });
  expect(messages).toEqual([
    { role: "system", content: expect.stringContaining("Ann: lives in Porto") },
    say("hello"),
    say("Fine.", "assistant"),
    say(recalled.text === "" ? "Where does Ann live?" : `${recalled.text}\n\nWhere does Ann live?`),
  ]);
  expect(messages[0].content).toBe(first.stable.text);
});
