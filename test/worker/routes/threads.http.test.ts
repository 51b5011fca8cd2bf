import { afterEach, expect, it } from "vitest";
import { call, newUser, pagesOf } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";

afterEach(restore);

const create = async (user: string, fields: object = {}) =>
  (await call(`/v1/users/${user}/threads`, { json: fields })).body;
const append = (id: string, messages: unknown[]) =>
  call(`/v1/threads/${id}/messages`, { json: { messages } });
const say = (i: number) => ({ role: i % 2 === 0 ? "user" : "assistant", content: `message ${i}` });
const said = (page: { items: { message: { content: string } }[] }) =>
  page.items.map(({ message }) => message.content);

it("creates a thread with defaults, or with all that it was given", async () => {
  const user = newUser();
  const made = await call(`/v1/users/${user}/threads`, { json: {} });
  expect(made.status).toBe(201);
  const { id, createdAt } = made.body;
  expect(made.body).toEqual({
    id,
    userId: user,
    title: "New conversation",
    length: 0,
    createdAt,
    updatedAt: createdAt,
  });
  expect(id).toMatch(/^[A-Za-z0-9_-]{22}\.[0-9a-f-]{36}$/);
  const fields = {
    title: "Plans",
    agent: "planner",
    resourceSlug: "trips",
    recordId: "7",
    metadata: { a: [1, null] },
  };
  const full = await create(user, fields);
  expect(full).toMatchObject(fields);
  expect((await call(`/v1/threads/${full.id}`)).body).toEqual(full);
});

it("appends in order and gives every message back as it was, unknown fields included", async () => {
  const { id } = await create(newUser());
  const messages = [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "hi" },
        { type: "image", data: "aGk=", mimeType: "image/png" },
      ],
    },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "c1", name: "look", arguments: { q: 1 } }],
      _pending: true,
    },
    { role: "tool", content: "found", toolCallId: "c1", extra: { deep: [null, 0, false, ""] } },
    { role: "assistant", content: null, tool_calls: [] },
    { id: "u1", role: "user", parts: [{ type: "text", text: "as the UI has it" }] },
    JSON.parse('{"role":"user","content":"odd keys","__proto__":{"x":1},"constructor":1,"":2}'),
  ];
  const first = await append(id, messages.slice(0, 2));
  expect(first.status).toBe(201);
  expect(first.body).toEqual({ length: 2, firstSeq: 1, lastSeq: 2 });
  expect((await append(id, messages.slice(2))).body).toEqual({ length: 7, firstSeq: 3, lastSeq: 7 });
  const { body, text } = await call(`/v1/threads/${id}/messages`);
  expect(body.items.map(({ message }: { message: unknown }) => JSON.stringify(message))).toEqual(
    messages.map((message) => JSON.stringify(message)),
  );
  expect(body.items.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(text).toContain('"__proto__":{"x":1}');
});

it("gives messages back byte for byte, however they were written", async () => {
  const { id } = await create(newUser());
  const written = [
    '{ "role":"user", "content":"x", "snowflake":12345678901234567890, "2":1.0, "1":1e20 }',
    '{"content":"a, ] } \\" \\\\","role":"user","__proto__":{"a":[{}, []]},"é":"\\u00e9\\ud83d\\ude00"}',
    '{\n\t"role" : "user",\n\t"content" : ["a", {"text":"b"}]\n}',
  ];
  const raw = `{"\\u006dessages":[{"role":"user","content":"not the last"}], "messages" : [ ${written.join(" , ")} ] }`;
  expect((await call(`/v1/threads/${id}/messages`, { raw })).body.length).toBe(3);
  const { text } = await call(`/v1/threads/${id}/messages`);
  for (const message of written) expect(text).toContain(`"message":${message},"createdAt"`);
  const long = `{"messages":[{"role":"user","content":"x","numbers":[${"1e20,".repeat(1_000_000)}1]}]}`;
  expect((await call(`/v1/threads/${id}/messages`, { raw: long })).status).toBe(201);
});

it("takes an append of nothing, which touches the thread", async () => {
  const { id, updatedAt } = await create(newUser());
  control.clockAhead = 5_000;
  expect((await append(id, [])).body).toEqual({ length: 0 });
  expect((await call(`/v1/threads/${id}`)).body.updatedAt).toBeGreaterThan(updatedAt);
});

it("stores all messages of a call or none, and names the one that is wrong", async () => {
  const { id } = await create(newUser());
  const wrong: [unknown, string][] = [
    [{ content: "x" }, "body.messages[1].role"],
    [{ role: "", content: "x" }, "body.messages[1].role"],
    [{ role: 1, content: "x" }, "body.messages[1].role"],
    [{ role: "user" }, "body.messages[1].content"],
    [{ role: "user", content: 5 }, "body.messages[1].content"],
    ["text", "body.messages[1]"],
    [null, "body.messages[1]"],
    [[], "body.messages[1]"],
  ];
  for (const [message, path] of wrong) {
    const answer = await append(id, [say(0), message]);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
  }
  expect((await call(`/v1/threads/${id}`)).body.length).toBe(0);
});

it("takes a message of 512 levels, in every view and check, and refuses one more", async () => {
  const { id } = await create(newUser());
  const nested = (levels: number) =>
    `{"role":"user","content":"x","deep":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  const post = (path: string, levels: number) =>
    call(`/v1/threads/${id}/${path}`, { raw: `{"messages":[${nested(levels)}]}` });
  expect((await post("messages", 512)).status).toBe(201);
  expect((await post("validate", 512)).body).toEqual({ ok: true });
  for (const view of ["raw", "sanitized"])
    expect((await call(`/v1/threads/${id}/messages?view=${view}`)).text).toContain(nested(512));
  for (const levels of [513, 1_000_000]) {
    const past = await post("messages", levels);
    expect(past.status).toBe(400);
    expect(past.body.error.details[0].path).toBe("body.messages[0]");
  }
});

it("reads the last messages, the ones before them, or from the first on", async () => {
  const { id } = await create(newUser());
  await append(
    id,
    Array.from({ length: 25 }, (_, i) => say(i)),
  );
  const url = `/v1/threads/${id}/messages`;
  const newest = await call(`${url}?limit=10`);
  expect(said(newest.body)).toEqual(Array.from({ length: 10 }, (_, i) => `message ${i + 15}`));
  const before = await call(`${url}?limit=10&cursor=${newest.body.cursor}`);
  expect(said(before.body)).toEqual(Array.from({ length: 10 }, (_, i) => `message ${i + 5}`));
  const first = await call(`${url}?limit=10&cursor=${before.body.cursor}`);
  expect(said(first.body)).toEqual(Array.from({ length: 5 }, (_, i) => `message ${i}`));
  expect(first.body).not.toHaveProperty("cursor");
  const oldest = await call(`${url}?limit=20&order=oldest`);
  expect(said(oldest.body)[0]).toBe("message 0");
  const rest = await call(`${url}?limit=20&order=oldest&cursor=${oldest.body.cursor}`);
  expect(said(rest.body)).toEqual(Array.from({ length: 5 }, (_, i) => `message ${i + 20}`));
  expect(rest.body).not.toHaveProperty("cursor");
  const turned = await call(`${url}?order=newest&cursor=${oldest.body.cursor}`);
  expect(turned.body.error.code).toBe("invalid_cursor");
});

it("keeps the order and counts right under appends that come at once", async () => {
  const { id } = await create(newUser());
  const batches = Array.from({ length: 50 }, (_, i) => [`${i}a`, `${i}b`]);
  await Promise.all(
    batches.map((batch) =>
      append(
        id,
        batch.map((content) => ({ role: "user", content })),
      ),
    ),
  );
  const { body } = await call(`/v1/threads/${id}/messages?limit=1000`);
  const contents = said(body);
  expect(contents.toSorted()).toEqual(batches.flat().toSorted());
  for (const [one, other] of batches)
    expect(contents.indexOf(other ?? "")).toBe(contents.indexOf(one ?? "") + 1);
  expect((await call(`/v1/threads/${id}`)).body.length).toBe(100);
});

it("lists a user's threads, the one updated last first, by agent, in complete pages", async () => {
  const user = newUser();
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    control.clockAhead = i * 1_000;
    ids.push((await create(user, { agent: i % 2 === 0 ? "even" : "odd" })).id);
  }
  await create(newUser());
  control.clockAhead = 60_000;
  await append(ids[2] ?? "", [say(0)]);
  const listed: string[] = [];
  for await (const { items } of pagesOf(`/v1/users/${user}/threads?limit=3`))
    listed.push(...items.map((thread: { id: string }) => thread.id));
  expect(listed).toEqual([2, 6, 5, 4, 3, 1, 0].map((i) => ids[i]));
  const odd = await call(`/v1/users/${user}/threads?agent=odd`);
  expect(odd.body.items.map((thread: { id: string }) => thread.id)).toEqual([5, 3, 1].map((i) => ids[i]));
});

it("lists threads of the same moment in the order of their creation, across pages", async () => {
  const user = newUser();
  control.clockAt = clock();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++)
    ids.push((await create(user, i % 2 === 0 ? {} : { agent: `agent ${9 - i}` })).id);
  const first = (await call(`/v1/users/${user}/threads?limit=3`)).body;
  const rest = (await call(`/v1/users/${user}/threads?limit=3&cursor=${first.cursor}`)).body;
  expect([...first.items, ...rest.items].map((thread: { id: string }) => thread.id)).toEqual(ids);
});

it("deletes a thread with its messages, also from recall", async () => {
  const user = newUser();
  const { id } = await create(user);
  const { id: other } = await create(user);
  await append(id, [{ role: "user", content: "the zebra is called Maurice" }]);
  await append(other, [{ role: "user", content: "a zebra has stripes" }]);
  const recall = () => call(`/v1/users/${user}/recall`, { json: { query: "zebra" } });
  expect((await recall()).body.hits).toHaveLength(2);
  expect((await call(`/v1/threads/${id}`, { method: "DELETE" })).status).toBe(204);
  expect((await recall()).body.hits.map((hit: { threadId: string }) => hit.threadId)).toEqual([other]);
  for (const path of [`/v1/threads/${id}`, `/v1/threads/${id}/messages`])
    expect((await call(path)).status).toBe(404);
  expect((await append(id, [say(0)])).status).toBe(404);
  expect((await call(`/v1/threads/${id}`, { method: "DELETE" })).status).toBe(404);
  expect((await call(`/v1/users/${user}/threads`)).body.items).toHaveLength(1);
});

it("takes messages that have calls, a refusal or audio in the place of a content, as OpenAI's may", async () => {
  const { id } = await create(newUser());
  const calls = [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }];
  const messages = [
    { role: "assistant", tool_calls: calls },
    { role: "assistant", refusal: "No." },
    { role: "assistant", audio: { id: "a" } },
  ];
  expect((await append(id, messages)).status).toBe(201);
  expect((await append(id, [{ role: "assistant", content: 5, tool_calls: calls }])).status).toBe(400);
});

it("refuses metadata with a number beyond a double, which would come back as another one", async () => {
  const user = newUser();
  const { id } = await create(user);
  const send = (path: string, raw: string, method = "POST") => call(path, { raw, method });
  const posts = [
    `/v1/users/${user}/threads`,
    "/v1/threads",
    `/v1/users/${user}/threads/resume`,
    `/v1/threads/${id}/fork`,
  ];
  const beyond = '{"metadata":{"a":[{"discordId":12345678901234567890}]}}';
  for (const answer of [
    ...(await Promise.all(posts.map((path) => send(path, beyond)))),
    await send(`/v1/threads/${id}`, beyond, "PATCH"),
  ]) {
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("body.metadata");
  }
  const within = '{"metadata":{"a":9007199254740991,"b":-0.5e-3,"c":"12345678901234567890"}}';
  expect((await send(`/v1/threads/${id}`, within, "PATCH")).body.metadata).toEqual(
    JSON.parse(within).metadata,
  );
});
