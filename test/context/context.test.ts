// The memory of a prompt over several turns: which bytes stay, what is told once, and what leaves every block.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { messageHash } from "../../src/domain/context/message-hash.ts";
import { userHash } from "../../src/domain/ids.ts";
import { portsOf } from "../../src/platform/bindings.ts";
import { call, newUser, tokenWith } from "../call.ts";
import { control, restore } from "../doubles/control.ts";
import type { UserMemory } from "../../durable-objects/user-memory.ts";
import { ContextStore } from "../../durable-objects/user-memory/context/context-store.ts";
import { forget, patch, remember, remembered } from "../memory-calls.ts";
import { append, create, fork, read, say } from "../thread-calls.ts";

afterEach(restore);

const MINUTE = 60_000;
const ask = (user: string, body: object, headers: Record<string, string> = {}) =>
  call(`/v1/users/${user}/context`, { json: body, headers });
const context = async (user: string, body: object) => {
  const { status, body: answer } = await ask(user, body);
  if (status !== 200) throw new Error(JSON.stringify(answer));
  return answer;
};
const lives = (user: string, object: string) =>
  remembered(user, { subject: "Ann", predicate: "lives in", object });
/** A user's message and its answer, with the context that was made for it. */
const turn = async (user: string, threadId: string, query: string, more: object = {}) => {
  const made = await context(user, { query, threadId, ...more });
  await append(threadId, [say(query), say("Fine.", "assistant")]);
  return made;
};
const lines = (text: string): string[] => text.split("\n").filter((line) => line.startsWith("- "));

describe("the stable block of a thread", () => {
  it("keeps its bytes while facts are learned and corrected, and the next turn tells each once", async () => {
    const user = newUser();
    const { id } = await create(user);
    await lives(user, "Porto");
    const first = await turn(user, id, "Good morning, what a day");
    expect(lines(first.stable.text)).toEqual(["- Ann: lives in Porto"]);
    await lives(user, "Braga");
    await remember(user, { text: "Ann is allergic to hazelnuts" });
    const second = await turn(user, id, "thanks!");
    expect(second.stable).toEqual(first.stable);
    expect(lines(second.recalled.text)).toEqual([
      expect.stringMatching(/^- Ann lives in Braga \(.*\) \(before: Ann lives in Porto\)$/),
      expect.stringMatching(/^- Ann is allergic to hazelnuts/),
    ]);
    const third = await turn(user, id, "thanks again!");
    expect(third.stable).toEqual(first.stable);
    expect(third.recalled.text).toBe("");
    expect(third.prefixChanged).toBeUndefined();
  });

  it("says what is not true any more", async () => {
    const user = newUser();
    const { id } = await create(user);
    await remembered(user, { text: "Ann is on holiday", validTo: Date.now() + 2 * MINUTE });
    await turn(user, id, "hello");
    control.clockAhead += 3 * MINUTE;
    expect(lines((await turn(user, id, "thanks!")).recalled.text)).toEqual([
      expect.stringMatching(/^- no longer true: Ann is on holiday/),
    ]);
  });

  it("is renewed once the provider's cache has lapsed", async () => {
    const user = newUser();
    const { id } = await create(user);
    await lives(user, "Porto");
    const first = await turn(user, id, "hello");
    await lives(user, "Braga");
    control.clockAhead += 6 * MINUTE;
    for (const longer of [{ cacheTtl: "1h" }, { provider: "openai" }]) {
      const { stable } = await context(user, { query: "hello again", threadId: id, ...longer });
      expect(stable).toEqual(first.stable);
    }
    control.clockAhead += 6 * MINUTE;
    const later = await turn(user, id, "thanks!");
    expect(lines(later.stable.text)).toEqual(["- Ann: lives in Braga"]);
    expect(later.recalled.text).toBe("");
    expect(later.prefixChanged).toBeUndefined();
  });

  it("is renewed if the thread was compacted, or the changes weigh too much, and says so", async () => {
    const user = newUser();
    const { id } = await create(user);
    await lives(user, "Porto");
    await turn(user, id, "hello");
    const summary = { role: "system", content: "They said hello." };
    await call(`/v1/threads/${id}/compactions`, { json: { to: 2, summary } });
    const compacted = await turn(user, id, "thanks!");
    expect(compacted.stable.text).toContain("They said hello.");
    expect(compacted.prefixChanged).toBe(true);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        remember(user, { text: `Ann owns thing ${i} ${"of a kind ".repeat(8)}` }),
      ),
    );
    const heavy = await turn(user, id, "thanks again!");
    expect(heavy.stable.text).toContain("Ann owns thing 7");
    expect(heavy.prefixChanged).toBe(true);
  });

  it("stays with another budget, as long as it is within it", async () => {
    const user = newUser();
    const { id } = await create(user);
    for (let i = 0; i < 5; i++)
      await remember(user, { text: `Ann owns thing ${i} ${"of a kind ".repeat(9)}` });
    const first = await turn(user, id, "hello");
    expect(lines(first.stable.text)).toHaveLength(5);
    const second = await turn(user, id, "thanks!", { budget: 5_000 });
    expect([second.stable, second.prefixChanged]).toEqual([first.stable, undefined]);
    const third = await turn(user, id, "thanks again!", { budget: 150 });
    expect(third.prefixChanged).toBe(true);
    expect(third.tokens).toBeLessThanOrEqual(150);
  });

  it("loses what was forgotten or expired at once, and says so", async () => {
    const user = newUser();
    const { id } = await create(user);
    const { id: home } = await lives(user, "Porto");
    await remembered(user, { text: "Ann has a cold", expiresAt: Date.now() + MINUTE });
    expect((await turn(user, id, "hello")).stable.text).toContain("Ann has a cold");
    await forget(user, home);
    control.clockAhead += 2 * MINUTE;
    const later = await turn(user, id, "thanks!");
    expect(later.stable.text).toBe("");
    expect(later.prefixChanged).toBe(true);
  });

  it("puts pinned memories first, then the important ones, and shows none of quarantine", async () => {
    const user = newUser();
    for (const [text, more] of [
      ["usual", {}],
      ["important", { importance: 0.9 }],
      ["pinned", { tags: ["pinned"], importance: 0.1 }],
      ["unsure", { status: "quarantined" }],
    ] as const)
      await remember(user, { text: `Ann is ${text}`, ...more });
    const { stable } = await context(user, {});
    expect(lines(stable.text).map((line) => line.split(" ")[3])).toEqual(["pinned", "important", "usual"]);
    expect((await context(user, { layers: [{ type: "facts", tags: ["pinned"] }] })).stable.text).toContain(
      "pinned",
    );
    expect((await context(user, { scope: "elsewhere" })).stable.text).toBe("");
  });
});

it("shows as many facts as it is asked for, besides those of the profile", async () => {
  const user = newUser();
  for (let i = 0; i < 5; i++) await remember(user, { text: `Ann said ${i}` });
  for (let i = 0; i < 5; i++)
    await remembered(user, { subject: "Ann", predicate: `likes ${i}`, object: "tea" });
  const layers = [{ type: "profile" }, { type: "facts", n: 3 }];
  const { sections } = await context(user, { layers });
  expect(sections.map(({ layer, items }: { layer: string; items: number }) => [layer, items])).toEqual([
    ["profile", 5],
    ["facts", 3],
  ]);
});

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
    // What an earlier block of the prompt has is not said again.
    expect(own.recalled.text).not.toContain("hazelnuts");
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

  it("has ten hits, or as many as it is asked for and fit", async () => {
    const user = newUser();
    for (let i = 0; i < 14; i++) await remember(user, { text: `Plant ${i} stands in the greenhouse` });
    const query = "Which plants stand in the greenhouse?";
    const shown = async (layer: object) =>
      lines((await context(user, { query, layers: [{ type: "recalled", ...layer }] })).recalled.text).length;
    expect(await shown({})).toBe(10);
    expect(await shown({ k: 30 })).toBe(14);
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

describe("layers", () => {
  it("show entries, procedures, episodes and reflections", async () => {
    const user = newUser();
    await call(`/v1/users/${user}/kv/notes%3Atone`, { method: "PUT", json: "dry" });
    await remember(user, { kind: "procedure", title: "Deploy the app", text: "Run wrangler\nthen check" });
    await remember(user, { kind: "episode", text: "We deployed the app on a Friday" });
    await remember(user, { kind: "reflection", text: "Fridays are bad days to deploy" });
    const layers = [
      { type: "entries", prefix: "notes:" },
      { type: "reflections" },
      { type: "procedures", minScore: 0 },
      { type: "episodes" },
    ];
    const { stable, recalled } = await context(user, { query: "How do I deploy the app?", layers });
    expect(stable.text).toMatch(/<notes>\n- \[notes:tone\]: "dry"\n<\/notes>\n<reflections>\n- Fridays/);
    expect(recalled.text).toMatch(
      /<procedures>\n- "Deploy the app" \(id: .*\)\n<\/procedures>\n<episodes>\n- \[/,
    );
    const bodies = [{ type: "procedures", minScore: 0, show: "bodies" }];
    const { id } = await create(user);
    const shown = await turn(user, id, "How do I deploy the app?", { layers: bodies });
    expect(shown.recalled.text).toContain('- "Deploy the app": Run wrangler ⏎ then check');
    expect((await read(id, "view=prompted")).items[0]?.message.content).toContain("then check");
  });

  it("keep an entry's value of that time, and lose it with the entry", async () => {
    const user = newUser();
    const at = `/v1/users/${user}/kv/tone`;
    await call(at, { method: "PUT", json: "dry" });
    const { id } = await create(user);
    const layers = [{ type: "entries", keys: ["tone"] }];
    const first = await turn(user, id, "hello", { layers });
    await call(at, { method: "PUT", json: "warm" });
    const second = await turn(user, id, "thanks!", { layers });
    expect(second.stable).toEqual(first.stable);
    expect(lines(second.recalled.text)).toEqual(['- [tone]: "warm"']);
    await call(at, { method: "DELETE" });
    const third = await turn(user, id, "thanks again!", { layers });
    expect(third).toMatchObject({ stable: { text: "" }, recalled: { text: "" }, prefixChanged: true });
    const object = env.USER_MEMORY.getByName(await userHash(user));
    const copies = await runInDurableObject(object, (_, { storage }) =>
      storage.sql.exec("SELECT * FROM context_entries").toArray(),
    );
    expect(copies).toEqual([]);
  });

  it("are in the turn's block if they are to be as they are now", async () => {
    const user = newUser();
    await lives(user, "Porto");
    const { stable, recalled } = await context(user, { layers: [{ type: "profile", mode: "atomic" }] });
    expect([stable.text, lines(recalled.text)]).toEqual(["", ["- Ann: lives in Porto"]]);
  });

  it("come from a stored profile", async () => {
    const user = newUser();
    await lives(user, "Porto");
    await remember(user, { text: "Ann likes tea" });
    const profiles = `/v1/users/${user}/context-profiles`;
    const layers = [{ type: "profile" }];
    expect((await call(`${profiles}/short`, { method: "PUT", json: { layers } })).body).toEqual({
      name: "short",
      layers,
    });
    expect((await call(profiles)).body.items).toEqual([{ name: "short", layers }]);
    expect(lines((await context(user, { profile: "short" })).stable.text)).toEqual(["- Ann: lives in Porto"]);
    expect((await call(`${profiles}/short`, { method: "DELETE" })).status).toBe(204);
    expect((await ask(user, { profile: "short" })).body.error.details[0].path).toBe("body.profile");
  });

  it("come from a profile of the tenant, if the user has none of the name", async () => {
    const [user, name] = [newUser(), `p-${newUser()}`];
    await lives(user, "Porto");
    await remember(user, { text: "Ann likes tea" });
    const tenant = `/v1/context-profiles/${name}`;
    const put = (path: string, type: string) => call(path, { method: "PUT", json: { layers: [{ type }] } });
    expect((await put(tenant, "profile")).status).toBe(200);
    expect((await call("/v1/context-profiles")).body.items).toContainEqual({
      name,
      layers: [{ type: "profile" }],
    });
    const shown = async () => lines((await context(user, { profile: name })).stable.text).length;
    expect(await shown()).toBe(1);
    await put(`/v1/users/${user}/context-profiles/${name}`, "facts");
    expect(await shown()).toBe(2);
    const token = await tokenWith({ user, scope: ["read", "write", "admin"] });
    expect((await call("/v1/context-profiles", { token })).status).toBe(403);
    expect((await call(tenant, { method: "DELETE" })).status).toBe(204);
  });

  it("are stored in at most 100 profiles, and a stored one can always be replaced", async () => {
    const profiles = `/v1/users/${newUser()}/context-profiles`;
    const put = (name: string) =>
      call(`${profiles}/${name}`, { method: "PUT", json: { layers: [{ type: "facts" }] } });
    for (let i = 0; i < 100; i++) expect((await put(`p${i}`)).status).toBe(200);
    expect((await put("one-more")).body.error.code).toBe("too_many_profiles");
    expect((await put("p7")).status).toBe(200);
    expect((await call(profiles)).body.items).toHaveLength(100);
  });

  it("that fail or are late are left out, and the answer names them", async () => {
    const user = newUser();
    await lives(user, "Porto");
    await remember(user, { text: "My sister Ana is allergic to hazelnuts" });
    control.embedder = "fail";
    const answer = await context(user, { query: "Which nuts can my sister Ana not eat?" });
    expect(lines(answer.stable.text)[0]).toBe("- Ann: lives in Porto");
    expect(answer.sections.map(({ layer }: { layer: string }) => layer)).toEqual([
      "profile",
      "facts",
      "summary",
      "recalled",
    ]);
  });
});

it("tells a change in a turn, and not in a call without a query", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await lives(user, "Porto");
  await turn(user, threadId, "hello");
  await lives(user, "Braga");
  await context(user, { threadId });
  expect(lines((await turn(user, threadId, "thanks!")).recalled.text)).toEqual([
    expect.stringContaining("Ann lives in Braga"),
  ]);
});

it("tells no change where only tags changed", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  const { id } = await lives(user, "Porto");
  await turn(user, threadId, "hello");
  await patch(user, id, { tags: ["home"] });
  expect((await turn(user, threadId, "thanks!")).recalled.text).toBe("");
});

it("makes the stable block anew where the turn that told a change has left the prompt", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await lives(user, "Porto");
  await turn(user, threadId, "hello");
  await lives(user, "Braga");
  await turn(user, threadId, "thanks!");
  const said = await Promise.all(["hello", "thanks!", "ok"].map(messageHash));
  const all = await context(user, { query: "ok", threadId, messages: said });
  expect(lines(all.stable.text)).toEqual(["- Ann: lives in Porto"]);
  await append(threadId, [say("ok"), say("Fine.", "assistant")]);
  const messages = await Promise.all(["ok", "bye"].map(messageHash));
  const later = await context(user, { query: "bye", threadId, messages });
  expect([lines(later.stable.text), later.prefixChanged]).toEqual([["- Ann: lives in Braga"], true]);
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

it("says that the prefix changed where the format or the sources did", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await lives(user, "Porto");
  await turn(user, threadId, "hello");
  for (const other of [{ format: "markdown" }, { sources: true }])
    expect(await context(user, { threadId, ...other })).toMatchObject({ prefixChanged: true });
});

it("shows an episode once, a procedure with its title, and whose a shared memory is", async () => {
  const [user, team] = [newUser(), `shared:${newUser()}`];
  await remembered(user, { kind: "episode", text: "We sailed the boat to Setúbal" });
  await remembered(user, { kind: "procedure", title: "Moor the boat", text: "Throw the rope first" });
  await remembered(team, { text: "The boat is in the harbour" });
  const shown = async (type: string) =>
    lines(
      (
        await context(user, {
          query: "Where is the boat?",
          layers: [{ type }],
          owners: [team],
          answerable: "off",
        })
      ).recalled.text,
    );
  expect(await shown("episodes")).toHaveLength(1);
  expect(await shown("recalled")).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^- \[procedure \| .*\] "Moor the boat": Throw the rope first$/),
      expect.stringMatching(/^- \[fact \| .* \| shared\] The boat is in the harbour$/),
    ]),
  );
});

it("makes the stable block anew where a change has no room beside it", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  for (let i = 0; i < 8; i++) await remember(user, { text: `Ann said number ${i}` });
  const layers = [{ type: "facts", tokens: { max: 120 } }];
  const first = await turn(user, threadId, "hello", { layers, budget: 120 });
  await remember(user, { text: "Ann is allergic to hazelnuts", importance: 1 });
  const second = await turn(user, threadId, "thanks!", { layers, budget: 120 });
  expect([first.prefixChanged, second.prefixChanged]).toEqual([undefined, true]);
  expect(second.stable.text).toContain("hazelnuts");
});

it("shows no memory that a later version let expire", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  const { id } = await lives(user, "Porto");
  await turn(user, threadId, "hello");
  await patch(user, id, { object: "Braga", expiresAt: Date.now() + MINUTE });
  control.clockAhead += 2 * MINUTE;
  const later = await context(user, { query: "thanks!", threadId });
  expect([later.prefixChanged, JSON.stringify(later).includes("lives in")]).toEqual([true, false]);
});

it("cuts a long value, and shows a key once", async () => {
  const user = newUser();
  await call(`/v1/users/${user}/kv/long`, { method: "PUT", json: "x".repeat(500_000) });
  const layers = [{ type: "entries", keys: ["long", "long"] }];
  const { sections, candidates } = await context(user, { layers, explain: true, budget: 100_000 });
  expect([sections[0].items, candidates.length]).toEqual([1, 1]);
  expect(candidates[0].text.length).toBeLessThan(9_000);
});

it("keeps nothing for a token that only reads the memory of a shared owner", async () => {
  const team = `shared:${newUser()}`;
  await remember(team, { text: "The team's ferry leaves at ten" });
  const { id: threadId } = await create(team);
  const token = await tokenWith({ user: newUser(), shared: [team] });
  const asTeam = (json: object) => call(`/v1/users/${team}/context`, { json, token });
  for (const [field, body] of Object.entries({ threadId: { threadId }, snapshot: { snapshot: "run" } })) {
    const { status, body: answer } = await asTeam({ query: "When does the ferry leave?", ...body });
    expect([status, answer.error.details[0].path]).toEqual([403, `body.${field}`]);
  }
  expect((await asTeam({ query: "When does the ferry leave?" })).status).toBe(200);
});

describe("a deletion during the search", () => {
  /** Calls `work` while the context waits for a shared owner. */
  async function meanwhile(user: string, body: object, work: () => Promise<unknown>) {
    const team = `shared:${newUser()}`;
    await remembered(team, { text: "The team's ferry leaves at ten" });
    const object = env.USER_MEMORY.getByName(await userHash(team));
    let [begun, go] = [() => {}, () => {}];
    const [hasBegun, mayGo] = [
      new Promise<void>((resolve) => (begun = resolve)),
      new Promise<void>((resolve) => (go = resolve)),
    ];
    await runInDurableObject(object, (instance) => {
      const search = instance.searchLayers.bind(instance);
      vi.spyOn(Object.getPrototypeOf(instance) as UserMemory, "searchLayers").mockImplementationOnce(
        async (...args) => {
          begun();
          await mayGo;
          return search(...args);
        },
      );
    });
    const answer = ask(user, { ...body, owners: [team] });
    await hasBegun;
    await work();
    go();
    return answer;
  }
  const rowsOf = async (user: string) =>
    runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (_, { storage }) =>
      storage.sql.exec("SELECT * FROM context_blocks").toArray(),
    );
  const query = "When does the ferry leave?";

  it("leaves nothing of a thread", async () => {
    const user = newUser();
    const { id: threadId } = await create(user);
    const { status } = await meanwhile(user, { query, threadId }, () =>
      call(`/v1/threads/${threadId}`, { method: "DELETE" }),
    );
    expect([status, await rowsOf(user)]).toEqual([404, []]);
  });

  it("leaves nothing of a memory, nor of a user", async () => {
    const user = newUser();
    const { id } = await remembered(user, { text: "My own ferry leaves at nine" });
    const layers = [{ type: "recalled" }];
    const { body } = await meanwhile(user, { query, layers }, () => forget(user, id));
    expect(lines(body.recalled.text)).toEqual([expect.stringContaining("leaves at ten")]);
    await remembered(user, { text: "My own ferry leaves at eight" });
    const erased = await meanwhile(user, { query, layers, snapshot: "run" }, () =>
      call(`/v1/users/${user}`, { method: "DELETE" }),
    );
    expect(erased.body.error.code).toBe("erased_meanwhile");
  });
});

describe("the memories of shared owners", () => {
  const query = "When does the ferry leave?";
  async function told() {
    const [user, team] = [newUser(), `shared:${newUser()}`];
    const { id: threadId } = await create(user);
    const { id } = await remembered(team, { text: "The team's ferry leaves at ten" });
    await append((await create(user)).id, [say("My own ferry leaves at nine")]);
    const body = { query, threadId, owners: [team] };
    return { user, team, id, threadId, body, token: await tokenWith({ user, shared: [team] }) };
  }

  it("are recalled with the user's, and stay in the turn that had them", async () => {
    const { user, threadId, body, token } = await told();
    const [first, once] = await Promise.all(
      [body, body].map(async (json) => (await ask(user, json, { Authorization: `Bearer ${token}` })).body),
    );
    expect(lines(first.recalled.text).toSorted()).toEqual([
      expect.stringMatching(/^- \[fact \| .* \| shared\] The team's ferry leaves at ten$/),
      expect.stringMatching(/^- \[user said \| .*\] My own ferry leaves at nine$/),
    ]);
    expect(once).toEqual(first);
    await append(threadId, [say(query), say("At ten.", "assistant")]);
    const { items } = await read(threadId, "view=prompted");
    expect(items[0]?.message.content).toBe(`${first.recalled.text}\n\n${query}`);
    const hashes = await Promise.all([query, "And back?"].map(messageHash));
    const next = await context(user, { query: "And back?", threadId, messages: hashes });
    expect(next.pinned).toEqual([{ index: 0, text: first.recalled.text }]);
    expect(next.prefixChanged).toBeUndefined();
  });

  it("leave all blocks, and snapshots, where their owner forgets them", async () => {
    const { user, team, id, threadId, body } = await told();
    const made = await context(user, { ...body, snapshot: "run" });
    expect(made.recalled.text).toContain("leaves at ten");
    await append(threadId, [say(query), say("At ten.", "assistant")]);
    await forget(team, id);
    expect((await context(user, { snapshot: "run" })).recalled.text).not.toContain("leaves at ten");
    const { items } = await read(threadId, "view=prompted");
    expect(items[0]?.message.content).not.toContain("leaves at ten");
    const hashes = await Promise.all([query, "And back?"].map(messageHash));
    const next = await context(user, { query: "And back?", threadId, messages: hashes });
    expect(next.prefixChanged).toBe(true);
    expect(JSON.stringify(next)).not.toContain("leaves at ten");
  });

  it("are left out, and the section says so, if the owner's object fails", async () => {
    const { user, team, body } = await told();
    const object = env.USER_MEMORY.getByName(await userHash(team));
    await runInDurableObject(object, (instance) => {
      vi.spyOn(instance, "searchLayers").mockRejectedValue(new Error("it is away"));
    });
    const { recalled, sections } = await context(user, body);
    expect(lines(recalled.text)).toEqual([expect.stringContaining("My own ferry leaves at nine")]);
    expect(sections.find(({ layer }: { layer: string }) => layer === "recalled").status).toBe("failed");
  });

  it("are refused where the token does not name the owner", async () => {
    const { user, body } = await told();
    const token = await tokenWith({ user });
    const { status, body: answer } = await call(`/v1/users/${user}/context`, { json: body, token });
    expect([status, answer.error.details[0].path]).toEqual([404, "body.owners[0]"]);
  });
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

it("keeps its blocks while D1 does not answer", async () => {
  const user = newUser();
  const { id } = await create(user);
  await lives(user, "Porto");
  const first = await turn(user, id, "Where does Ann live?");
  control.d1Reads = "fail";
  control.d1Writes = "before";
  const again = await context(user, { query: "And where does Ben live?", threadId: id });
  expect(again.stable).toEqual(first.stable);
});

describe("a snapshot", () => {
  it("gives the first answer again for an hour, byte for byte, without what is forgotten", async () => {
    const user = newUser();
    const { id: home } = await lives(user, "Porto");
    await remember(user, { text: "Ann likes tea" });
    const first = await context(user, { query: "Where does Ann live?", snapshot: "run-7" });
    await lives(user, "Braga");
    const again = await context(user, { query: "Something else", snapshot: "run-7", format: "markdown" });
    expect([again.stable, again.recalled, again.etag]).toEqual([first.stable, first.recalled, first.etag]);
    expect((await ask(user, { snapshot: "run-7" }, { "If-None-Match": `"${first.etag}"` })).status).toBe(304);
    await forget(user, home);
    expect((await context(user, { snapshot: "run-7" })).stable.text).not.toContain("Porto");
    control.clockAhead += 61 * MINUTE;
    expect((await context(user, { snapshot: "run-7" })).stable.text).toContain("Ann likes tea");
  });

  it("is one for calls at once", async () => {
    const user = newUser();
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        await remember(user, { text: `Ann owns thing ${i}` });
        return context(user, { snapshot: "run" });
      }),
    );
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1);
  });
});

it("gives the blocks of earlier turns beside a snapshot, and an entry's value of that time", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await append((await create(user)).id, [say("I keep my boat in Setúbal")]);
  const query = "Where is my boat?";
  const { recalled } = await turn(user, threadId, query);
  const messages = await Promise.all([query, "thanks!"].map(messageHash));
  const asked = { query: "thanks!", threadId, messages, snapshot: "run" };
  const first = await context(user, asked);
  expect(first.pinned).toEqual([{ index: 0, text: recalled.text }]);
  expect(await context(user, asked)).toEqual(first);

  const at = `/v1/users/${user}/kv/tone`;
  await call(at, { method: "PUT", json: "dry" });
  const layers = [{ type: "entries", keys: ["tone"] }];
  const before = await context(user, { layers, snapshot: "other" });
  await call(at, { method: "PUT", json: "warm" });
  expect(await context(user, { layers, snapshot: "other" })).toEqual(before);
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

it("shows no entry that has expired, also before it is deleted", async () => {
  const user = newUser();
  await call(`/v1/users/${user}/kv/tone?ttlMs=1000`, { method: "PUT", json: "dry" });
  const layers = [{ type: "entries", keys: ["tone"] }];
  const first = await context(user, { layers, snapshot: "run" });
  expect(first.stable.text).toContain("dry");
  control.clockAhead += 2_000;
  // The later value takes the row of the expired one.
  await call(`/v1/users/${user}/kv/tone`, { method: "PUT", json: "warm" });
  expect((await context(user, { layers, snapshot: "run" })).stable.text).toBe("");
});

it("stays within its budget", async () => {
  const user = newUser();
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      remember(user, { text: `Ann owns thing ${i} ${"of a kind ".repeat(9)}` }),
    ),
  );
  for (const budget of [100, 150, 400, 1000]) {
    const { tokens, stable, recalled } = await context(user, { query: "What does Ann own?", budget });
    expect(stable.tokens).toBe(Math.ceil(stable.text.length / 4));
    expect(tokens).toBe(stable.tokens + recalled.tokens);
    expect(tokens).toBeLessThanOrEqual(budget);
  }
});

it("stays within a budget that a tokenizer counts", async () => {
  const user = newUser();
  await Promise.all(
    ["日本語の文章です", "naïve café Ωμέγα", "plain words", "🙂🙃 {}[]();"].flatMap((text) =>
      Array.from({ length: 5 }, (_, i) => remember(user, { text: `Ann said ${i} ${text.repeat(4)}` })),
    ),
  );
  const count = await portsOf(env).tokenCounter("o200k_base");
  for (const budget of [100, 200, 500]) {
    const { id: threadId } = await create(user);
    const asked = { query: "What did Ann say?", budget, tokenizer: "o200k_base", threadId };
    const { tokens, stable, recalled } = await context(user, asked);
    expect([stable.tokens, recalled.tokens]).toEqual([count(stable.text), count(recalled.text)]);
    expect(tokens).toBe(stable.tokens + recalled.tokens);
    expect(tokens).toBeGreaterThan(budget / 3);
    expect(tokens).toBeLessThanOrEqual(budget);
  }
});

it("answers 503 and keeps nothing if the tokenizer cannot be loaded", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await lives(user, "Porto");
  control.tokenizer = "fail";
  const asked = { query: "hello", threadId, tokenizer: "o200k_base" };
  const { status, body: answer } = await ask(user, asked);
  expect([status, answer.error.details[0].path]).toEqual([503, "body.tokenizer"]);
  restore();
  expect(lines((await context(user, asked)).stable.text)).toEqual(["- Ann: lives in Porto"]);
});

it("tells of each item where it is from", async () => {
  const user = newUser();
  const { id: thread } = await create(user);
  await append((await create(user)).id, [say("I keep my boat in Setúbal")]);
  const { id } = await lives(user, "Porto");
  const body = { query: "Where is my boat?", threadId: thread, sources: true };
  const { stable, recalled } = await context(user, body);
  expect(lines(stable.text)).toEqual([`- Ann: lives in Porto (id: ${id})`]);
  expect(lines(recalled.text)).toEqual([expect.stringMatching(/Setúbal \(id: \S+:\d+\)$/)]);
  expect((await context(user, { ...body, sources: false })).recalled).toEqual(recalled);
});

it("explains why each candidate is in or out", async () => {
  const user = newUser();
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      remember(user, { text: `Ann owns thing ${i} ${"of a kind ".repeat(9)}` }),
    ),
  );
  const { candidates } = await context(user, {
    query: "What does Ann own?",
    answerable: "off",
    budget: 300,
    explain: true,
  });
  const reasons = new Set(candidates.map(({ why }: { why: string }) => why));
  expect(reasons).toEqual(new Set(["fits", "budget", "known"]));
});

it.each([
  [{ budget: 99 }, "body.budget"],
  [{ format: "yaml" }, "body.format"],
  [{ layers: [{ type: "dreams" }] }, "body.layers[0].type"],
  [{ layers: [{ type: "facts", slot: -1 }] }, "body.layers[0].slot"],
  [{ layers: [{ type: "facts", tokens: { min: 10, max: 5 } }] }, "body.layers[0].tokens.min"],
  [{ layers: [{ type: "facts", tokens: { min: 3000 } }] }, "body.budget"],
  [{ layers: [{ type: "facts" }, { type: "facts" }] }, "body.layers[1].type"],
  [{ layers: [{ type: "history" }] }, "body.layers"],
  [{ layers: [{ type: "recalled", mode: "eventual" }] }, "body.layers[0].mode"],
  [{ layers: [{ type: "entries" }] }, "body.layers[0].prefix"],
  [{ layers: [{ type: "facts" }], profile: "p" }, "body.profile"],
  [{ profile: "none" }, "body.profile"],
  [{ messages: ["abc"], threadId: "t" }, "body.messages[0]"],
  [{ messages: [] }, "body.messages"],
  [{ cacheTtl: "soon" }, "body.cacheTtl"],
  [{ snapshotTtl: "1h" }, "body.snapshotTtl"],
  [{ snapshot: "s", snapshotTtl: "2d" }, "body.snapshotTtl"],
  [{ tokenizer: "o200k" }, "body.tokenizer"],
])("refuses %j by its field", async (body, path) => {
  const { status, body: answer } = await ask(newUser(), body);
  expect([status, answer.error.details[0].path]).toEqual([400, path]);
});

it("answers 404 for a thread of somebody else, and takes a token that only reads", async () => {
  const [user, other] = [newUser(), newUser()];
  const { id } = await create(other);
  expect((await ask(user, { query: "hello", threadId: id })).status).toBe(404);
  const token = await tokenWith({ user, scope: ["read"] });
  expect((await call(`/v1/users/${user}/context`, { json: {}, token })).status).toBe(200);
});
