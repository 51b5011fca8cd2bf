// The layers of a context, and the profiles that store lists of them.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, tokenWith } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { remember, remembered } from "../../../memory-calls.ts";
import { create, read } from "../../../thread-calls.ts";
import { ask, context, lines, lives, turn } from "./calls.ts";

afterEach(restore);

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

  it("leave no key of a deleted entry in a block, also of one that nobody asks for again", async () => {
    const user = newUser();
    const keys = ['tone "of" Zoë\n1', "stays"];
    for (const key of keys)
      await call(`/v1/users/${user}/kv/${encodeURIComponent(key)}`, { method: "PUT", json: key });
    const { id } = await create(user);
    const entries = (more = {}) => [{ type: "entries", keys, ...more }];
    await turn(user, id, "hello", { layers: entries() });
    await turn(user, (await create(user)).id, "hello", { layers: entries({ mode: "atomic" }) });
    await context(user, { layers: entries(), snapshot: "run" });
    await context(user, { layers: entries(), snapshot: "run-of-thread", threadId: id, query: "thanks!" });
    const object = env.USER_MEMORY.getByName(await userHash(user));
    const blocks = () =>
      runInDurableObject(object, (_, { storage }) =>
        storage.sql
          .exec<{ body: string }>("SELECT body FROM context_blocks")
          .toArray()
          .map(({ body }) => body),
      );
    const before = await blocks();
    expect(before.filter((body) => body.includes("Zoë")).length).toBeGreaterThan(3);
    const deleted = `/v1/users/${user}/kv/${encodeURIComponent(keys[0] ?? "")}`;
    expect((await call(deleted, { method: "DELETE" })).status).toBe(204);
    const after = await blocks();
    expect(after).toHaveLength(before.length);
    expect(after.join()).not.toContain("Zoë");
    for (const body of after) expect(() => JSON.parse(body)).not.toThrow();
    for (const asked of [
      { snapshot: "run" },
      { snapshot: "run-of-thread", threadId: id, query: "thanks!" },
    ]) {
      const { stable, recalled } = await context(user, { layers: entries(), ...asked });
      expect(lines(stable.text + recalled.text)).toEqual(['- [stays]: "stays"']);
    }
    const next = await turn(user, id, "bye!", { layers: entries() });
    expect(lines(next.stable.text)).toEqual(['- [stays]: "stays"']);
    expect(next.prefixChanged).toBe(true);
  });

  it("of facts take a fifth of the budget, though there is room", async () => {
    const user = newUser();
    const memories = Array.from({ length: 20 }, (_, i) => ({ text: `Fact ${i} ${"a".repeat(150)}` }));
    await call(`/v1/users/${user}/memories/batch`, { json: { memories } });
    const { sections } = await context(user, { budget: 1_000, layers: [{ type: "facts" }] });
    expect(sections[0].tokens).toBeLessThanOrEqual(200);
    expect(sections[0].tokens).toBeGreaterThan(150);
    const all = { type: "facts", tokens: { max: 1_000 } };
    expect((await context(user, { budget: 1_000, layers: [all] })).sections[0].tokens).toBeGreaterThan(500);
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
    expect((await put("one-more")).body.error.code).toBe("limit_reached");
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
      "instructions",
      "profile",
      "facts",
      "summary",
      "recalled",
    ]);
  });
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

it("cuts a long value, and shows a key once", async () => {
  const user = newUser();
  await call(`/v1/users/${user}/kv/long`, { method: "PUT", json: "x".repeat(500_000) });
  const layers = [{ type: "entries", keys: ["long", "long"] }];
  const { sections, candidates } = await context(user, { layers, explain: true, budget: 100_000 });
  expect([sections[0].items, candidates.length]).toEqual([1, 1]);
  expect(candidates[0].text.length).toBeLessThan(9_000);
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
