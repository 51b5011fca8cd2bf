// An error names its field, so that its caller knows what to change.
import { expect, it } from "vitest";
import { type Answer, call, newUser, token } from "../../call.ts";
import { get, patch, remember, remembered } from "../../memory-calls.ts";

const detailsOf = ({ status, body }: Answer) => {
  expect(status).toBe(400);
  return body.error.details;
};

it.each([
  [{}, "text", "is required, unless there are a subject, a predicate and an object"],
  [{ subject: "a" }, "text", "is required, unless there are a subject, a predicate and an object"],
  [{ kind: "episode" }, "text", "is required"],
  [
    { subject: "a", predicate: "b" },
    "object",
    "is required of a subject and a predicate, unless there is a text",
  ],
])("of the memory %j says what is missing", async (memory, field, message) => {
  expect(detailsOf(await remember(newUser(), memory))).toEqual([{ path: `body.${field}`, message }]);
});

it.each([
  ["recall", {}, "body.query"],
  ["memories/batch", {}, "body.memories"],
  ["memories/forget", {}, "body.filter"],
  ["kv/batch", { operations: [{ key: "a" }] }, "body.operations[0].op"],
  ["kv/batch", { operations: [{ op: "get" }] }, "body.operations[0].key"],
])("of %s with %j says that what is missing is required", async (path, json, field) => {
  const details = detailsOf(await call(`/v1/users/${newUser()}/${path}`, { json }));
  expect(details).toContainEqual({ path: field, message: "is required" });
});

it("says the same of a registry's resolve, and of a compaction", async () => {
  const resolve = detailsOf(await call("/v1/prompt-cache/resolve", { json: { provider: "google" } }));
  expect(resolve).toContainEqual({ path: "body.model", message: "is required" });
  const { id } = (await call(`/v1/users/${newUser()}/threads`, { json: {} })).body;
  const compaction = detailsOf(await call(`/v1/threads/${id}/compactions`, { json: {} }));
  for (const path of ["body.summary", "body.to"])
    expect(compaction).toContainEqual({ path, message: "is required" });
});

it.each(["kind", "title", "subject", "predicate", "key", "scope", "externalId", "validFrom", "createdAt"])(
  "says that a memory's %s cannot be changed",
  async (field) => {
    const user = newUser();
    const { id } = await remembered(user, { text: "tea" });
    expect(detailsOf(await patch(user, id, { [field]: "x" }))).toEqual([
      { path: `body.${field}`, message: "cannot be changed" },
    ]);
  },
);

it("says of an unknown field that it is, and of nothing that it changes nothing", async () => {
  const user = newUser();
  const { id } = await remembered(user, { text: "tea" });
  expect(detailsOf(await patch(user, id, { colour: "x" }))).toEqual([
    { path: "body.colour", message: expect.stringMatching(/^is unknown/) },
  ]);
  expect(detailsOf(await patch(user, id, {}))).toEqual([{ path: "body", message: "changes nothing" }]);
  const thread = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  const patched = await call(`/v1/threads/${thread.id}`, { method: "PATCH", json: {} });
  expect(detailsOf(patched)).toEqual([{ path: "body", message: "changes nothing" }]);
});

it.each([
  ["recall", { query: "" }, "body.query", "must not be empty"],
  ["recall", { query: 7 }, "body.query", "must be a string"],
  ["recall", { query: "tea", k: 0 }, "body.k", "must be at least 1"],
  ["recall", { query: "tea", kinds: [] }, "body.kinds", "must not be empty"],
  [
    "memories",
    { text: "tea", kind: "idea" },
    "body.kind",
    'must be one of "fact", "episode", "procedure", "reflection"',
  ],
  [
    "kv/batch",
    { operations: [{ op: "move", key: "a" }] },
    "body.operations[0].op",
    'must be one of "get", "set", "delete", "messages", "append"',
  ],
])("says of %s with %j in plain words what %s must be", async (path, json, field, message) => {
  const details = detailsOf(await call(`/v1/users/${newUser()}/${path}`, { json }));
  expect(details).toEqual([{ path: field, message }]);
});

it("lists the fields that there are beside an unknown one", async () => {
  const json = { query: "tea", filter: { colour: ["a"] } };
  const [detail] = detailsOf(await call(`/v1/users/${newUser()}/recall`, { json }));
  expect(detail.path).toBe("body.filter.colour");
  expect(detail.message).toMatch(/^is unknown; the fields here are .*\btags\b/);
  const [query] = detailsOf(await call(`/v1/users/${newUser()}/memories/x?colour=1`));
  expect(query.message).toBe("is unknown; the fields here are asOf, validAt");
});

it("names the field that is probably meant", async () => {
  const user = newUser();
  const messages = [{ role: "user", content: "x" }];
  const misspelt: [path: string, json: object, field: string, message: string][] = [
    ["recall", { query: "tea", filter: { tag: ["a"] } }, "body.filter.tag", "tags"],
    ["memories", { txt: "tea", text: "tea" }, "body.txt", "text"],
    ["memories", { text: "tea", externalID: "1" }, "body.externalID", "externalId"],
    ["memories", { text: "tea", meta_data: {} }, "body.meta_data", "metadata"],
    ["context", { query: "tea", buget: 500 }, "body.buget", "budget"],
    ["ingest", { messages, session: "s" }, "body.session", "sessionId"],
    ["threads", { titel: "x" }, "body.titel", "title"],
  ];
  for (const [path, json, field, meant] of misspelt) {
    const details = detailsOf(await call(`/v1/users/${user}/${path}`, { json }));
    expect(details).toContainEqual({ path: field, message: `is unknown; did you mean ${meant}?` });
  }
  const [query] = detailsOf(await call(`/v1/users/${user}/memories/x?validat=1`));
  expect(query.message).toBe("is unknown; did you mean validAt?");
  // The work is bounded: neither a long name nor the many are compared.
  const json = { query: "tea", filter: { ["tags".padEnd(100_000, "s")]: 1 } };
  const [long] = detailsOf(await call(`/v1/users/${user}/recall`, { json }));
  expect(long.message).toMatch(/^is unknown; the fields here are/);
  const tagz = Array.from({ length: 100 }, (_, i) => [`tag${i}`, 1]);
  const memories = Array.from({ length: 10 }, () => ({ text: "tea", ...Object.fromEntries(tagz) }));
  const all: { message: string }[] = detailsOf(
    await call(`/v1/users/${user}/memories/batch`, { json: { memories } }),
  );
  expect(all).toHaveLength(1_000);
  expect(all.filter(({ message }) => message.includes("did you mean")).length).toBeLessThan(21);
});

it.each([
  ["{", "it ends too early, at character 1"],
  ['{"a":}', "at character 5 (line 1)"],
  ['{"a":1,}', "at character 7 (line 1)"],
  ["{'a':1}", "at character 1 (line 1)"],
  ['{"text":\n"a" "b"}', "at character 13 (line 2)"],
  ['{"text":"a\nb"}', "at character 8 (line 1)"],
  ["[1] 2", "at character 4 (line 1)"],
  ["[01]", "at character 1 (line 1)"],
])("names the place at which %j is no JSON", async (raw, place) => {
  const path = `/v1/users/${newUser()}`;
  const { status, body } = await call(`${path}/memories`, { raw });
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: "invalid_json" });
  expect(body.error.message).toContain(place);
  const value = await call(`${path}/kv/k`, { method: "PUT", raw });
  expect(value.body.error.message).toContain(place);
});

it("names the route that is probably meant", async () => {
  const user = newUser();
  const misspelt: [method: string, path: string, meant: string][] = [
    ["POST", `/v1/users/${user}/memorys`, "POST /v1/users/{user}/memories"],
    ["GET", `/v1/users/${user}/memory`, "GET /v1/users/{user}/memories"],
    ["POST", `/v1/user/${user}/recall`, "POST /v1/users/{user}/recall"],
    ["POST", `/v1/users/${user}/recal/`, "POST /v1/users/{user}/recall"],
    ["GET", `/v1/thread/${user}/messages`, "GET /v1/threads/{id}/messages"],
    ["PUT", `/v1/users/${user}/kvs/a`, "PUT /v1/users/{user}/kv/{key}"],
  ];
  for (const [method, path, meant] of misspelt) {
    const { status, body } = await call(path, { method, ...(method === "GET" ? {} : { json: {} }) });
    expect({ status, ...body.error }, path).toMatchObject({
      status: 404,
      code: "route_not_found",
      message: `There is no such route. Did you mean ${meant}?`,
    });
  }
  for (const path of [`/v1/${"x".repeat(10_000)}`, `/v1${"/memories".repeat(1_000)}`, "/v1/nothing/here"])
    expect((await call(path)).body.error.message).not.toContain("Did you mean");
});

it("says of which user a token is that is used on another one, and the same of what does not exist", async () => {
  const [own, other] = [newUser(), newUser()];
  const { id } = await remembered(other, { text: "tea" });
  const bearer = await token(own, ["read", "write"]);
  const answers = await Promise.all(
    [`/v1/users/${other}/memories/${id}`, `/v1/users/${other}/memories/none`, `/v1/users/none/memories`].map(
      (path) => call(path, { token: bearer }),
    ),
  );
  for (const { status, body } of answers)
    expect({ status, code: body.error.code, message: body.error.message }).toEqual({
      status: 404,
      code: "not_found",
      message: `There is no such thing, or it is not yours: this token is of the user "${own}".`,
    });
  const forged = await call(`/v1/users/${other}/memories`, { token: `${bearer.slice(0, -4)}AAAA` });
  expect(forged.status).toBe(401);
  expect(JSON.stringify(forged.body)).not.toContain(own);
});

it("takes tags and metadata away by null", async () => {
  const user = newUser();
  const { id } = await remembered(user, { text: "tea", tags: ["a"], metadata: { b: 1 } });
  await patch(user, id, { tags: null, metadata: null });
  const { body } = await get(user, id);
  expect(body).not.toHaveProperty("tags");
  expect(body).not.toHaveProperty("metadata");
});

it("says where a recall's kinds belong", async () => {
  const json = { query: "tea", filter: { kinds: ["fact"], status: ["active"] } };
  const details = detailsOf(await call(`/v1/users/${newUser()}/recall`, { json }));
  expect(details).toEqual([
    { path: "body.filter.kinds", message: "goes beside the filter, as the recall's own `kinds`" },
    { path: "body.filter.status", message: "is not for recall: quarantined memories are never recalled" },
  ]);
});

it("tells the version of a memory that is not the one demanded", async () => {
  const user = newUser();
  const { id, version } = await remembered(user, { text: "tea" });
  const headers = { "If-Match": '"999"' };
  const path = `/v1/users/${user}/memories/${id}`;
  for (const answer of [
    await patch(user, id, { score: 1 }, headers),
    await call(path, { method: "DELETE", headers }),
  ]) {
    expect(answer.status).toBe(412);
    expect(answer.body.error.message).toContain(`its version is "${version}"`);
  }
});

it.each(["users/u/memories", "users/u/kv", "users/u/threads", "threads", "prompt-cache/stats"])(
  "names the cursor of %s that is none",
  async (path) => {
    const { body } = await call(`/v1/${path}?cursor=nonsense`);
    expect(body.error).toMatchObject({ code: "invalid_cursor", details: [{ path: "query.cursor" }] });
  },
);

it("names the length that another writer was first to change, and the lease that is lost", async () => {
  const { id } = (await call(`/v1/users/${newUser()}/threads`, { json: {} })).body;
  const json = { messages: [{ role: "user", content: "hi" }], expectedLength: 5 };
  expect((await call(`/v1/threads/${id}/messages`, { json })).body.error).toMatchObject({
    code: "length_mismatch",
    details: [{ path: "body.expectedLength", message: "is not the thread's length, 0" }],
  });
  const put = await call("/v1/cache/named?lease=gone", { method: "PUT", json: 1 });
  expect(put.body.error).toMatchObject({ code: "lease_lost", details: [{ path: "query.lease" }] });
});

it("refuses to take the object away from a triple that is all that the memory says", async () => {
  const user = newUser();
  const triple = { subject: "Alice", predicate: "lives in", object: "Porto" };
  const { id } = await remembered(user, triple);
  expect(detailsOf(await patch(user, id, { object: null }))).toEqual([
    {
      path: "body.object",
      message: "is what the memory says: say it in a text, or forget the memory",
    },
  ]);
  const { body } = await patch(user, id, { object: null, text: "Alice lives somewhere" });
  expect(body.text).toBe("Alice lives somewhere");
  expect(body).not.toHaveProperty("object");
});
