// Setting a user back to an earlier time, over a double of the platform's point-in-time recovery: the local runtime has none.
import { createScheduledController, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { userHash } from "../../src/domain/ids.ts";
import { call, newUser } from "../call.ts";
import { START, control, restore as restoreControl } from "../doubles/control.ts";
import { takeState } from "../doubles/storage.ts";
import { ring } from "../ingest/calls.ts";
import { forget, get, listTexts, patch, remember, remembered } from "../memory-calls.ts";
import { append, create, said, say, threadOf } from "../thread-calls.ts";
import worker from "../worker.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
beforeEach(() => {
  control.clockAt = START;
});
afterEach(restoreControl);

const later = (ms: number) => void (control.clockAt = (control.clockAt ?? START) + ms);
const restore = (user: string, body: object) => call(`/v1/users/${user}/restore`, { json: body });
const cron = () => worker.scheduled(createScheduledController(), env);
const snapshot = async (user: string) =>
  runInDurableObject(env.USER_MEMORY.getByName(await userHash(user)), (_, state) =>
    takeState(state, control.clockAt ?? START),
  );
const put = (user: string, key: string, value: unknown) =>
  call(`/v1/users/${user}/kv/${key}`, { method: "PUT", json: value });
const entry = async (user: string, key: string) => (await call(`/v1/users/${user}/kv/${key}`)).text;
const changes = async (user: string, after: string) =>
  (await call(`/v1/users/${user}/changes?after=${after}`)).body;

/** A user, and what of it is as it was (`then`), is lost and comes back when it is set back to `at`. */
async function changedUser() {
  const user = newUser();
  const kept = await threadOf(user, ["one"]);
  const deleted = await threadOf(user, ["deleted later"]);
  await remember(user, { text: "stays" });
  const forgotten = await remembered(user, { text: "forgotten later" });
  const corrected = await remembered(user, { text: "was so" });
  await put(user, "k", 1);
  await ring(user);
  later(HOUR);
  await snapshot(user);
  const at = control.clockAt ?? START;
  later(HOUR);
  await append(kept.id, [say("two")]);
  const begun = await threadOf(user, ["three"]);
  await call(`/v1/threads/${deleted.id}`, { method: "DELETE" });
  await forget(user, forgotten.id);
  await patch(user, corrected.id, { text: "is so" });
  await remember(user, { text: "new" });
  await put(user, "k", 2);
  await ring(user);
  later(HOUR);
  return { user, at, kept, deleted, begun };
}
const LOST = { threads: 1, messages: 2, memoryVersions: 2, entries: 1 };
const BACK = { threads: 1, memories: 1 };

it("lists what is lost and what comes back, and does nothing unless it is told to", async () => {
  const { user, at, kept } = await changedUser();
  expect((await restore(user, { at })).body).toEqual({ at, status: "dryRun", lost: LOST, back: BACK });
  expect(await said(kept.id)).toEqual(["one", "two"]);
});

it("sets threads, messages, entries and memories back, and D1 has what the object has", async () => {
  const { user, at, kept, deleted, begun } = await changedUser();
  const { version } = (await call(`/v1/users/${user}/changes`)).body;
  expect((await restore(user, { at, dryRun: false })).body).toEqual({
    at,
    status: "done",
    lost: LOST,
    back: BACK,
  });
  expect(await said(kept.id)).toEqual(["one"]);
  expect(await said(deleted.id)).toEqual(["deleted later"]);
  expect((await call(`/v1/threads/${begun.id}`)).status).toBe(404);
  expect(await entry(user, "k")).toBe("1");
  expect((await listTexts(user)).toSorted()).toEqual(["forgotten later", "stays", "was so"]);
  for (let i = 0; i < 3; i++) await ring(user);
  const listed = (await call("/v1/threads?limit=1000")).text;
  expect([kept, deleted, begun].map(({ id }) => listed.includes(id))).toEqual([true, true, false]);
  expect((await call(`/v1/users/${user}/reindex`)).body.status).toBe("done");
  // Readers of the changes begin anew, and no number is used twice.
  expect(await changes(user, version)).toMatchObject({ reset: true });
  const after = (await call(`/v1/users/${user}/changes`)).body.version;
  const fresh = await remembered(user, { text: "after all" });
  expect(fresh.version).toBeGreaterThan(1_000_000);
  expect((await get(user, fresh.id)).body.text).toBe("after all");
  await append(kept.id, [say("again")]);
  expect((await changes(user, after)).items).toMatchObject([
    { type: "memory" },
    { type: "thread", id: kept.id },
  ]);
});

const faults = (["before", "after"] as const).flatMap((fault) =>
  Array.from({ length: 7 }, (_, i) => [i + 1, fault] as const),
);
it.each(faults)(
  "ends by the cron after an outage of D1 behind %i of its writes (%s the next)",
  async (good, fault) => {
    const { user, at, kept } = await changedUser();
    control.d1NextWrites = [...Array.from({ length: good }, () => "ok" as const), fault];
    expect((await restore(user, { at, dryRun: false })).status).toBe(503);
    control.d1NextWrites = [];
    await cron();
    for (let i = 0; i < 3; i++) await ring(user);
    expect(await said(kept.id)).toEqual(["one"]);
    expect((await listTexts(user)).toSorted()).toEqual(["forgotten later", "stays", "was so"]);
    // It has ended: a later write stays.
    await append(kept.id, [say("again")]);
    await cron();
    expect(await said(kept.id)).toEqual(["one", "again"]);
  },
);

it("is not begun where D1 cannot note it", async () => {
  const { user, at, kept } = await changedUser();
  control.d1NextWrites = ["before"];
  expect((await restore(user, { at, dryRun: false })).status).toBe(503);
  await cron();
  expect(await said(kept.id)).toEqual(["one", "two"]);
});

it("brings nothing back that was erased since", async () => {
  const { user, at, kept } = await changedUser();
  await call(`/v1/users/${user}/erasures`, { json: { threadId: kept.id } });
  for (const dryRun of [true, false])
    expect(await restore(user, { at, dryRun })).toMatchObject({
      status: 409,
      body: { error: { code: "erased_since" } },
    });
});

it("refuses a time without a state, and one before the user's first write", async () => {
  const user = newUser();
  later(40 * DAY);
  await create(user);
  later(HOUR);
  const now = control.clockAt ?? START;
  for (const at of [now + 1, now - 31 * DAY, now - 2 * HOUR]) {
    const { status, body } = await restore(user, { at, dryRun: false });
    expect([status, body.error.details]).toMatchObject([400, [{ path: "body.at" }]]);
  }
  const none = await restore(user, { at: now, dryRun: false });
  expect([none.status, none.body.error.code]).toEqual([501, "restore_unavailable"]);
});
