import { afterEach, describe, expect, it } from "vitest";
import type { Change, Changes } from "../../../../src/domain/schema/changes.ts";
import { call, newUser, tokenWith } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { ring } from "../ingest/calls.ts";
import { forget, patch, remembered, rememberMany } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";

afterEach(restore);

const read = async (user: string, after?: string, limit = 1000): Promise<Changes> => {
  const query = new URLSearchParams({ limit: String(limit), ...(after !== undefined && { after }) });
  return (await call(`/v1/users/${user}/changes?${query.toString()}`)).body;
};
/** A change in short: `memory <id> <version>`. */
const short = (change: Change): string => {
  if (change.type === "memory") return `memory ${change.id} ${change.version}`;
  if (change.type === "thread") return `thread ${change.id} ${change.length}`;
  return `${change.type} ${"ids" in change ? (change.ids ?? ["all"]).join(" ") : change.id}`;
};
const since = async (user: string, after?: string): Promise<string[]> =>
  (await read(user, after)).items.map(short);

describe("the changes of a user", () => {
  it("tell what was written, corrected, forgotten, appended and deleted, by ids alone", async () => {
    const user = newUser();
    const { version: empty, items } = await read(user);
    expect(items).toEqual([]);
    const tea = await remembered(user, { text: "I like tea" });
    const { id: threadId } = await create(user);
    const first = await read(user, empty);
    expect(first.items.map(short)).toEqual([`memory ${tea.id} ${tea.version}`, `thread ${threadId} 0`]);
    expect(JSON.stringify(first)).not.toContain("tea");
    expect(await since(user, first.version)).toEqual([]);
    await append(threadId, [say("hi"), say("there")]);
    const { body: corrected } = await patch(user, tea.id, { text: "I like coffee" });
    const second = await read(user, first.version);
    expect(second.items.map(short)).toEqual([
      `memory ${tea.id} ${corrected.version}`,
      `thread ${threadId} 2`,
    ]);
    await forget(user, tea.id);
    await call(`/v1/threads/${threadId}`, { method: "DELETE" });
    expect(await since(user, second.version)).toEqual([
      `memoriesForgotten ${tea.id}`,
      `threadsDeleted ${threadId}`,
    ]);
  });

  it("begin with all that is stored, without what is gone", async () => {
    const user = newUser();
    const tea = await remembered(user, { text: "I like tea" });
    const gone = await remembered(user, { text: "I like coffee" });
    await forget(user, gone.id);
    expect(await since(user)).toEqual([`memory ${tea.id} ${tea.version}`, `memoriesForgotten ${gone.id}`]);
  });

  it("tell of expired memories, of all that are forgotten, and of erasures", async () => {
    const user = newUser();
    const soon = await remembered(user, { text: "short", expiresAt: clock() + 60_000 });
    const { id: threadId } = await create(user);
    const { version } = await read(user);
    control.clockAhead += 120_000;
    await ring(user);
    expect(await since(user, version)).toEqual([`memoriesForgotten ${soon.id}`]);
    await remembered(user, { text: "another" });
    const { version: later } = await read(user, version);
    await call(`/v1/users/${user}/memories`, { method: "DELETE" });
    const { id } = (await call(`/v1/users/${user}/erasures`, { json: { threadId } })).body;
    expect(await since(user, later)).toEqual([
      "memoriesForgotten all",
      `threadsDeleted ${threadId}`,
      `erasure ${id}`,
    ]);
  });

  it("tell a reader to begin anew when the user was erased", async () => {
    const user = newUser();
    await remembered(user, { text: "I like tea" });
    const { version } = await read(user);
    await call(`/v1/users/${user}`, { method: "DELETE" });
    const after = await remembered(user, { text: "I like coffee" });
    const answer = await read(user, version);
    expect(answer.reset).toBe(true);
    expect(answer.items.map(short)).toEqual([`memory ${after.id} ${after.version}`]);
    expect((await read(user, answer.version)).reset).toBeUndefined();
  });

  it("tell a reader to begin anew who comes after 30 days, or from a state that is lost", async () => {
    const user = newUser();
    const token = await tokenWith({ user: "*", ttlSeconds: 100 * 86_400 });
    const post = (path: string, json?: object, method?: string) =>
      call(`/v1/users/${user}/${path}`, { token, ...(json && { json }), ...(method && { method }) });
    const { body: tea } = await post("memories", { text: "I like tea" });
    const { version } = (await post("changes")).body;
    await post(`memories/${tea.id}`, undefined, "DELETE");
    control.clockAhead += 31 * 86_400_000;
    const { body: coffee } = await post("memories", { text: "I like coffee" });
    // The old removals go with the next one.
    await post(`memories/${coffee.id}`, undefined, "DELETE");
    expect((await post(`changes?after=${version}`)).body.reset).toBe(true);
    const [epoch] = version.split(".");
    expect((await post(`changes?after=${epoch}.999.0`)).body.reset).toBe(true);
  });

  it("wait for a write that D1 has not confirmed, so that no reader passes it", async () => {
    const user = newUser();
    await remembered(user, { text: "first" });
    const { version } = await read(user);
    control.d1NextWrites = ["after"];
    await call(`/v1/users/${user}/memories`, { json: { text: "second" } });
    expect(await since(user, version)).toEqual([]);
    const third = await remembered(user, { text: "third" });
    const told = await since(user, version);
    expect(told).toHaveLength(2);
    expect(told[1]).toBe(`memory ${third.id} ${third.version}`);
  });

  it("refuse a version that is none", async () => {
    const { status, body } = await call(`/v1/users/${newUser()}/changes?after=x`);
    expect([status, body.error.details[0].path]).toEqual([400, "query.after"]);
  });
});

/** Numbers that follow from a seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

it.each([1, 2, 3, 4])("a reader who dies at random misses nothing (seed %i)", async (seed) => {
  const user = newUser();
  const below = random(seed);
  const { id: threadId } = await create(user);
  const live = new Map<string, number>();
  /** The reader's copy, and the last version that it saved. */
  const copy = new Map<string, number>();
  let saved: string | undefined;
  const apply = (into: Map<string, number>, items: readonly Change[]) => {
    for (const item of items)
      if (item.type === "memory") into.set(item.id, item.version);
      else if (item.type === "memoriesForgotten")
        for (const id of item.ids ?? [...into.keys()]) into.delete(id);
  };
  for (let step = 0; step < 40; step++) {
    const ids = [...live.keys()];
    const id = ids[below(ids.length)];
    const what = below(5);
    if (what === 0 && id !== undefined) {
      await forget(user, id);
      live.delete(id);
    } else if (what === 1 && id !== undefined) {
      const { body } = await patch(user, id, { text: `corrected ${step}` });
      live.set(id, body.version);
    } else if (what === 2) await append(threadId, [say(`message ${step}`)]);
    else {
      if (below(4) === 0) control.d1NextWrites = ["before"];
      const many = Array.from({ length: 1 + below(3) }, (_, i) => ({ text: `text ${step} ${i}` }));
      const { status, body } = await rememberMany(user, many);
      if (status === 200) for (const { memory } of body.items) live.set(memory.id, memory.version);
    }
    // Reads some pages, and dies before it saves the last one.
    for (let pages = below(3); pages > 0; pages--) {
      const page = await read(user, saved, 1 + below(5));
      apply(copy, page.items);
      if (below(2) === 0) saved = page.version;
      if (!page.more) break;
    }
  }
  control.d1NextWrites = [];
  await ring(user);
  for (let more = true; more;) {
    const page = await read(user, saved, 3);
    apply(copy, page.items);
    ({ version: saved, more } = page);
  }
  const stored = (await call(`/v1/users/${user}/memories?limit=1000`)).body.items;
  expect([...copy.keys()].toSorted()).toEqual(stored.map((memory: { id: string }) => memory.id).toSorted());
  for (const { id, version } of stored) expect(copy.get(id)).toBe(version);
});
