// Who may use /mcp, as whom, and what of it.
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { z } from "@hono/zod-openapi";
import { READS, textResult, tool as defineTool } from "../../../src/worker/mcp/tool.ts";
import { createApp } from "../../../src/worker/app.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser, token, tokenWith } from "../../call.ts";
import { mcp, mcp2025, mcpPost, tool, toolWith } from "../../mcp-calls.ts";
import { list, remember, remembered } from "../../memory-calls.ts";
import { create } from "../../thread-calls.ts";
import type { Scope } from "../../../src/domain/token.ts";
import { realPorts } from "../../doubles/ports.ts";

const newShared = (): string => `shared:${newUser()}`;
const READING = [
  "memory_recall",
  "thread_search",
  "memory_list",
  "memory_history",
  "memory_list_procedures",
  "memory_get_procedure",
  "memory_context",
];
const WRITING = [
  "memory_remember",
  "memory_remember_fact",
  "memory_forget_fact",
  "memory_store_procedure",
  "memory_forget_procedure",
];
const fact = (object: string) => ({ subject: "user", predicate: "lives in", object });

async function listedFor(bearer: string, headers = {}): Promise<string[]> {
  const { result } = await mcp("tools/list", {}, { token: bearer, headers });
  return result.tools.map(({ name }: { name: string }) => name);
}

describe("refuses to start with a tool", () => {
  const started = (said: object) =>
    defineTool({
      name: "memory_new",
      title: "New",
      description: "New.",
      annotations: READS,
      scope: "read",
      owner: "user",
      input: z.strictObject({}),
      run: async () => textResult(""),
      ...said,
    });
  it.each([
    ["no scope", { scope: undefined }],
    ["no owner", { owner: undefined }],
    ["the user alone, and takes other owners", { input: z.strictObject({ owner: z.string() }) }],
    ["another owner, and takes none", { owner: "owners" }],
  ])("that says %s", (_, said) => {
    expect(() => started(said)).toThrow("memory_new");
    started({});
  });
});

describe("without a good token", () => {
  it("answers 401 and says that a bearer token is wanted", async () => {
    const none = await mcp("tools/list", {}, { token: null });
    expect([none.status, none.error.code]).toEqual([401, "unauthenticated"]);
    expect(none.headers.get("WWW-Authenticate")).toBe('Bearer realm="cairn"');
  });

  it("answers 401 and says that the token is not good", async () => {
    for (const bad of ["nonsense", await token(newUser(), ["read"], -60)]) {
      const { status, headers } = await mcp("tools/list", {}, { token: bad });
      expect(status).toBe(401);
      expect(headers.get("WWW-Authenticate")).toBe('Bearer realm="cairn", error="invalid_token"');
    }
  });
});

it("lets no token of one thread in", async () => {
  const thread = `${await userHash("x")}.01a2019b-4b59-74ca-b1d1-6e6cb653b136`;
  const only = await tokenWith({ user: newUser(), thread });
  expect(await mcp("tools/list", {}, { token: only })).toMatchObject({
    status: 403,
    error: { code: "forbidden" },
  });
});

it("counts nothing and keeps nothing of a shared owner that the token only reads", async () => {
  const shared = newShared();
  await remembered(shared, { text: "Releases go out on Tuesdays" });
  const { id: threadId } = await create(shared);
  const bearer = await tokenWith({ user: newUser(), shared: [shared] });
  const query = "when do releases go out?";
  const headers = { "Cairn-User": encodeURIComponent(shared) };
  for (const name of ["memory_recall", "memory_context"])
    expect((await toolWith(bearer, name, { query }, headers)).text).toContain("Tuesdays");
  expect((await call(`/v1/users/${shared}/usage`)).body.items).toEqual([]);
  const kept = await toolWith(bearer, "memory_context", { query, threadId }, headers);
  expect(kept.text).toContain("only reads the memory of this shared owner");
});

it("notes in the audit log what a tool took away", async () => {
  const user = newUser();
  const forget = { name: "memory_forget_fact", arguments: { subject: "user", predicate: "lives in" } };
  await mcp("tools/call", forget, { token: await token(user) });
  const noted = () =>
    call(`/v1/audit?user=${user}&action=${encodeURIComponent("POST /mcp memory_forget_fact")}`);
  await expect.poll(async () => (await noted()).body.items).toMatchObject([{ outcome: "ok" }]);
});

it("notes a procedure of a shared owner that was forgotten as that owner's", async () => {
  const shared = newShared();
  await remembered(shared, { kind: "procedure", title: "deploy", text: "do it" });
  const bearer = await tokenWith({ user: "*", shared: [shared] });
  const forget = { title: "deploy", owner: shared };
  const said = await toolWith(bearer, "memory_forget_procedure", forget, { "Cairn-User": newUser() });
  expect(said.structured).toEqual({ forgotten: 1 });
  const noted = async () => (await call(`/v1/audit?user=${encodeURIComponent(shared)}`)).body.items;
  await expect
    .poll(noted)
    .toMatchObject([
      { action: "POST /mcp memory_forget_procedure", outcome: "ok", userHash: await userHash(shared) },
    ]);
});

it("notes a forgetting that the token may not do, as the API does", async () => {
  const user = newUser();
  await tool(user, "memory_forget_fact", { subject: "a", predicate: "b" }, { scope: ["read"] });
  const noted = async () => (await call(`/v1/audit?user=${user}`)).body.items;
  await expect.poll(noted).toMatchObject([{ action: "POST /mcp memory_forget_fact", outcome: "forbidden" }]);
});

describe("a token's scopes", () => {
  it.each<[Scope[], string[]]>([
    [["read"], READING],
    [["write"], WRITING],
    [
      ["read", "write"],
      [...READING, ...WRITING],
    ],
    [["cache", "admin"], []],
  ])("of %j list the tools that it may use, and no others", async (scope, tools) => {
    expect((await listedFor(await token(newUser(), scope))).toSorted()).toEqual(tools.toSorted());
  });

  it.each([...READING, ...WRITING])("keep %s from a token that lacks its own", async (name) => {
    const other: Scope[] = READING.includes(name) ? ["write", "admin"] : ["read", "admin"];
    const { isError, text } = await tool(newUser(), name, { query: "x" }, { scope: other });
    expect(isError).toBe(true);
    expect(text).toMatch(/^forbidden: The token lacks the scope '(read|write)'/);
  });

  it("keep resources and prompts from a token that does not read", async () => {
    const bearer = await token(newUser(), ["write"]);
    expect((await mcp("resources/list", {}, { token: bearer })).result.resources).toEqual([]);
    expect((await mcp("resources/templates/list", {}, { token: bearer })).result.resourceTemplates).toEqual(
      [],
    );
    expect((await mcp("prompts/list", {}, { token: bearer })).result.prompts).toEqual([]);
    const read = await mcp("resources/read", { uri: "cairn://facts" }, { token: bearer });
    expect(read.error.message).toContain("forbidden");
    const prompt = await mcp("prompts/get", { name: "about_me" }, { token: bearer });
    expect(prompt.error.message).toContain("forbidden");
  });
});

describe("whose memory it is", () => {
  it("is the token's user's, and no other user's is ever seen or changed", async () => {
    const [alice, bob] = [newUser(), newUser()];
    const { id } = await remembered(bob, { ...fact("Porto"), tags: ["t"] });
    await remember(bob, { kind: "procedure", title: "deploy", text: "secret steps to Porto" });
    const { id: threadId } = (await call(`/v1/users/${bob}/threads`, { json: {} })).body;
    await call(`/v1/threads/${threadId}/messages`, {
      json: { messages: [{ role: "user", content: "I live in Porto" }] },
    });
    const asked: [string, object][] = [
      ["memory_recall", { query: "Porto" }],
      ["memory_recall", { query: "Porto", owners: [bob] }],
      ["thread_search", { query: "Porto" }],
      ["thread_search", { query: "Porto", threadId }],
      ["memory_context", { query: "Porto" }],
      ["memory_context", { query: "Porto", threadId }],
      ["memory_list", {}],
      ["memory_list", { owner: bob }],
      ["memory_history", { id }],
      ["memory_history", { id, owner: bob }],
      ["memory_list_procedures", {}],
      ["memory_get_procedure", { title: "deploy" }],
      ["memory_get_procedure", { title: "deploy", owner: bob }],
      ["memory_forget_fact", { subject: "user", predicate: "lives in" }],
      ["memory_forget_procedure", { title: "deploy" }],
      ["memory_forget_procedure", { title: "deploy", owner: bob }],
      ["memory_store_procedure", { title: "deploy", body: "mine", owner: bob }],
    ];
    for (const [name, given] of asked)
      expect((await tool(alice, name, given)).text, `${name} ${JSON.stringify(given)}`).not.toContain(
        "Porto",
      );
    for (const uri of [
      "cairn://facts",
      "cairn://context",
      `cairn://procedures/deploy?owner=${bob}`,
      "cairn://procedures/deploy",
    ])
      expect(
        JSON.stringify((await mcp("resources/read", { uri }, { token: await token(alice) })).body),
      ).not.toContain("Porto");
    expect((await list(bob)).map(({ text }) => text)).toEqual([
      "secret steps to Porto",
      "user lives in Porto",
    ]);
    expect(await list(alice)).toEqual([]);
  });

  it("is not to be chosen with a header by a token of one user", async () => {
    const user = newUser();
    const { status, error } = await mcp(
      "tools/list",
      {},
      { token: await token(user), headers: { "Cairn-User": newUser() } },
    );
    expect([status, error.code]).toEqual([404, "not_found"]);
    expect(error.message).toContain(`this token is of the user "${user}"`);
  });

  it("has to be said, in a header, with a token of all users", async () => {
    const { status, error } = await mcp("tools/list");
    expect([status, error.code]).toEqual([400, "invalid_request"]);
    expect(error.details).toEqual([
      { path: "header.Cairn-User", message: "is required with a token of all users" },
    ]);
    const user = `${newUser()} é/%`;
    const headers = { "Cairn-User": encodeURIComponent(user) };
    await toolWith(await token("*"), "memory_remember_fact", fact("Porto"), headers);
    expect(await list(user)).toHaveLength(1);
  });

  it.each(["%zz", "*", "", "..", "x".repeat(257)])("is not '%s'", async (user) => {
    const { status, error } = await mcp("tools/list", {}, { headers: { "Cairn-User": user } });
    expect([status, error.code]).toEqual([400, "invalid_request"]);
  });

  it("can be a shared owner's, which is only read", async () => {
    const team = newShared();
    await remembered(team, fact("Porto"));
    const bearer = await tokenWith({ user: newUser(), shared: [team] });
    const headers = { "Cairn-User": encodeURIComponent(team) };
    expect((await listedFor(bearer, headers)).toSorted()).toEqual(READING.toSorted());
    expect((await toolWith(bearer, "memory_list", {}, headers)).text).toContain("Porto");
    const { text } = await toolWith(bearer, "memory_remember_fact", fact("Lisbon"), headers);
    expect(text).toBe("forbidden: The token may read this memory, not change it.");
    expect(await list(team)).toHaveLength(1);
  });
});

describe("shared owners", () => {
  it("are recalled and listed with the user's own, unless they are left out", async () => {
    const [user, team] = [newUser(), newShared()];
    await remember(team, { kind: "procedure", title: "release", text: "Tag it, then push the tag" });
    const shared = { shared: [team] };
    const ask = (name: string, given: object) => tool(user, name, given, shared);
    for (const [name, given] of [
      ["memory_recall", { query: "how do we release?" }],
      ["memory_list_procedures", { query: "how do we release?" }],
      ["memory_list_procedures", {}],
    ] as const) {
      expect((await ask(name, given)).text).toContain(`owner "${team}"`);
      expect((await ask(name, { ...given, owners: [] })).text).not.toContain("release");
    }
    expect((await ask("memory_get_procedure", { title: "release" })).text).toContain("Tag it");
    expect((await ask("memory_list", { owner: team })).text).toContain("Tag it");
    const foreign = await ask("memory_recall", { query: "x", owners: [team, "shared:other"] });
    expect(foreign.text).toContain("not_found");
    expect(foreign.text).toContain("owners[1]");
  });

  it("have a procedure after the user's own of the same title, and the answer names both", async () => {
    const [user, team] = [newUser(), newShared()];
    for (const owner of [team, user])
      await remember(owner, { kind: "procedure", title: "release", text: `steps of ${owner}` });
    const own = await tool(user, "memory_get_procedure", { title: "release" }, { shared: [team] });
    expect(own.text).toContain(`steps of ${user}`);
    expect(own.text).toContain(`These shared owners have one of this title too: "${team}".`);
    const theirs = await tool(
      user,
      "memory_get_procedure",
      { title: "release", owner: team },
      { shared: [team] },
    );
    expect(theirs.text).toContain(`steps of ${team}`);
    expect(theirs.text).not.toContain(`steps of ${user}`);
  });

  it("are not changed by a user's token, and say so", async () => {
    const [user, team] = [newUser(), newShared()];
    const given = { title: "release", body: "x", owner: team };
    const { isError, text } = await tool(user, "memory_store_procedure", given, { shared: [team] });
    expect(isError).toBe(true);
    expect(text).toContain("Leave `owner` out");
    expect([...(await list(team)), ...(await list(user))]).toEqual([]);
  });

  it("are changed by a token of all users that names them, and no others are", async () => {
    const [user, team, other] = [newUser(), newShared(), newShared()];
    const bearer = await tokenWith({ user: "*", shared: [team] });
    const store = (owner: string) =>
      toolWith(bearer, "memory_store_procedure", { title: "t", body: "x", owner }, { "Cairn-User": user });
    expect((await store(team)).isError).toBe(false);
    for (const owner of [other, newUser()]) expect((await store(owner)).text).toContain("not_found");
    expect([(await list(team)).length, (await list(other)).length]).toEqual([1, 0]);
    const gone = await toolWith(
      bearer,
      "memory_forget_procedure",
      { title: "t", owner: team },
      { "Cairn-User": user },
    );
    expect(gone.structured).toEqual({ forgotten: 1 });
    expect(await list(team)).toEqual([]);
  });

  it("are told to the model, with those that are not asked because there are too many", async () => {
    const teams = Array.from({ length: 17 }, newShared);
    const bearer = await tokenWith({ user: newUser(), shared: teams });
    const { result } = await mcp("server/discover", {}, { token: bearer });
    expect(result.instructions).toContain(`"${teams[16]}" (read only)`);
    const { text } = await toolWith(bearer, "memory_recall", { query: "anything" });
    expect(text).toContain(`Not searched: "${teams[16]}"`);
    expect(text).not.toContain(teams[15]);
  });
});

describe("a browser", () => {
  const from = (origin: string, more: object = {}) =>
    createApp(realPorts).request(
      "http://127.0.0.1:8787/mcp",
      { method: "POST", headers: { Origin: origin }, body: "{}" },
      { ...env, ...more },
    );

  it.each(["https://evil.example", "http://127.0.0.1:9999", "null"])(
    "is refused from %s, whatever it brings",
    async (origin) => {
      const answer = await from(origin);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ error: { code: "forbidden" } });
    },
  );

  it("is refused from the address that it called where this is no local one: names can be pointed anywhere", async () => {
    const { status } = await mcp("tools/list", {}, { headers: { Origin: "https://cairn.test" } });
    expect(status).toBe(403);
  });

  it("goes on to its token from an origin of CORS_ORIGINS, and from the same local address", async () => {
    const allowed = { CORS_ORIGINS: "https://app.example" };
    expect((await from("https://app.example", allowed)).status).toBe(401);
    expect((await from("https://other.example", allowed)).status).toBe(403);
    expect((await from("https://other.example", { CORS_ORIGINS: "*" })).status).toBe(401);
    expect((await from("http://127.0.0.1:8787")).status).toBe(401);
  });
});

describe("what is no call", () => {
  it("is answered 405 where it asks for a stream, or to end a session", async () => {
    const Authorization = `Bearer ${await token(newUser())}`;
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await exports.default.fetch("https://cairn.test/mcp", {
        method,
        headers: { Authorization },
      });
      expect([answer.status, answer.headers.get("Allow")]).toEqual([405, "POST"]);
      await answer.body?.cancel();
    }
  });

  it("is refused where it is too large, no JSON, not UTF-8, of another type, or accepts too little", async () => {
    const bearer = await token(newUser());
    const post = async (body: BodyInit, headers = {}) => {
      const { status, error } = await mcpPost(body, { token: bearer, headers });
      return [status, error.code];
    };
    expect(await post(`"${"x".repeat(1024 * 1024)}"`)).toEqual([413, "body_too_large"]);
    expect(await post("{")).toEqual([400, "invalid_json"]);
    expect(await post(Uint8Array.of(0x22, 0xff, 0x22))).toEqual([400, "invalid_json"]);
    expect(await post("{}", { "Content-Type": "text/plain" })).toEqual([415, "unsupported_media_type"]);
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const acceptsJsonOnly = { Accept: "application/json" };
    expect(await post(JSON.stringify(ping), acceptsJsonOnly)).toEqual([406, "not_acceptable"]);
    expect(await post(JSON.stringify(Array.from({ length: 21 }, () => ping)))).toEqual([
      400,
      "limit_exceeded",
    ]);
  });

  it("is an error of the protocol where the method, the tool or the prompt is unknown", async () => {
    const bearer = { token: await token(newUser()) };
    expect((await mcp("no/such", {}, bearer)).error.code).toBe(-32601);
    expect((await mcp("tools/call", { name: "no_such", arguments: {} }, bearer)).error.code).toBe(-32602);
    expect((await mcp("prompts/get", { name: "no_such" }, bearer)).error.code).toBe(-32602);
  });

  it("opens no stream of announcements, as there are none", async () => {
    const bearer = { token: await token(newUser()) };
    const { status, error, body } = await mcp("subscriptions/listen", { notifications: {} }, bearer);
    expect([status, error.code, body.id]).toEqual([404, -32601, 1]);
  });
});

it("serves both generations of the protocol, and keeps no session of the older one", async () => {
  const user = newUser();
  const bearer = { token: await token(user) };
  const discovered = await mcp("server/discover", {}, bearer);
  expect(discovered.result.supportedVersions).toContain("2026-07-28");
  const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const begun = await mcp2025("initialize", client, bearer);
  expect(begun.result).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { name: "cairn" } });
  expect(begun.headers.has("Mcp-Session-Id")).toBe(false);
  expect(begun.result.instructions).toBe(discovered.result.instructions);
  const stored = { name: "memory_remember_fact", arguments: fact("Porto") };
  expect((await mcp2025("tools/call", stored, bearer)).result.structuredContent.created).toBe(true);
  const [older, newer] = [await mcp2025("tools/list", {}, bearer), await mcp("tools/list", {}, bearer)];
  expect(older.result.tools).toEqual(newer.result.tools);
});
