// Contexts with the memories of shared owners, whose objects are slow, fail or forget.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { messageHash } from "../../../../src/domain/context/message-hash.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import type { UserMemory } from "../../../../durable-objects/user-memory.ts";
import { call, newUser, tokenWith } from "../../../call.ts";
import { restore } from "../../../doubles/control.ts";
import { forget, remember, remembered } from "../../../memory-calls.ts";
import { append, create, read, say } from "../../../thread-calls.ts";
import { ask, context, lines } from "./calls.ts";

afterEach(restore);

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
