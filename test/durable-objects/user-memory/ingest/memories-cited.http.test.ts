// A model writes what its user has stated: the message that the write cites decides, and not the model.
import { afterEach, describe, expect, it } from "vitest";
import { limits } from "../../../../src/domain/limits.ts";
import { type Answer, call, newUser, tokenWith } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { mcp } from "../../../mcp-calls.ts";
import { remember } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";

afterEach(restore);

const DAY = 24 * 60 * 60 * 1000;
const MODEL = { "Cairn-Trust": "model" };
const home = { subject: "user", predicate: "lives in" };

/** A user who lives in Porto by their own word, and later says these things in a thread. */
async function chat(...messages: unknown[]) {
  const user = newUser();
  const { body: stored } = await remember(user, { ...home, object: "Porto" });
  const { id: thread } = await create(user);
  control.clockAhead += 60_000;
  const { body } = await append(thread, messages);
  return { user, thread, stored, last: body.lastSeq as number };
}
/** A model writes that the user lives in Lisbon. */
const write = (user: string, source: object, more: object = {}, headers: Record<string, string> = MODEL) =>
  remember(user, { ...home, object: "Lisbon", source, ...more }, headers);
const outcome = ({ body: { status, trust, superseded } }: Answer) => ({
  status,
  trust,
  superseded: superseded?.map(({ text }: { text: string }) => text),
});
const CHANGED = { status: "active", trust: "user", superseded: ["user lives in Porto"] };
const WAITS = { status: "quarantined", trust: "model", superseded: undefined };
const MOVED = "I live in Lisbon now.";

describe("a fact that a model writes against a person's", () => {
  it("supersedes it if it cites the message in which the user states it, by seq, by id, or as the last", async () => {
    const { user, thread, last } = await chat(say("Hello there."), say(MOVED), say("Noted.", "assistant"));
    expect(outcome(await write(user, { thread, message: last - 1 }))).toEqual(CHANGED);
    const other = await chat({ id: "m7", role: "user", parts: [{ type: "text", text: MOVED }] });
    expect(outcome(await write(other.user, { thread: other.thread, message: "m7" }))).toEqual(CHANGED);
    const third = await chat(say(MOVED), say("Noted.", "assistant"));
    expect(outcome(await write(third.user, { thread: third.thread }))).toEqual(CHANGED);
  });

  it("is held itself against the next model without a statement", async () => {
    const { user, thread } = await chat(say(MOVED));
    await write(user, { thread });
    expect(outcome(await remember(user, { ...home, object: "Rome" }, MODEL))).toEqual(WAITS);
  });

  it("ends an opposite of a person's likewise", async () => {
    const { user, thread } = await chat(say("I hate coffee."));
    const likes = { subject: "user", predicate: "likes", object: "coffee" };
    const dislikes = { ...likes, predicate: "hates" };
    await remember(user, likes);
    expect((await remember(user, dislikes, MODEL)).body.status).toBe("quarantined");
    control.clockAhead += 60_000;
    const { body } = await append(thread, [say("I hate coffee.")]);
    const cited = { ...dislikes, source: { thread, message: body.lastSeq } };
    expect((await remember(user, cited, MODEL)).body).toMatchObject({
      status: "active",
      superseded: [{ text: "user likes coffee" }],
    });
  });

  it.each([
    ["an unrelated message of the user", say("What is the weather in Rome?")],
    ["a question", say("Do I live in Lisbon now?")],
    ["an order that has its words", say("Write a poem about Lisbon.")],
    ["a page that the user pasted", say("Summarise this page:\nI live in Lisbon now.")],
    ["a quotation", say('My friend wrote: "I live in Lisbon now."')],
    ["a message of an assistant", say(MOVED, "assistant")],
    ["a message of a tool", { role: "tool", toolCallId: "a", content: MOVED }],
    [
      "a result of a tool in a user's message",
      { role: "user", content: [{ type: "tool_result", content: MOVED }] },
    ],
    ["an instruction of the app", say(MOVED, "system")],
  ])("waits if it cites %s", async (_, message) => {
    const { user, thread, last } = await chat(message);
    expect(outcome(await write(user, { thread, message: last }))).toEqual(WAITS);
    expect(outcome(await write(user, { thread }))).toEqual(WAITS);
  });

  it("takes a message for no newer than its append, whatever time it has", async () => {
    const [user, hour] = [newUser(), DAY / 24];
    const { id: thread } = await create(user);
    await append(thread, [say(MOVED)], { createdAt: clock() + 20 * hour });
    control.clockAhead += hour;
    await remember(user, { ...home, object: "Porto" });
    expect(outcome(await write(user, { thread }))).toEqual(WAITS);
    control.clockAhead += 21 * hour;
    expect(outcome(await write(user, { thread }))).toEqual(WAITS);
  });

  it("waits if the cited message is not there, is deleted, or is in another user's thread", async () => {
    const { user, thread, last } = await chat(say(MOVED));
    const other = await chat(say(MOVED));
    for (const source of [
      {},
      { message: last },
      { thread: "nowhere", message: last },
      { thread, message: last + 1 },
      { thread, message: 0 },
      { thread, message: "m7" },
      { thread: other.thread, message: other.last },
    ])
      expect(outcome(await write(user, source)), JSON.stringify(source)).toEqual(WAITS);
    await call(`/v1/threads/${thread}/messages/${last}`, { method: "DELETE" });
    expect(outcome(await write(user, { thread, message: last }))).toEqual(WAITS);
  });

  it("waits if somebody else says it in a chat of several people, or nobody knows who is who", async () => {
    const says = (name: string, content: string) => ({ role: "user", name, content });
    const { user, thread, last } = await chat(says("Bob", MOVED), says("Ana", "Hello there."));
    expect(outcome(await write(user, { thread, message: last - 1 }))).toEqual(WAITS);
    const ofAna = { threadId: thread, owners: ["Ana"], extract: ["procedures"] };
    expect((await call(`/v1/users/${user}/ingest`, { json: ofAna })).status).toBe(202);
    expect(outcome(await write(user, { thread, message: last - 1 }))).toEqual(WAITS);
    const { body } = await append(thread, [says("ana", MOVED)]);
    expect(outcome(await write(user, { thread, message: body.lastSeq }))).toEqual(CHANGED);
  });

  it("waits if a model, a tool or an import appended the message, or writes with a lower trust", async () => {
    for (const trust of ["model", "tool", "import"]) {
      const { user, thread } = await chat(say("Hello there."));
      const { body } = await append(thread, [say(MOVED)], {}, { "Cairn-Trust": trust });
      expect(outcome(await write(user, { thread, message: body.lastSeq })), trust).toEqual(WAITS);
    }
    for (const trust of ["tool", "import"]) {
      const { user, thread } = await chat(say(MOVED));
      const { body } = await write(user, { thread }, {}, { "Cairn-Trust": trust });
      expect(body).toMatchObject({ status: "quarantined", trust });
    }
  });

  it("waits if the message is older than the fact, or than a day", async () => {
    const { user, thread, last, stored } = await chat(say(MOVED));
    control.clockAhead += 60_000;
    await remember(user, { ...home, object: "Faro" });
    const { body } = await write(user, { thread, message: last });
    expect(body).toMatchObject({ status: "quarantined", conflictsWith: stored.id });
    const other = await chat(say(MOVED));
    control.clockAhead += DAY + 60_000;
    expect(outcome(await write(other.user, { thread: other.thread }))).toEqual(WAITS);
  });

  it("waits without a triple, and where the policy refuses it does not come in", async () => {
    const { user, thread } = await chat(say("My note says Lisbon."));
    await remember(user, { key: "home", text: "Porto" });
    const keyed = await remember(user, { key: "home", text: "Lisbon", source: { thread } }, MODEL);
    expect(keyed.body.status).toBe("quarantined");
  });

  it("reads 32 messages for one write", async () => {
    const { user, thread, last } = await chat(say(MOVED));
    const facts = Array.from({ length: 33 }, (_, i) => ({ ...home, scope: `${i}` }));
    const many = (memories: object[], headers: Record<string, string> = {}) =>
      call(`/v1/users/${user}/memories/batch`, { json: { memories }, headers });
    await many(facts.map((fact) => ({ ...fact, object: "Porto" })));
    control.clockAhead += 60_000;
    const { body: appended } = await append(thread, [say(MOVED)]);
    expect(appended.lastSeq).toBe(last + 1);
    const source = { thread, message: appended.lastSeq };
    const { body } = await many(
      facts.map((fact) => ({ ...fact, object: "Lisbon", source })),
      MODEL,
    );
    const statuses = body.items.map(({ memory }: Answer["body"]) => memory.status);
    expect(statuses).toEqual([...Array<string>(limits.sources).fill("active"), "quarantined"]);
  });

  it("supersedes over MCP, whose tool names the thread and perhaps the message", async () => {
    const { user, thread, last } = await chat(say(MOVED), say("I like tea."));
    const token = await tokenWith({ user });
    const tool = async (more: object) => {
      const given = { name: "memory_remember_fact", arguments: { ...home, object: "Lisbon", ...more } };
      return (await mcp("tools/call", given, { token })).result;
    };
    expect((await tool({ threadId: thread })).structuredContent.status).toBe("quarantined");
    expect((await tool({ message: 1 })).isError).toBe(true);
    expect((await tool({ threadId: thread, message: last - 1 })).structuredContent).toMatchObject({
      status: "active",
      superseded: [{ text: "user lives in Porto" }],
    });
  });
});
