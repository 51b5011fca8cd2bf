// The tenant's own rules of extraction, and its patterns of redaction. Each test takes them back: all users have them.
import { afterEach, describe, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { ScriptedModel } from "../../doubles/language-models.ts";
import { tool } from "../../mcp-calls.ts";
import {
  ingested,
  memoriesOf,
  messagesOf,
  ring,
  user,
} from "../../durable-objects/user-memory/ingest/calls.ts";

const PATH = "/v1/extraction";
const put = (json: object) => call(PATH, { method: "PUT", json });

afterEach(async () => {
  restore();
  await call(PATH, { method: "DELETE" });
});

/** Cards of nobody else's tests. */
const redact = [{ pattern: String.raw`zq\d{4}[ -]?\d{4}`, as: "[card]" }];
const CARD = "zq1234-5678";

describe("the settings", () => {
  it("are empty, and after a PUT what it has, all of it", async () => {
    expect((await call(PATH)).body).toEqual({});
    const rules = [
      { scope: "a", keep: ["food"] },
      { leaveOut: ["politics"], prompt: "Write in verse." },
    ];
    expect(await put({ rules, redact })).toMatchObject({ status: 200, body: { rules, redact } });
    expect((await call(PATH)).body).toEqual({ rules, redact });
    expect((await put({ rules })).status).toBe(200);
    expect((await call(PATH)).body).toEqual({ rules });
    expect((await call(PATH, { method: "DELETE" })).status).toBe(204);
    expect((await call(PATH)).body).toEqual({});
  });

  it("are taken at each limit, and refused past it", async () => {
    const topics = Array.from({ length: 50 }, (_, i) => String(i).padEnd(256, "x"));
    const most = {
      rules: [
        { keep: topics, leaveOut: topics, prompt: "é".repeat(2_048) },
        ...Array.from({ length: 99 }, (_, i) => ({ agent: `a${i}`, prompt: "x".repeat(500) })),
      ],
      redact: Array.from({ length: 16 }, () => ({ pattern: "é".repeat(128), as: "x".repeat(64) })),
    };
    expect((await put(most)).status).toBe(200);
    expect((await call(PATH)).body).toEqual(most);
    const longer = Array.from({ length: 100 }, (_, i) => ({ agent: `a${i}`, prompt: "x".repeat(1_100) }));
    expect((await put({ rules: longer })).body.error.details).toMatchObject([{ path: "body.rules" }]);
  });

  const rule = { leaveOut: ["politics"] };
  it.each<[string, object, string, string?]>([
    [
      "1,000 rules",
      { rules: Array.from({ length: 1_000 }, (_, i) => ({ ...rule, scope: `s${i}` })) },
      "body.rules",
    ],
    ["a prompt of 100 KB", { rules: [{ prompt: "x".repeat(100_000) }] }, "body.rules[0].prompt"],
    ["a topic of 100 KB", { rules: [{ keep: ["x".repeat(100_000)] }] }, "body.rules[0].keep[0]"],
    ["too many topics", { rules: [{ keep: Array.from({ length: 51 }, () => "x") }] }, "body.rules[0].keep"],
    ["a scope of 100 KB", { rules: [{ ...rule, scope: "x".repeat(100_000) }] }, "body.rules[0].scope"],
    ["no topics", { rules: [{ keep: [] }] }, "body.rules[0].keep"],
    ["an empty agent", { rules: [{ ...rule, agent: "" }] }, "body.rules[0].agent"],
    ["a rule that sets nothing", { rules: [{ scope: "a" }] }, "body.rules[0]"],
    ["two rules of one scope", { rules: [rule, { ...rule, scope: "a" }, rule] }, "body.rules[2]"],
    ["an unknown field", { rules: [{ ...rule, topics: [] }] }, "body.rules[0].topics"],
    ["too many patterns", { redact: Array.from({ length: 17 }, () => ({ pattern: "x" })) }, "body.redact"],
    ["a pattern of 100 KB", { redact: [{ pattern: "x".repeat(100_000) }] }, "body.redact[0].pattern"],
    ["no pattern", { redact: [{ pattern: "" }] }, "body.redact[0].pattern"],
    ["a pattern that does not compile", { redact: [{ pattern: "(a" }] }, "body.redact[0].pattern"],
    ["catastrophic cost", { redact: [{ pattern: "(a+)+b" }] }, "body.redact[0].pattern", "does not have"],
    [
      "cost of a square",
      { redact: [{ pattern: String.raw`\w{1,60}\w{1,60}x` }] },
      "body.redact[0].pattern",
      "ambiguous",
    ],
    ["a long text for matches", { redact: [{ pattern: "x", as: "x".repeat(65) }] }, "body.redact[0].as"],
  ])("are refused with the field: %s", async (_, json, path, message = "") => {
    const { status, body } = await put(json);
    expect(status).toBe(400);
    expect(body.error.details).toContainEqual({ path, message: expect.stringContaining(message) });
    expect((await call(PATH)).body).toEqual({});
  });
});

describe("rules of extraction", () => {
  const topicsOf = ({ asked }: ScriptedModel) =>
    asked.map(({ system }) => /topics: \["(\w+)"\]/.exec(system)?.[1] ?? "none");

  it("reach the prompt of the ingest that they name: by scope and agent, scope, agent, or all", async () => {
    const model = new ScriptedModel({ facts: [] });
    control.languageModel = model;
    const keep = (topic: string, of: object) => ({ ...of, keep: [topic] });
    await put({
      rules: [
        keep("all", {}),
        keep("agent", { agent: "cook" }),
        keep("scope", { scope: "clinic" }),
        keep("both", { scope: "clinic", agent: "cook" }),
      ],
    });
    const owner = newUser();
    for (const [agent, scope] of [
      ["cook", "clinic"],
      [null, "clinic"],
      ["cook", "x"],
      ["waiter", null],
    ]) {
      const thread = await call(`/v1/users/${owner}/threads`, { json: agent === null ? {} : { agent } });
      const { id } = thread.body;
      await call(`/v1/threads/${id}/messages`, { json: { messages: [user("I live in Porto.")] } });
      await ingested(owner, { threadId: id, extract: ["facts"], ...(scope !== null && { scope }) });
    }
    expect(topicsOf(model)).toEqual(["both", "scope", "agent", "all"]);
  });

  it("change no check, and are named with the prompt of a memory", async () => {
    await put({ rules: [{ leaveOut: ["politics"], prompt: "Take the assistant at its word." }] });
    const fact = { subject: "user", predicate: "lives in", sources: [1] };
    const model = new ScriptedModel({
      facts: [
        { ...fact, object: "Porto" },
        { ...fact, object: "Rome", sources: [2] },
      ],
    });
    control.languageModel = model;
    const owner = newUser();
    const messages = [user("I live in Porto."), { role: "assistant", content: "You live in Rome." }];
    await ingested(owner, { messages, extract: ["facts"] });
    expect(await memoriesOf(owner)).toMatchObject([
      { object: "Porto", writtenBy: { prompt: "extract/3+own" } },
    ]);
    const [{ system } = { system: "" }] = model.asked;
    expect(system).toMatch(
      /changes none of the rules above:\n- Leave out .*\["politics"\]\.\nTake the assistant/,
    );
    // The second look is asked as ever.
    expect(model.looked[0]?.system).not.toContain("politics");
  });

  it("are waited for while D1 does not tell them", async () => {
    const model = new ScriptedModel({ facts: [] });
    control.languageModel = model;
    const owner = newUser();
    const { body: thread } = await call(`/v1/users/${owner}/threads`, { json: {} });
    await call(`/v1/threads/${thread.id}/messages`, { json: { messages: [user("I live in Porto.")] } });
    const { body } = await call(`/v1/users/${owner}/ingest`, {
      json: { threadId: thread.id, extract: ["facts"] },
    });
    control.extraction = "fail";
    await ring(owner);
    control.extraction = "ok";
    expect((await call(`/v1/ingests/${body.ingestId}`)).body).toMatchObject({
      status: "queued",
      why: "storage",
    });
    expect(model.asked).toEqual([]);
  });
});

describe("a text that is JSON itself", () => {
  const kept = async (text: string) => {
    const owner = newUser();
    await put({ redact: [...redact, { pattern: String.raw`\b\d{8}\b`, as: 'a "number" \\' }] });
    const path = `/v1/users/${owner}/kv/k`;
    expect((await call(path, { method: "PUT", json: { arguments: text } })).status).toBe(200);
    return (await call(path)).body.arguments as string;
  };

  it("stays JSON: its strings, its names and its numbers lose what matches", async () => {
    const given = { card: CARD, n: 12_345_678, ok: [1.5, true], [`of ${CARD}`]: { more: `{"n":12345678}` } };
    expect(JSON.parse(await kept(JSON.stringify(given)))).toEqual({
      card: "[card]",
      n: 'a "number" \\',
      ok: [1.5, true],
      "of [card]": { more: JSON.stringify({ n: 'a "number" \\' }) },
    });
  });

  it("loses what a pattern matches across its parts", async () => {
    const across = [{ pattern: String.raw`"token":"?\w{8,30}`, as: "[token]" }];
    await put({ redact: across });
    const owner = newUser();
    const path = `/v1/users/${owner}/kv/k`;
    await call(path, { method: "PUT", json: { arguments: '{"token":"abcdef123456"}' } });
    expect((await call(path)).body.arguments).toBe('{[token]"}');
  });

  it("is a text like others if it is none: the arguments of a call that a stream has begun", async () => {
    expect(await kept(`{"card":"${CARD}","n":1`)).toBe('{"card":"[card]","n":1');
    expect(await kept(`[${CARD}] is my card`)).toBe("[[card]] is my card");
  });
});

describe("patterns of redaction", () => {
  it("are off by default", async () => {
    const owner = newUser();
    const { body } = await call(`/v1/users/${owner}/memories`, { json: { text: `My card is ${CARD}.` } });
    expect(body.text).toBe(`My card is ${CARD}.`);
  });

  it("take their matches out of messages, memories, entries, threads and ingests before these are stored", async () => {
    await put({ redact });
    const owner = newUser();
    const users = `/v1/users/${owner}`;
    const { body: memory } = await call(`${users}/memories`, {
      json: { text: `My card is ${CARD}.`, metadata: { note: [CARD] }, tags: [CARD] },
    });
    expect(memory).toMatchObject({
      text: "My card is [card].",
      metadata: { note: ["[card]"] },
      tags: ["[card]"],
    });
    await call(`${users}/memories/${memory.id}`, { method: "PATCH", json: { text: `Now ${CARD}` } });
    expect((await call(`${users}/memories/${memory.id}`)).body.text).toBe("Now [card]");
    await call(`${users}/memories/batch`, { json: { memories: [{ text: `Card ${CARD}` }] } });
    expect((await memoriesOf(owner)).map(({ text }) => text)).toContain("Card [card]");
    const { body: thread } = await call(`${users}/threads`, { json: { title: CARD } });
    expect(thread.title).toBe("[card]");
    await call(`/v1/threads/${thread.id}/messages`, {
      json: { messages: [user(`It is ${CARD}, 12 \u00e9`)] },
    });
    expect(await messagesOf(thread.id)).toEqual(["It is [card], 12 \u00e9"]);
    await call(`${users}/kv/${CARD}`, { method: "PUT", json: { [CARD]: CARD, n: 12345678 } });
    expect((await call(`${users}/kv/${CARD}`)).body).toMatchObject({ [CARD]: "[card]", n: 12345678 });
    const { threadId } = await ingested(owner, { messages: [user(`I say ${CARD}.`)] });
    expect(await messagesOf(threadId)).toEqual(["I say [card]."]);
    // The same conversation is still known, as both are without the card.
    expect(await ingested(owner, { messages: [user(`I say ${CARD}.`)] })).toMatchObject({
      messages: { known: 1 },
    });
  });

  it("hold for tools of MCP and for imports, and not for the tenant's own settings", async () => {
    const owner = newUser();
    await call(`/v1/users/${owner}/memories`, { json: { text: `My card is ${CARD}.` } });
    const exported = (await call(`/v1/users/${owner}/export`)).text;
    await put({ redact });
    expect((await put({ redact: [...redact, { pattern: CARD }] })).body.redact[1]).toEqual({ pattern: CARD });
    const other = newUser();
    const { status } = await call(`/v1/users/${other}/import`, {
      method: "POST",
      raw: exported,
      headers: { "Content-Type": "application/x-ndjson" },
    });
    expect(status).toBe(200);
    expect(await memoriesOf(other)).toMatchObject([{ text: "My card is [card]." }]);
    const args = { text: `Card ${CARD} again`, tags: [CARD] };
    const { structured } = await tool(other, "memory_remember", args);
    const { body } = await call(`/v1/users/${other}/memories/${structured.id}`);
    expect(body).toMatchObject({ text: "Card [card] again", tags: ["[card]"] });
  });

  it("let nothing be stored while D1 does not tell them, and refuse a body in which they match too often", async () => {
    const owner = newUser();
    control.extraction = "fail";
    const failed = await call(`/v1/users/${owner}/memories`, { json: { text: "I like tea" } });
    expect([failed.status, failed.body.error.code]).toEqual([503, "storage_unavailable"]);
    control.extraction = "ok";
    await put({ redact: [{ pattern: "zq", as: "x".repeat(64) }] });
    const { status, body } = await call(`/v1/users/${owner}/kv/k`, {
      method: "PUT",
      json: "zq".repeat(20_000),
    });
    expect([status, body.error.code]).toEqual([413, "body_too_large"]);
  });
});
