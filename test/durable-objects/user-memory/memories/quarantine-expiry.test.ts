// What waits in quarantine for too long: it expires by itself, is listed for a day, and is then deleted.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import {
  forgetWhere,
  get,
  list,
  listTexts,
  patch,
  recallTexts,
  release,
  remember,
  remembered,
  rememberMany,
} from "../../../memory-calls.ts";
import { exportOf, importTo } from "../../../transfer-calls.ts";

// No alarm of this time rings by itself.
const T = 4_100_000_000_000;
const DAY = 86_400_000;
beforeEach(() => {
  control.clockAt = T;
});
afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const ring = async (user: string) => runDurableObjectAlarm(await objectOf(user));
const alarmOf = async (user: string) =>
  runInDurableObject(await objectOf(user), (_, { storage }) => storage.getAlarm());
const waiting = (text: string, more: object = {}) => ({ text, status: "quarantined", ...more });
const summary = async (user: string) => (await call(`/v1/users/${user}/summary`)).body.quarantine;
const at = (ms: number) => void (control.clockAt = T + ms);

it("expires after 30 days, is listed for a day as expired, and is then deleted with its history", async () => {
  const user = newUser();
  const { id, updatedAt } = await remembered(user, waiting("Alice may like tea"));
  await remembered(user, { text: "Alice likes cake" });
  expect(await summary(user)).toEqual({ waiting: 1, expired: 0, nextExpiry: T + 30 * DAY });
  await ring(user);
  at(30 * DAY);
  await ring(user);
  expect((await get(user, id)).body.status).toBe("quarantined");
  expect(await alarmOf(user)).not.toBeNull();
  at(30 * DAY + 1);
  await ring(user);
  expect((await get(user, id)).body).toMatchObject({ status: "expired", updatedAt });
  expect(await listTexts(user, "status=expired")).toEqual(["Alice may like tea"]);
  expect(await listTexts(user, "status=quarantined")).toEqual([]);
  expect(await listTexts(user)).toEqual(["Alice likes cake"]);
  expect(await recallTexts(user, { query: "tea" })).not.toContain("Alice may like tea");
  expect(await summary(user)).toEqual({ waiting: 0, expired: 1 });
  at(31 * DAY + 1);
  await ring(user);
  expect((await get(user, id)).status).toBe(200);
  at(31 * DAY + 2);
  await ring(user);
  expect((await get(user, id)).status).toBe(404);
  expect((await call(`/v1/users/${user}/memories/${id}/history`)).status).toBe(404);
  expect(await summary(user)).toEqual({ waiting: 0, expired: 0 });
  expect(await listTexts(user)).toEqual(["Alice likes cake"]);
});

it("is told by the changes when it expires, and when it is deleted", async () => {
  const user = newUser();
  const { id } = await remembered(user, waiting("Alice may like tea"));
  let after = (await call(`/v1/users/${user}/changes`)).body.version;
  const changes = async () => {
    const { items, version } = (await call(`/v1/users/${user}/changes?after=${after}`)).body;
    after = version;
    return items;
  };
  at(31 * DAY);
  await ring(user);
  expect(await changes()).toMatchObject([{ type: "memory", id, status: "expired" }]);
  at(33 * DAY);
  await ring(user);
  expect(await changes()).toMatchObject([{ type: "memoriesForgotten", ids: [id] }]);
});

it("is in the audit log, once for each write, with their number", async () => {
  const user = newUser();
  const hash = await userHash(user);
  await rememberMany(
    user,
    Array.from({ length: 203 }, (_, i) => waiting(`fact ${i}`)),
  );
  at(31 * DAY);
  while ((await summary(user)).waiting > 0) await ring(user);
  const { items } = (await call(`/v1/audit?action=quarantine.expired&user=${user}`)).body;
  // Both are of one time.
  const byCount = (a: { count: number }, b: { count: number }) => a.count - b.count;
  expect(items.toSorted(byCount)).toMatchObject([
    { action: "quarantine.expired", outcome: "ok", userHash: hash, count: 3 },
    { action: "quarantine.expired", outcome: "ok", userHash: hash, count: 200 },
  ]);
  for (const field of ["actor", "tokenId", "requestId"]) expect(items[0]).not.toHaveProperty(field);
  expect((await summary(user)).expired).toBe(203);
});

it("expires though the audit log is away", async () => {
  const user = newUser();
  await remembered(user, waiting("Alice may like tea"));
  control.auditLog = "fail";
  at(31 * DAY);
  await ring(user);
  expect(await summary(user)).toEqual({ waiting: 0, expired: 1 });
});

it("waits from its last change on: a correction, or another finding, puts it off", async () => {
  const user = newUser();
  const { id: corrected } = await remembered(user, waiting("Alice may like tee"));
  const { id: found } = await remembered(user, waiting("Alice may like cake"));
  const { id: repeated } = await remembered(user, waiting("Alice may like rice"));
  at(20 * DAY);
  await patch(user, corrected, { text: "Alice may like tea" });
  await remembered(user, waiting("Alice may like cake", { tags: ["again"] }));
  // A repeat that changes nothing puts nothing off.
  await remembered(user, waiting("Alice may like rice"));
  at(31 * DAY);
  await ring(user);
  for (const id of [corrected, found]) expect((await get(user, id)).body.status).toBe("quarantined");
  expect((await get(user, repeated)).body.status).toBe("expired");
});

it("can be released for a day after it expired, and waits again if it is found again", async () => {
  const user = newUser();
  const tea = await remembered(user, waiting("Alice may like tea"));
  const porto = { subject: "Alice", predicate: "lives in", object: "Porto", status: "quarantined" };
  const lives = await remembered(user, porto);
  const cake = await remembered(user, waiting("Alice may like cake"));
  at(31 * DAY);
  await ring(user);
  expect((await release(user, tea.id)).body).toMatchObject({ id: tea.id, status: "active" });
  expect((await release(user, lives.id)).body).toMatchObject({ status: "active", object: "Porto" });
  expect(await remembered(user, waiting("Alice may like cake"))).toMatchObject({
    id: cake.id,
    status: "quarantined",
  });
  at(33 * DAY);
  await ring(user);
  expect(await listTexts(user)).toEqual(["Alice lives in Porto", "Alice may like tea"]);
  expect(await listTexts(user, "status=quarantined")).toEqual(["Alice may like cake"]);
});

it("is no status that a caller sets, and one that a filter takes", async () => {
  const user = newUser();
  const { status, body } = await remember(user, { text: "x", status: "expired" });
  expect([status, body.error.details[0].path]).toEqual([400, "body.status"]);
  await remembered(user, waiting("Alice may like tea"));
  at(31 * DAY);
  await ring(user);
  expect((await forgetWhere(user, { status: ["expired"] })).body.count).toBe(1);
  expect(await list(user, "status=expired")).toEqual([]);
});

it("comes back as expired by an import, and is deleted after its day", async () => {
  const user = newUser();
  await remembered(user, waiting("Alice may like tea"));
  at(31 * DAY);
  await ring(user);
  const text = await exportOf(user);
  const other = newUser();
  await importTo(other, text);
  expect(await listTexts(other, "status=expired")).toEqual(["Alice may like tea"]);
  at(33 * DAY);
  await ring(other);
  expect(await list(other, "status=expired")).toEqual([]);
});

it("expires once D1 answers again", async () => {
  const user = newUser();
  const { id } = await remembered(user, waiting("Alice may like tea"));
  at(31 * DAY);
  control.d1Writes = "before";
  await ring(user);
  expect((await get(user, id)).body.status).toBe("quarantined");
  control.d1Writes = "ok";
  at(32 * DAY);
  await ring(user);
  expect((await get(user, id)).body.status).toBe("expired");
});

it.each(["full", "refused"] as const)(
  "is tried again later if D1 is %s, and not at once",
  async (outcome) => {
    const user = newUser();
    const { id } = await remembered(user, waiting("Alice may like tea"));
    at(31 * DAY);
    control.d1Writes = outcome;
    await ring(user);
    expect(await alarmOf(user)).toBeGreaterThan(T + 31 * DAY);
    expect((await get(user, id)).body.status).toBe("quarantined");
    control.d1Writes = "ok";
    at(32 * DAY);
    await ring(user);
    expect((await get(user, id)).body.status).toBe("expired");
  },
);

it.each(["0", "3651", "a month"])("says at /health that QUARANTINE_DAYS cannot be %s", async (days) => {
  const [{ createApp }, { realPorts }] = await Promise.all([
    import("../../../../src/worker/app.ts"),
    import("../../../doubles/ports.ts"),
  ]);
  const answer = await createApp(realPorts).request("/health", {}, { ...env, QUARANTINE_DAYS: days });
  expect(await answer.json()).toMatchObject({ problems: [expect.stringContaining("QUARANTINE_DAYS")] });
  expect(realPorts({ ...env, QUARANTINE_DAYS: days }).quarantineMs).toBe(30 * DAY);
  expect(realPorts({ ...env, QUARANTINE_DAYS: "7" }).quarantineMs).toBe(7 * DAY);
});
