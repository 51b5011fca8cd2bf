// A context that names its thread by an agent, and brings the thread's history along.
import { afterEach, describe, expect, it } from "vitest";
import { messageHash } from "../../../../src/domain/context/message-hash.ts";
import { call, newUser, tokenWith } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { forget, remember, remembered } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";
import { ask, context, turn } from "./calls.ts";

afterEach(restore);

const layers = [{ type: "recalled" }];
type Told = { message: { role: string; content: string }; block?: string; compaction?: object };
const contents = (history: readonly Told[]) => history.map(({ message }) => message.content);
const threadsOf = async (user: string) => (await call(`/v1/users/${user}/threads`)).body.items;

describe("a context of an agent", () => {
  it("begins the agent's thread once, also of calls at once, and then finds it", async () => {
    const user = newUser();
    const body = { query: "hello", thread: { agent: "helper" } };
    const [one, two] = await Promise.all([context(user, body), context(user, body)]);
    const { threadId } = await context(user, body);
    expect([one.threadId, two.threadId]).toEqual([threadId, threadId]);
    expect(await threadsOf(user)).toMatchObject([{ id: threadId, agent: "helper", length: 0 }]);
    const { status, body: thread } = await call(`/v1/users/${user}/threads/resume`, {
      json: { agent: "helper" },
    });
    expect([status, thread.id]).toEqual([200, threadId]);
  });

  it("keeps the turn's block with the thread that it begins", async () => {
    const user = newUser();
    await remember(user, { text: "My sister Ana is allergic to hazelnuts" });
    const query = "Which nuts can Ana not eat?";
    const { threadId, recalled } = await context(user, { query, thread: { agent: "a" }, layers });
    await append(threadId, [say(query), say("Hazelnuts.", "assistant")]);
    const { pinned } = await context(user, {
      query: "And Ben?",
      threadId,
      layers,
      messages: await Promise.all([query, "And Ben?"].map(messageHash)),
    });
    expect(recalled.text).toContain("hazelnuts");
    expect(pinned).toEqual([{ index: 0, text: recalled.text }]);
  });

  it("needs the scope write, which a reader of a shared owner has not", async () => {
    const user = newUser();
    const thread = { agent: "helper" };
    const reader = await tokenWith({ user, scope: ["read"] });
    const refused = await call(`/v1/users/${user}/context`, { token: reader, json: { thread } });
    expect([refused.status, refused.body.error.code]).toEqual([403, "forbidden"]);
    const team = `shared:${newUser()}`;
    const token = await tokenWith({ user, shared: [team] });
    const { status, body } = await call(`/v1/users/${team}/context`, { token, json: { thread } });
    expect([status, body.error.details]).toMatchObject([403, [{ path: "body.thread" }]]);
    expect([await threadsOf(user), await threadsOf(team)]).toEqual([[], []]);
  });

  it("begins nothing where the user may have no more threads", async () => {
    const user = newUser();
    control.quotas = { entries: null, memories: null, threads: 1, bytes: null };
    await create(user);
    const { status, body } = await ask(user, { thread: { agent: "second" } });
    expect([status, body.error.code]).toEqual([403, "quota_threads"]);
    expect(await threadsOf(user)).toHaveLength(1);
  });
});

describe("the history of a context", () => {
  it("is the thread's last messages, each of the user with the block that it was sent with", async () => {
    const user = newUser();
    await remember(user, { text: "My sister Ana is allergic to hazelnuts" });
    const { id } = await create(user);
    const query = "Which nuts can Ana not eat?";
    const { recalled } = await turn(user, id, query, { layers });
    const { history, threadId } = await context(user, {
      query: "thanks!",
      threadId: id,
      history: 20,
      layers,
    });
    expect(threadId).toBeUndefined();
    expect(history).toMatchObject([
      { seq: 1, message: say(query), block: recalled.text },
      { seq: 2, message: say("Fine.", "assistant") },
    ]);
    expect(history[1].block).toBeUndefined();
  });

  it("keeps the bytes of each message, and has a summary in place of what it covers", async () => {
    const user = newUser();
    const { id } = await create(user);
    const number = '{"role":"assistant","content":"x","cost":12345678901234567890.10}';
    await call(`/v1/threads/${id}/messages`, {
      raw: `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},${number}]}`,
    });
    await call(`/v1/threads/${id}/compactions`, { json: { summary: "They said a and b.", to: 2 } });
    const { text } = await call(`/v1/users/${user}/context`, { json: { threadId: id, history: 10 } });
    expect(text).toContain(number);
    const { history, stable } = JSON.parse(text);
    expect(contents(history)).toEqual(["They said a and b.", "x"]);
    // The stable block does not tell the summary again.
    expect(stable.text).not.toContain("They said");
  });

  it("of a longer thread begins at the same message for several turns", async () => {
    const user = newUser();
    const { id } = await create(user);
    const firsts = [];
    for (let i = 0; i < 12; i++) {
      const { history } = await turn(user, id, `Question ${i}`, { history: 8, layers });
      expect(history.length).toBeLessThanOrEqual(8);
      firsts.push(history.at(0)?.seq ?? 0);
    }
    expect(new Set(firsts.slice(4)).size).toBeLessThanOrEqual(4);
  });

  it("is before the caller's own messages, of which the last is asked", async () => {
    const user = newUser();
    const { id } = await create(user);
    const asked = async (query: string) =>
      context(user, { query, threadId: id, history: 20, layers, messages: [await messageHash(query)] });
    const blocks: string[] = [];
    for (let i = 0; i < 15; i++) {
      await remember(user, { text: `Step ${i} of the plan is to paint wall ${i}` });
      const { recalled, history } = await asked("Go on with the plan: which wall?");
      const users = history.filter(({ message }: Told) => message.role === "user");
      // No message of an earlier prompt changes.
      expect(users.map(({ block = "" }: Told) => block)).toEqual(blocks.slice(blocks.length - users.length));
      blocks.push(recalled.text);
      await append(id, [say("Go on with the plan: which wall?"), say("Done.", "assistant")]);
    }
    expect(new Set(blocks.filter((block) => block !== "")).size).toBeGreaterThan(1);
  });

  it("has the current message too where that is stored already", async () => {
    const user = newUser();
    await remember(user, { text: "My sister Ana is allergic to hazelnuts" });
    const { id } = await create(user);
    const query = "Which nuts can Ana not eat?";
    await append(id, [say(query)]);
    const body = { query, threadId: id, history: 20, layers };
    const { recalled, history } = await context(user, body);
    expect(history).toMatchObject([{ message: say(query), block: recalled.text }]);
    const again = await context(user, { ...body, messages: [await messageHash(query)] });
    expect(again.recalled).toEqual(recalled);
  });

  it("is not recalled besides", async () => {
    const user = newUser();
    const { id } = await create(user);
    await turn(user, id, "My cat is called Olive", { layers });
    const query = "What is my cat called?";
    const { recalled } = await context(user, {
      query,
      threadId: id,
      history: 20,
      layers,
      messages: [await messageHash(query)],
    });
    expect(recalled.text).not.toContain("Olive");
  });

  it("loses a block with the memory that it showed, and says that the prompt changed", async () => {
    const user = newUser();
    const { id } = await create(user);
    const memory = await remembered(user, { text: "My sister Ana is allergic to hazelnuts" });
    await turn(user, id, "Which nuts can Ana not eat?", { layers });
    await forget(user, memory.id);
    const { history, prefixChanged } = await context(user, {
      query: "And Ben?",
      threadId: id,
      history: 9,
      layers,
    });
    expect([history[0].block, prefixChanged]).toEqual([undefined, true]);
  });

  it("changes the answer's etag", async () => {
    const user = newUser();
    const { id } = await create(user);
    await append(id, [say("one"), say("two", "assistant")]);
    const body = { threadId: id, history: 5 };
    const { etag } = await context(user, body);
    const { status } = await ask(user, body, { "If-None-Match": `"${etag}"` });
    await append(id, [say("three")]);
    expect([status, (await context(user, body)).etag === etag]).toEqual([304, false]);
  });
});

it.each([
  [{ thread: { agent: "a" }, threadId: "t" }, "body.thread"],
  [{ thread: {} }, "body.thread.agent"],
  [{ thread: { agent: "a", title: "b" } }, "body.thread.title"],
  [{ history: 5 }, "body.history"],
  [{ history: 0, threadId: "t" }, "body.history"],
  [{ history: 5, threadId: "t", format: "messages" }, "body.history"],
])("refuses %j", async (body, path) => {
  const { status, body: answer } = await ask(newUser(), body);
  expect([status, answer.error.details[0].path]).toEqual([400, path]);
});
