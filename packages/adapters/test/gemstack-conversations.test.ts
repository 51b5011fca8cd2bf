import fc from "fast-check";
import { expect, it } from "vitest";
import { type AiMessage, cairnConversations, sanitizeConversation } from "../src/gemstack.ts";
import type { ConversationStore, ConversationStoreListEntry } from "../src/gemstack/types.ts";
import { CairnError, type Fetch } from "../../client/src/index.ts";
import { clientOf, newUser, tokenOf } from "./cairn.ts";
import { failing, losing, counting, silent } from "./broken.ts";
import { fromNow } from "../../../test/from-now.ts";
import { anyCharacter } from "../../../test/any-character.ts";

const storeOf = async (user: string) => cairnConversations({ memory: await clientOf(user), user });
const admin = async () => cairnConversations({ memory: await clientOf("*") });
const said = (content: string): AiMessage => ({ role: "user", content });
const find = async (
  store: ConversationStore,
  user: string,
  id: string,
): Promise<ConversationStoreListEntry> => {
  const entry = (await store.list(user)).find((one) => one.id === id);
  if (entry === undefined) throw new Error(`no thread ${id}`);
  return entry;
};
const later = () => new Promise((resolve) => setTimeout(resolve, 5));

it("is a ConversationStore", async () => {
  const store: ConversationStore = await storeOf(newUser());
  expect(store).toBeDefined();
});

it("says 'not found' of a thread that is not there, whatever its id looks like", async () => {
  const user = newUser();
  const store = await storeOf(user);
  const gone = await store.create();
  await store.delete(gone);
  for (const id of [gone, "nope", "", ".", "..", "a/b", "%zz", "\ud800", "x".repeat(3000), "conv-1?x#y"]) {
    await expect(store.load(id), id).rejects.toThrow(/not found/);
    await expect(store.append(id, []), id).rejects.toThrow(/not found/);
    await expect(store.append(id, [said("a")]), id).rejects.toThrow(/not found/);
    await expect(store.setTitle(id, "t"), id).rejects.toThrow(/not found/);
    await expect(store.validate(id, []), id).rejects.toThrow(/not found/);
    await expect(store.appendContinuation(id, []), id).rejects.toThrow(/not found/);
  }
  await expect(store.load(gone)).rejects.toMatchObject({
    name: "CairnError",
    code: "not_found",
    status: 404,
    // In the words of the SDK's own stores.
    message: expect.stringContaining(`Conversation "${gone}" not found.`),
  });
});

it("deletes what is not there without a word", async () => {
  const store = await storeOf(newUser());
  for (const id of ["nope", "", ".."]) await store.delete(id);
  const id = await store.create();
  await store.append(id, [said("a")]);
  await store.delete(id);
  await store.delete(id);
  await expect(store.load(id)).rejects.toThrow(/not found/);
});

it("calls a thread 'New conversation' unless it is given a title", async () => {
  const user = newUser();
  const store = await storeOf(user);
  expect((await find(store, user, await store.create())).title).toBe("New conversation");
  const id = await store.create("Planning", { userId: user, agent: "planner" });
  expect(await find(store, user, id)).toMatchObject({ title: "Planning", agent: "planner", userId: user });
  await store.setTitle(id, "Moved");
  expect((await find(store, user, id)).title).toBe("Moved");
});

it("keeps resourceSlug and recordId, and takes empty ones for none", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const store = cairnConversations({ memory, user });
  const id = await store.create(undefined, { userId: user, resourceSlug: "orders", recordId: "7" });
  expect(await memory.threads.get(id)).toMatchObject({ resourceSlug: "orders", recordId: "7" });
  const bare = await store.create("", { userId: user, agent: "", resourceSlug: "", recordId: "" });
  const entry = await find(store, user, bare);
  expect(entry.title).toBe("");
  expect("agent" in entry).toBe(false);
});

it("gives back messages whole, with fields that nobody knows", async () => {
  const store = await storeOf(newUser());
  const id = await store.create();
  const messages = [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this? ✓ \u0000" },
        { type: "image", data: "aGk=", mimeType: "image/png" },
        { type: "document", data: "aGk=", mimeType: "application/pdf", name: "a.pdf" },
      ],
    },
    {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "c1", name: "look", arguments: { z: 1, a: [null] } }],
    },
    { role: "tool", content: "{}", toolCallId: "c1", _pending: true },
    { role: "assistant", content: "A cat.", usage: { tokens: 3 }, "x-trace": [1, { deep: true }] },
  ] as AiMessage[];
  await store.append(id, messages);
  const loaded = await store.load(id);
  expect(loaded).toEqual(messages);
  expect(JSON.stringify(loaded)).toBe(JSON.stringify(messages));
});

it("loads no call without its result, which providers refuse", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const store = cairnConversations({ memory, user });
  const id = await store.create();
  const call = { id: "c1", name: "look", arguments: {} };
  // The process died between the two.
  await store.append(id, [said("look it up"), { role: "assistant", content: "I look.", toolCalls: [call] }]);
  expect(await store.load(id)).toEqual([said("look it up"), { role: "assistant", content: "I look." }]);
  // The result that comes late makes the turn whole.
  const result: AiMessage = { role: "tool", content: "found", toolCallId: "c1" };
  await store.append(id, [result]);
  expect((await store.load(id)).slice(1)).toEqual([
    { role: "assistant", content: "I look.", toolCalls: [call] },
    result,
  ]);
  expect((await memory.threads.read(id)).items).toHaveLength(3);
});

it("gives back any messages as they went in", async () => {
  const store = await storeOf(newUser());
  const call = fc.record({
    id: fc.string(),
    name: fc.string(),
    arguments: fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<unknown>),
  });
  const message = fc.record(
    {
      role: fc.constantFrom("system", "user", "assistant", "tool"),
      content: fc.oneof(
        fc.string({ unit: anyCharacter }),
        fc.array(fc.record({ type: fc.constant("text"), text: fc.string() })),
      ),
      toolCallId: fc.string(),
      toolCalls: fc.array(call),
      _pending: fc.boolean(),
      elsewhere: fc.jsonValue(),
    },
    { requiredKeys: ["role", "content"] },
  ) as fc.Arbitrary<AiMessage>;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(message, { maxLength: 4 }), { maxLength: 4 }), async (turns) => {
      const id = await store.create();
      for (const turn of turns) await store.append(id, turn);
      // Random calls have no results: what a model would refuse is left out.
      expect(JSON.stringify(await store.load(id))).toBe(JSON.stringify(sanitizeConversation(turns.flat())));
    }),
    { numRuns: 25 },
  );
});

it("keeps the order of messages, also of thousands", async () => {
  const store = await storeOf(newUser());
  const id = await store.create();
  const messages = Array.from({ length: 2345 }, (_, i) => said(`message ${i}`));
  await store.append(id, messages);
  await store.append(id, [said("the last")]);
  expect(await store.load(id)).toEqual([...messages, said("the last")]);
});

it("sends what is larger than one call in several", async () => {
  const store = await storeOf(newUser());
  const id = await store.create();
  const large = "é".repeat(1.5 * 1024 * 1024);
  const messages = Array.from({ length: 7 }, (_, i) => said(`${i}${large}`));
  await store.append(id, messages);
  expect(await store.load(id)).toEqual(messages);
});

it("appends all messages or none", async () => {
  const store = await storeOf(newUser());
  const id = await store.create();
  await store.append(id, [said("before")]);
  const wrong = { role: "user" } as unknown as AiMessage;
  await expect(store.append(id, [said("a"), wrong, said("b")])).rejects.toMatchObject({
    code: "invalid_request",
  });
  expect(await store.load(id)).toEqual([said("before")]);
});

it("takes back what earlier calls appended when a later one is refused", async () => {
  const user = newUser();
  const store = await storeOf(user);
  const id = await store.create();
  await store.append(id, [said("before")]);
  const wrong = { role: "user" } as unknown as AiMessage;
  const large = "x".repeat(5 * 1024 * 1024);
  const messages = [...Array.from({ length: 7 }, (_, i) => said(`${i}${large}`)), wrong];
  await expect(store.append(id, messages)).rejects.toMatchObject({ code: "invalid_request" });
  expect(await store.load(id)).toEqual([said("before")]);
});

const isAppend = ({ method, url }: Request) => method === "POST" && url.endsWith("/messages");
/** Of two calls: of the last message the second. */
const large = [
  ...Array.from({ length: 30 }, (_, i) => said(`${i}`)),
  ...Array.from({ length: 4 }, (_, i) => said(`${i}${"x".repeat(5 * 1024 * 1024)}`)),
];

it("takes back what a call appended whose answer was lost", async () => {
  for (const part of [1, 2]) {
    const user = newUser();
    let posts = 0;
    const fetch = losing((request) => isAppend(request) && ++posts === part + 1);
    const store = cairnConversations({ memory: await clientOf(user, { fetch, retry: false }), user });
    const id = await store.create();
    await store.append(id, [said("before")]);
    await expect(store.append(id, large), `part ${part}`).rejects.toMatchObject({ code: "network" });
    expect(await store.load(id), `part ${part}`).toEqual([said("before")]);
  }
});

it("takes back what a call appended that was ended", async () => {
  const user = newUser();
  const controller = new AbortController();
  let posts = 0;
  const fetch: Fetch = async (request) => {
    const answer = await globalThis.fetch(new Request(request, { signal: null }));
    if (isAppend(request) && ++posts === 3) controller.abort(new Error("enough"));
    request.signal.throwIfAborted();
    return answer;
  };
  const store = cairnConversations({ memory: await clientOf(user, { fetch }), user });
  const id = await store.create();
  await store.append(id, [said("before")]);
  await expect(store.append(id, large, { signal: controller.signal })).rejects.toThrow("enough");
  expect(await store.load(id)).toEqual([said("before")]);
});

it("takes back from the end, so that a beginning is left where that fails", async () => {
  const user = newUser();
  let [posts, deletes] = [0, 0];
  const fetch: Fetch = (request) => {
    if (isAppend(request) && ++posts > 1) return failing(400, { code: "invalid_request" })(request);
    if (request.method === "DELETE" && ++deletes > 20) return failing(503)(request);
    return globalThis.fetch(request);
  };
  const store = cairnConversations({ memory: await clientOf(user, { fetch, retry: false }), user });
  const id = await store.create();
  await expect(store.append(id, large)).rejects.toThrow("a beginning of it is left");
  expect(await store.load(id)).toEqual(large.slice(0, 13));
});

it("says so when it cannot take back what it appended", async () => {
  const user = newUser();
  let posts = 0;
  const fetch: Fetch = (request) => {
    const refused = request.method === "DELETE" || (request.method === "POST" && ++posts > 2);
    return refused ? failing(503)(request) : globalThis.fetch(request);
  };
  const store = cairnConversations({ memory: await clientOf(user, { fetch, retry: false }), user });
  const id = await store.create();
  const messages = Array.from({ length: 1001 }, (_, i) => said(`${i}`));
  const error: unknown = await store.append(id, messages).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AggregateError);
  expect(error).toMatchObject({ errors: [{ status: 503 }, { status: 503 }] });
});

it("keeps each of two appends at once together", async () => {
  const store = await storeOf(newUser());
  const id = await store.create();
  const turn = (name: string) => Array.from({ length: 20 }, (_, i) => said(`${name}${i}`));
  const names = ["a", "b", "c", "d", "e"];
  await Promise.all(names.map((name) => store.append(id, turn(name))));
  const loaded = await store.load(id);
  const order = [...new Set(loaded.map(({ content }) => JSON.stringify(content).charAt(1)))];
  expect(loaded).toEqual(order.flatMap(turn));
});

it("bumps updatedAt with append, also of nothing, and with setTitle", async () => {
  const user = newUser();
  const store = await storeOf(user);
  const id = await store.create();
  const times = [await find(store, user, id)];
  for (const change of [
    () => store.append(id, [said("a")]),
    () => store.append(id, []),
    () => store.setTitle(id, "t"),
  ]) {
    await later();
    await change();
    times.push(await find(store, user, id));
  }
  const updated = times.map(({ updatedAt }) => Number(updatedAt));
  expect(updated).toEqual(updated.toSorted((a, b) => a - b));
  expect(new Set(updated).size).toBe(4);
  expect(new Set(times.map(({ createdAt }) => Number(createdAt))).size).toBe(1);
});

it("lists a user's threads alone, the one that was updated last first", async () => {
  const [alice, bob] = [newUser(), newUser()];
  const store = await admin();
  const ids: string[] = [];
  for (const title of ["one", "two", "three"]) {
    ids.push(await store.create(title, { userId: alice }));
    await store.create(title, { userId: bob });
    await later();
  }
  await store.append(ids[0] ?? "", [said("again")]);
  expect((await store.list(alice)).map(({ title }) => title)).toEqual(["one", "three", "two"]);
  expect(await store.list(newUser())).toEqual([]);
});

it("lists ties in creation order", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const store = cairnConversations({ memory, user });
  // At one moment: an export of three threads, whose times are made the same.
  const other = newUser();
  const from = await clientOf(other);
  for (const title of ["first", "second", "third"]) {
    await from.threads.create(other, { title });
    await later();
  }
  const exported = await new Response(await from.transfer.export(other)).text();
  const tied = exported.replaceAll(/"(createdAt|updatedAt)":\d+/g, '"$1":1763760000000');
  await memory.transfer.import(user, tied);
  expect((await store.list(user)).map(({ title }) => title)).toEqual(["first", "second", "third"]);
});

it("leaves out the keys that are unset, and gives Dates", async () => {
  const user = newUser();
  const store = await admin();
  const id = await store.create("Of nobody");
  const ofNobody = (await store.list()).find((one) => one.id === id);
  expect(Object.keys(ofNobody ?? {}).toSorted()).toEqual(["createdAt", "id", "title", "updatedAt"]);
  const ofUser = await find(store, user, await store.create("Of a user", { userId: user }));
  expect(Object.keys(ofUser).toSorted()).toEqual(["createdAt", "id", "title", "updatedAt", "userId"]);
  const begun = fromNow(-3_600_000);
  for (const { createdAt, updatedAt } of [ofNobody ?? ofUser, ofUser]) {
    expect(createdAt).toBeInstanceOf(Date);
    expect(updatedAt).toBeInstanceOf(Date);
    expect(Number(createdAt)).toBeGreaterThan(begun);
  }
});

it("lists every thread of the tenant with its user, however many there are", async () => {
  const store = await admin();
  const users = Array.from({ length: 30 }, newUser);
  const created = new Map<string, string | undefined>();
  for (const user of users)
    for (const id of await Promise.all(Array.from({ length: 35 }, () => store.create("t", { userId: user }))))
      created.set(id, user);
  created.set(await store.create("of nobody"), undefined);
  const listed = await store.list();
  expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
  const found = new Map(listed.map(({ id, userId }) => [id, userId]));
  for (const [id, user] of created) {
    expect(found.has(id)).toBe(true);
    expect(found.get(id)).toBe(user);
  }
  const updated = listed.map(({ updatedAt }) => Number(updatedAt));
  expect(updated).toEqual(updated.toSorted((a, b) => b - a));
});

it("refuses the threads of another user in every way", async () => {
  const [alice, bob] = [newUser(), newUser()];
  const [ofAlice, ofBob] = [await storeOf(alice), await storeOf(bob)];
  const id = await ofBob.create("Bob's");
  await ofBob.append(id, [said("mine")]);
  await expect(ofAlice.load(id)).rejects.toThrow(/not found/);
  await expect(ofAlice.append(id, [])).rejects.toThrow(/not found/);
  await expect(ofAlice.append(id, [said("forged")])).rejects.toThrow(/not found/);
  await expect(ofAlice.setTitle(id, "forged")).rejects.toThrow(/not found/);
  await expect(ofAlice.validate(id, [])).rejects.toThrow(/not found/);
  await ofAlice.delete(id); // no error, and nothing else
  await expect(ofAlice.create("t", { userId: bob })).rejects.toMatchObject({ code: "not_found" });
  await expect(ofAlice.resume({ userId: bob })).rejects.toMatchObject({ code: "not_found" });
  await expect(ofAlice.list(bob)).rejects.toMatchObject({ code: "not_found" });
  expect(await ofAlice.list()).toEqual([]);
  expect(await ofBob.load(id)).toEqual([said("mine")]);
  expect((await find(ofBob, bob, id)).title).toBe("Bob's");
});

it("refuses the threads of another user with a token of all users, in a store of one", async () => {
  const [alice, bob] = [newUser(), newUser()];
  const all = await admin();
  const [ofAlice, ofBob] = [all.forUser(alice), all.forUser(bob)];
  const id = await ofBob.create("Bob's");
  await ofBob.append(id, [said("mine")]);
  for (const call of [
    () => ofAlice.load(id),
    () => ofAlice.append(id, [said("forged")]),
    () => ofAlice.setTitle(id, "forged"),
    () => ofAlice.validate(id, []),
    () => ofAlice.appendContinuation(id, [said("mine"), said("forged")]),
  ])
    await expect(call()).rejects.toMatchObject({ code: "not_found", status: 404 });
  await ofAlice.delete(id); // no error, and nothing else
  expect(await ofBob.load(id)).toEqual([said("mine")]);
  expect((await find(ofBob, bob, id)).title).toBe("Bob's");
});

it("needs a token of all users for threads of nobody and for the list of all", async () => {
  const memory = await clientOf(newUser());
  const store = cairnConversations({ memory });
  await expect(store.create()).rejects.toMatchObject({ code: "forbidden" });
  await expect(store.resume()).rejects.toThrow(/userId/);
  await expect((await admin()).list("")).rejects.toBeInstanceOf(CairnError);
});

it("says what to do where the owner of a thread cannot be looked up", async () => {
  const token = await tokenOf("*", ["read", "write"]);
  const store = cairnConversations({ memory: await clientOf("*", { token }) });
  // What the SDK asks for a `continue(id)` without a user.
  await expect(store.list()).rejects.toMatchObject({
    name: "CairnError",
    code: "forbidden",
    status: 403,
    message: expect.stringMatching(/forUser\(userId\)\.continue\(id\).*scope `admin`/),
  });
  // With its user, the thread is found in the user's own list.
  const user = newUser();
  const id = await store.create(undefined, { userId: user });
  expect((await store.list(user)).map((thread) => thread.id)).toEqual([id]);
});

/** As the SDK begins or goes on with a user's thread by itself. */
async function asTheSdk(store: ConversationStore, user: string, agent: string): Promise<string> {
  const [latest] = (await store.list(user)).filter((thread) => thread.agent === agent);
  return latest?.id ?? store.create(undefined, { userId: user, agent });
}

it("makes one thread of many first prompts at once", async () => {
  const user = newUser();
  const stores = await Promise.all(Array.from({ length: 10 }, () => storeOf(user)));
  const ids = await Promise.all(stores.map((store) => store.resume({ userId: user, agent: "support" })));
  expect(new Set(ids).size).toBe(1);
  expect(await stores[0]?.list(user)).toHaveLength(1);
  expect(await asTheSdk(await storeOf(user), user, "support")).toBe(ids[0]);
});

it("resumes the thread of this agent that was updated last", async () => {
  const user = newUser();
  const store = await storeOf(user);
  const first = await store.create("a", { userId: user, agent: "support" });
  await later();
  await store.create("b", { userId: user, agent: "support" });
  await later();
  const none = await store.create("c");
  await store.append(first, [said("again")]);
  expect(await store.resume({ agent: "support" })).toBe(first);
  expect(await store.resume()).toBe(none);
  const sales = await store.resume({ agent: "sales", title: "Sales" });
  expect(await find(store, user, sales)).toMatchObject({ title: "Sales", agent: "sales" });
  expect(await store.load(sales)).toEqual([]);
});

it("appends once, though the answer is lost", async () => {
  const user = newUser();
  const fetch = losing(({ method, url }) => method === "POST" && url.endsWith("/messages"));
  const store = cairnConversations({ memory: await clientOf(user, { fetch }), user });
  const id = await store.create();
  await store.append(id, [said("once")]);
  expect(await store.load(id)).toEqual([said("once")]);
});

it("rejects with a CairnError while Cairn is away, and has lost nothing when it is back", async () => {
  const user = newUser();
  const store = await storeOf(user);
  const id = await store.create();
  await store.append(id, [said("a")]);
  for (const status of [503, 429]) {
    const memory = await clientOf(user, { fetch: failing(status), retry: { attempts: 2 } });
    const away = cairnConversations({ memory, user });
    for (const call of [
      () => away.create(),
      () => away.load(id),
      () => away.append(id, [said("b")]),
      () => away.setTitle(id, "b"),
      () => away.list(user),
      () => away.delete(id),
    ])
      await expect(call()).rejects.toMatchObject({ name: "CairnError", status });
  }
  const again = await clientOf(user, { fetch: failing(503, { times: 2 }), retry: { attempts: 4 } });
  await cairnConversations({ memory: again, user }).append(id, [said("b")]);
  expect(await store.load(id)).toEqual([said("a"), said("b")]);
});

it("ends a call with its signal", async () => {
  const user = newUser();
  const store = cairnConversations({ memory: await clientOf(user, { fetch: silent }), user });
  const signal = AbortSignal.timeout(20);
  await expect(store.load("x", { signal })).rejects.toMatchObject({ name: "TimeoutError" });
  await expect(store.append("x", [], { signal })).rejects.toMatchObject({ name: "TimeoutError" });
});

it("loads a thread of up to a thousand messages in one call", async () => {
  const user = newUser();
  const { fetch, calls } = counting();
  const store = cairnConversations({ memory: await clientOf(user, { fetch }), user });
  const id = await store.create();
  await store.append(
    id,
    Array.from({ length: 900 }, (_, i) => said(`${i}`)),
  );
  calls.length = 0;
  expect(await store.load(id)).toHaveLength(900);
  expect(calls).toHaveLength(1);
});
