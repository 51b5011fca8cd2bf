// Setting a user back to an earlier time, over a double of the platform's point-in-time recovery: the local runtime has none.
import { createScheduledController, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import type { RestoreMark, UserMemoryRpc } from "../../../../src/contract/user-memory.ts";
import { type UserHash, userHash } from "../../../../src/domain/ids.ts";
import { restoreUser } from "../../../../src/worker/use-cases/restore.ts";
import { call, newUser } from "../../../call.ts";
import { START, control, restore as restoreControl } from "../../../doubles/control.ts";
import { bindVectorize, faultyPorts } from "../../../doubles/ports.ts";
import { takeState } from "../../../doubles/storage.ts";
import { VectorizeDouble } from "../../../doubles/vectorize.ts";
import { ring } from "../ingest/calls.ts";
import { forget, get, listTexts, patch, remember, remembered } from "../../../memory-calls.ts";
import { append, create, said, say, threadOf } from "../../../thread-calls.ts";
import worker, { type UserMemory } from "../../../worker.ts";

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

/** The restore is noted, and stops behind so many writes of D1. */
async function stopped(good = 1) {
  const given = await changedUser();
  control.d1NextWrites = [...Array.from({ length: good }, () => "ok" as const), "before"];
  expect((await restore(given.user, { at: given.at, dryRun: false })).status).toBe(503);
  control.d1NextWrites = [];
  return given;
}
const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const jobOf = async (user: string) =>
  env.DB.prepare("SELECT detail, finished_at FROM jobs WHERE name = ?")
    .bind(`restore ${await userHash(user)}`)
    .first<{ detail: string; finished_at: number | null }>();
/** What the Worker gives the object to begin the user's restore. */
const markOf = async (user: string) => JSON.parse((await jobOf(user))?.detail ?? "") as RestoreMark;

const erased = [1, 2, 3].flatMap((good) =>
  (["user", "thread"] as const).map((what) => [what, good] as const),
);
it.each(erased)("brings back nothing of a %s that is erased behind %i writes of D1", async (what, good) => {
  const { user, kept } = await stopped(good);
  later(1000);
  const { status, body } =
    what === "user"
      ? await call(`/v1/users/${user}`, { method: "DELETE" })
      : await call(`/v1/users/${user}/erasures`, { json: { threadId: kept.id } });
  expect(status).toBe(202);
  for (let i = 0; i < 12; i++) {
    later(60_000);
    await ring(user);
    if (i % 4 === 0) await cron();
  }
  expect((await call(`/v1/erasures/${body.id}`)).body.status).toBe("done");
  expect((await call(`/v1/threads/${kept.id}/messages`)).status).toBe(404);
  expect(await listTexts(user)).toHaveLength(what === "user" ? 0 : 3);
  const job = await jobOf(user);
  expect([job === null, job?.finished_at === null]).toEqual([what === "user", false]);
});

it.each(["user", "thread"])("is refused by the object that erased a %s since it was noted", async (what) => {
  const { user, at, kept } = await changedUser();
  const [object, hash] = [await objectOf(user), await userHash(user)];
  const preview = await object.previewRestore(at);
  const detail = JSON.stringify({ ...(preview.ok && preview.value), at, token: "t" });
  await env.DB.prepare("INSERT INTO jobs (name, detail, position, done, started_at) VALUES (?, ?, '', 0, 0)")
    .bind(`restore ${hash}`, detail)
    .run();
  const owner = { hash, id: user };
  const erasure = await (what === "user" ? object.eraseUser(owner) : object.eraseThread(owner, kept.id));
  expect(erasure.ok).toBe(true);
  await cron();
  expect((await call(`/v1/threads/${kept.id}/messages`)).status).toBe(404);
  expect((await jobOf(user))?.finished_at).not.toBeNull();
});

it("is ended before an erasure: an object that waits for its earlier state erases nothing", async () => {
  const { user, kept } = await stopped();
  const [object, hash] = [await objectOf(user), await userHash(user)];
  const refused = { ok: false, code: "storage_unavailable" };
  expect(await object.eraseUser({ hash, id: user })).toMatchObject(refused);
  expect(await object.eraseThread({ hash, id: user }, kept.id)).toMatchObject(refused);
  expect(await object.eraseScope({ hash, id: user }, "s")).toMatchObject(refused);
  expect((await call(`/v1/users/${user}`, { method: "DELETE" })).status).toBe(202);
});

it("is not begun again by a call that comes late", async () => {
  const { user, at, kept } = await stopped();
  const mark = await markOf(user);
  expect((await restore(user, { at, dryRun: false })).body.status).toBe("done");
  await append(kept.id, [say("after done")]);
  expect(await (await objectOf(user)).beginRestore(mark)).toEqual({ ok: true, value: null });
  await (await objectOf(user)).restart().catch(() => undefined);
  expect(await said(kept.id)).toEqual(["one", "after done"]);
});

const overtaken = { ok: false, code: "precondition_failed" };

it("ends no session for a call that comes late", async () => {
  const { user, at } = await stopped();
  const { token } = await markOf(user);
  expect((await restore(user, { at, dryRun: false })).body.status).toBe("done");
  await expect((await objectOf(user)).restart(token)).resolves.toBeUndefined();
});

it.each(["the same", "another"])(
  "is not begun again by a late call behind a restore to %s time",
  async (to) => {
    const { user, at, kept } = await stopped();
    const [mark, object] = [await markOf(user), await objectOf(user)];
    if (to === "the same") await restore(user, { at, dryRun: false });
    later(1000);
    await snapshot(user);
    const second = to === "the same" ? at : (control.clockAt ?? START);
    expect((await restore(user, { at: second, dryRun: false })).body.status).toBe("done");
    await append(kept.id, [say("after done")]);
    expect(await object.beginRestore(mark)).toMatchObject(overtaken);
    expect(await object.stepRestore(await userHash(user), mark, { part: "begin" })).toMatchObject(overtaken);
    await object.restart().catch(() => undefined);
    expect((await said(kept.id)).at(-1)).toBe("after done");
  },
);

it("waits for its earlier state whatever late calls of a former one do", async () => {
  const { user, at } = await stopped();
  const [former, object, hash] = [await markOf(user), await objectOf(user), await userHash(user)];
  later(1000);
  await snapshot(user);
  control.d1NextWrites = ["ok", "ok", "before"];
  await restore(user, { at: control.clockAt ?? START, dryRun: false });
  const mark = await markOf(user);
  expect(mark.at).toBeGreaterThan(at);
  expect(await object.beginRestore(mark)).toEqual({ ok: true, value: null });
  expect(await object.beginRestore(former)).toMatchObject(overtaken);
  expect(await object.stepRestore(hash, former, { part: "begin" })).toMatchObject(overtaken);
  expect(await object.stepRestore(hash, mark, { part: "begin" })).toEqual({
    ok: true,
    value: { part: "begin" },
  });
});

it.each(["beginRestore", "stepRestore", "startReindex"])(
  "goes on where the cron ends the object under its %s",
  async (method) => {
    const { user, at, kept } = await stopped();
    let ends = 1;
    const userMemory = (owner: UserHash) => {
      const object = env.USER_MEMORY.getByName(owner) as unknown as UserMemoryRpc;
      return new Proxy(object, {
        get: (_, name) =>
          name === method && ends-- > 0 ? () => object.restart() : Reflect.get(object, name, object),
      });
    };
    const ports = { ...faultyPorts(env), userMemory };
    const owner = await userHash(user);
    expect(await restoreUser(ports, owner, { at, dryRun: false })).toMatchObject({
      value: { status: "done" },
    });
    expect(ends).toBeLessThan(1);
    expect(await said(kept.id)).toEqual(["one"]);
  },
);

/** A user with a restore to an earlier time that stopped behind its note, and a later time to come back to. */
async function stoppedBefore() {
  const changed = await changedUser();
  const { user } = changed;
  await snapshot(user);
  const second = control.clockAt ?? START;
  later(1000);
  await append(changed.kept.id, [say("lost")]);
  later(1000);
  return { ...changed, second, owner: await userHash(user) };
}

it("loses no later write where a call of a former one comes between its restart and its first step", async () => {
  const { user, at, second, owner, kept } = await stoppedBefore();
  control.d1NextWrites = ["ok", "before"];
  expect((await restore(user, { at, dryRun: false })).status).toBe(503);
  control.d1NextWrites = [];
  const former = await markOf(user);
  later(1000);
  const object = () => env.USER_MEMORY.getByName(owner) as unknown as UserMemoryRpc;
  let isLate = false;
  const restart = async (token: string) => {
    await object()
      .restart(token)
      .catch(() => undefined);
    if (!isLate) await object().beginRestore(former);
    isLate = true;
  };
  const userMemory = () =>
    new Proxy(object(), {
      get: (one, name) => (name === "restart" ? restart : Reflect.get(one, name, one)),
    });
  const ports = { ...faultyPorts(env), userMemory };
  expect(await restoreUser(ports, owner, { at: second, dryRun: false })).toMatchObject({
    value: { status: "done" },
  });
  expect(isLate).toBe(true);
  await append(kept.id, [say("after done")]);
  await (await objectOf(user)).restart().catch(() => undefined);
  expect(await said(kept.id)).toEqual(["one", "two", "after done"]);
});

it("keeps the note of the later of two that begin at once, whichever comes last", async () => {
  const { user, at, second, owner } = await stoppedBefore();
  const userMemory = () => env.USER_MEMORY.getByName(owner) as unknown as UserMemoryRpc;
  const ports = { ...faultyPorts(env), userMemory };
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: open, resolve: release } = Promise.withResolvers<void>();
  const start: typeof ports.jobs.start = async (job, options) => {
    reach();
    await open;
    return ports.jobs.start(job, options);
  };
  const first = restoreUser({ ...ports, jobs: { ...ports.jobs, start } }, owner, { at, dryRun: false });
  await reached;
  later(5);
  control.d1NextWrites = ["ok", "before"];
  await restoreUser(ports, owner, { at: second, dryRun: false });
  control.d1NextWrites = [];
  release();
  await first;
  expect((await markOf(user)).at).toBe(second);
});

it("still waits for its earlier state where a second call cannot begin it", async () => {
  const { user } = await stopped();
  const [mark, object] = [await markOf(user), await objectOf(user)];
  await object.beginRestore(mark);
  control.bookmarkRefused = true;
  // Within the object: workerd also reports an error that leaves one.
  await runInDurableObject(object, (one: UserMemory) =>
    expect(one.beginRestore(mark)).rejects.toThrow("the bookmark is refused"),
  );
  const refused = { ok: false, code: "storage_unavailable" };
  expect(await object.eraseUser({ hash: await userHash(user), id: user })).toMatchObject(refused);
});

it("loses no later write where the cron goes on with it meanwhile", async () => {
  const users = [await stopped(), await stopped()];
  const running = cron();
  for (const { user, at, kept } of users.toReversed()) {
    expect((await restore(user, { at, dryRun: false })).body.status).toBe("done");
    await append(kept.id, [say("after done")]);
  }
  await running;
  for (const { kept } of users) expect(await said(kept.id)).toEqual(["one", "after done"]);
});

it("keeps the rules of retention of now", async () => {
  const { user, at } = await changedUser();
  const putRules = (path: string, json: object) => call(path, { method: "PUT", json });
  await putRules(`/v1/users/${user}/retention`, { messages: "300d" });
  await putRules("/v1/retention", { memories: [{ kind: "fact", keep: "200d" }] });
  expect((await restore(user, { at, dryRun: false })).body.status).toBe("done");
  await ring(user);
  const { own, tenant } = (await call(`/v1/users/${user}/retention`)).body;
  await call("/v1/retention", { method: "DELETE" });
  expect([own, tenant]).toEqual([{ messages: "300d" }, { memories: [{ kind: "fact", keep: "200d" }] }]);
});

it("takes the vectors of what is lost out of Vectorize", async () => {
  const index = new VectorizeDouble(256);
  bindVectorize(index);
  onTestFinished(() => bindVectorize(null));
  control.messageIndexing = "vectorize";
  const user = newUser();
  const settle = async () => {
    for (let i = 0; i < 6; i++) {
      later(10 * 60_000);
      await ring(user);
    }
  };
  const kept = await threadOf(user, ["one of bananas"]);
  await remember(user, { text: "stays with cherries" });
  await settle();
  await snapshot(user);
  const at = control.clockAt ?? START;
  const before = index.ids().toSorted();
  expect(before).toHaveLength(2);
  later(HOUR);
  await append(kept.id, [say("two of damsons")]);
  await threadOf(user, ["three of apples", "four of plums"]);
  await remember(user, { text: "new with pears" });
  await settle();
  expect(index.ids()).toHaveLength(6);
  expect((await restore(user, { at, dryRun: false })).body.status).toBe("done");
  await settle();
  await settle();
  expect(index.ids().toSorted()).toEqual(before);
});

it("goes on by the cron though five others cannot", async () => {
  const stuck = await Promise.all(Array.from({ length: 5 }, () => userHash(newUser())));
  for (const hash of stuck)
    // No restore: the object rejects.
    await env.DB.prepare(
      "INSERT INTO jobs (name, detail, position, done, started_at) VALUES (?, '{}', '', 0, 0)",
    )
      .bind(`restore ${hash}`)
      .run();
  const { kept } = await stopped();
  for (let i = 0; i < 2; i++) await cron();
  await env.DB.prepare("DELETE FROM jobs WHERE detail = '{}'").run();
  expect(await said(kept.id)).toEqual(["one"]);
});

it("is deleted from the jobs by the cron, a day after it ended", async () => {
  const { user, at } = await changedUser();
  await restore(user, { at, dryRun: false });
  later(DAY);
  await cron();
  expect(await jobOf(user)).toMatchObject({ finished_at: expect.any(Number) });
  later(1);
  await cron();
  expect(await jobOf(user)).toBeNull();
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
