import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import worker from "../../worker.ts";
import { D1AuditLog } from "../../../src/platform/d1/audit-log.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { type Answer, call, newUser, token } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { forget, forgetWhere, remember } from "../../memory-calls.ts";
import { pathOf } from "../../operations.ts";
import { declaredOperations, isOneUsers } from "../../declared.ts";
import { append, create, say } from "../../thread-calls.ts";
import { realPorts } from "../../doubles/ports.ts";

afterEach(restore);

type Event = {
  id: string;
  at: number;
  action: string;
  outcome: string;
  actor?: string;
  count: number;
} & Record<string, unknown>;

const listed = (query: string): Promise<Answer> => call(`/v1/audit?${query}`);
const eventsOf = async (query: string): Promise<Event[]> => (await listed(query)).body.items;
/** Events are written behind the answer, and on a busy machine a while behind. */
async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    await scheduler.wait(1);
  }
}
const eventually = (query: string, count: number): Promise<Event[]> =>
  until(async () => {
    const events = await eventsOf(query);
    return events.length >= count ? events : undefined;
  });

const all = (await declaredOperations()).filter(({ scope }) => scope !== undefined);
const noted = all.filter(
  ({ method, path, scope }) =>
    scope === "admin" ||
    (method === "DELETE" && !path.startsWith("/v1/cache")) ||
    /\/(forget|erasures|export|import)$/.test(path),
);

it.each(noted)("$method $path leaves an event, however it ends", async (operation) => {
  const { method, hasBody } = operation;
  const user = newUser();
  const { id: threadId } = await create(user);
  const requestId = `audit-${crypto.randomUUID()}`;
  const path = pathOf(operation, { user, threadId });
  const answer = await call(path, {
    method,
    headers: { "X-Request-Id": requestId },
    ...(hasBody ? { json: {} } : {}),
  });
  const found = await until(async () => {
    const query = `action=${encodeURIComponent(`${method} ${operation.path}`)}`;
    return (await eventsOf(query)).find((one) => one["requestId"] === requestId);
  });
  expect(found).toMatchObject({ actor: "*", tokenId: expect.any(String), count: 1 });
  expect(found.outcome).toBe(answer.body?.error?.code ?? "ok");
  expect(found["userHash"]).toBe(isOneUsers(operation) ? await userHash(user) : undefined);
});

it("tells who deleted what of whose, with what outcome, and nothing of what it was", async () => {
  const user = newUser();
  const bearer = await token(user);
  const { id } = (await remember(user, { text: "a secret of the user" })).body;
  await call(`/v1/users/${user}/kv/secret-key`, { method: "DELETE", token: bearer });
  await forget(user, id);
  await forgetWhere(user, { tag: "secret-tag" });
  const { id: threadId } = await create(user);
  await append(threadId, [say("secret words")]);
  await call(`/v1/threads/${threadId}/messages/1`, { method: "DELETE", token: bearer });
  await call(`/v1/threads/${threadId}/messages/1`, { method: "DELETE", token: bearer });
  await eventually(`user=${user}`, 5);
  const answer = await listed(`user=${user}`);
  const own = await userHash(user);
  const said: string[] = answer.body.items.map(
    (one: Event) => `${one.action}: ${one.outcome} by ${one.actor}`,
  );
  expect(said.toSorted()).toEqual([
    `DELETE /v1/threads/{id}/messages/{seq}: not_found by ${own}`,
    `DELETE /v1/threads/{id}/messages/{seq}: ok by ${own}`,
    `DELETE /v1/users/{user}/kv/{key}: ok by ${own}`,
    "DELETE /v1/users/{user}/memories/{id}: ok by *",
    "POST /v1/users/{user}/memories/forget: invalid_request by *",
  ]);
  expect(answer.text).not.toMatch(new RegExp(`secret|${user}`));
});

it("notes a batch of entries that deletes, and none that does not", async () => {
  const user = newUser();
  const batch = (operation: object) =>
    call(`/v1/users/${user}/kv/batch`, { json: { operations: [operation] } });
  await batch({ op: "set", key: "k", value: 1 });
  await batch({ op: "delete", key: "k" });
  const events = await eventually(`user=${user}`, 1);
  expect(events.map(({ action }) => action)).toEqual(["POST /v1/users/{user}/kv/batch"]);
});

it("leaves nothing of reads and writes, which are many, nor of the registry", async () => {
  const user = newUser();
  const bearer = await token(user);
  await call(`/v1/users/${user}/kv/k`, { method: "PUT", json: 1, token: bearer });
  await call(`/v1/users/${user}/kv/k`, { token: bearer });
  await call("/v1/cache/k", { method: "DELETE", token: bearer });
  await call(`/v1/users/${user}/kv/k`, { method: "DELETE", token: bearer });
  expect(await eventually(`user=${user}`, 1)).toHaveLength(1);
});

it("notes an export when it begins, and again, with the reason, where an erasure breaks it off", async () => {
  const user = newUser();
  await remember(user, { text: "x" });
  let reads = 0;
  control.duringD1Read = async () => {
    // The second read is the one of the memories' lines.
    if (++reads === 2) await call(`/v1/users/${user}`, { method: "DELETE" });
  };
  await expect(call(`/v1/users/${user}/export`)).rejects.toThrow("erased_meanwhile");
  restore();
  const action = encodeURIComponent("GET /v1/users/{user}/export");
  const events = await eventually(`user=${user}&action=${action}`, 2);
  expect(events.map(({ outcome }) => outcome).toSorted()).toEqual(["erased_meanwhile", "ok"]);
  expect(new Set(events.map((event) => event["requestId"])).size).toBe(1);
});

it("refuses a filter by what is never noted, as a mistyped one, and takes all that is", async () => {
  for (const action of [
    "DELETE /v1/users/:user",
    "DELETE /v1/thread/{id}",
    "GET /v1/users/{user}/kv",
    "erase",
  ]) {
    const { status, body } = await listed(`action=${encodeURIComponent(action)}`);
    expect([status, body.error.details[0].path]).toEqual([400, "query.action"]);
  }
  for (const action of ["access.refused", "POST /v1/users/{user}/kv/batch", "POST /mcp memory_forget_fact"])
    expect((await listed(`action=${encodeURIComponent(action)}`)).status).toBe(200);
});

describe("refused tokens", () => {
  it("are one row a minute, whose count follows a flood within a half, in few writes", async () => {
    control.clockAt = clock() + 3_600_000;
    let writes = 0;
    control.duringAuditWrite = (action) => {
      if (action === "token.refused") writes++;
    };
    for (let i = 0; i < 100; i++) await call("/v1/users/alice/kv", { token: `nonsense-${i}` });
    const query = `action=token.refused&from=${control.clockAt}&to=${control.clockAt + 1}`;
    await expect.poll(async () => (await eventsOf(query))[0]?.count).toBe(64);
    const events = await eventsOf(query);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ outcome: "invalid_token", requestId: expect.any(String) });
    expect(writes).toBe(7);
  });

  it("are told apart by their reasons, and counted anew in the next minute", async () => {
    const start = clock() + 7_200_000;
    control.clockAt = start;
    await call("/v1/users/alice/kv", { token: null });
    await call("/v1/users/alice/kv", { token: "nonsense" });
    control.clockAt = start + 60_000;
    await call("/v1/users/alice/kv", { token: null });
    const events = await eventually(`action=token.refused&from=${start}`, 3);
    const told = events.map(({ outcome, count, at }) => `${outcome}: ${count} at ${at - start}`);
    expect(told.toSorted()).toEqual([
      "invalid_token: 1 at 0",
      "unauthenticated: 1 at 0",
      "unauthenticated: 1 at 60000",
    ]);
  });
});

it("lists page by page, newest first, and by time", async () => {
  const user = newUser();
  const start = clock() + 1000;
  for (let i = 0; i < 5; i++) {
    control.clockAt = start + i;
    await call(`/v1/users/${user}/kv/k`, { method: "DELETE" });
    await eventually(`user=${user}`, i + 1);
  }
  const times = (events: Event[]) => events.map(({ at }) => at - start);
  const first = (await listed(`user=${user}&limit=2`)).body;
  expect(times(first.items)).toEqual([4, 3]);
  const second = (await listed(`user=${user}&limit=2&cursor=${first.cursor}`)).body;
  expect(times(second.items)).toEqual([2, 1]);
  const third = (await listed(`user=${user}&limit=2&cursor=${second.cursor}`)).body;
  expect(times(third.items)).toEqual([0]);
  expect(third.cursor).toBeUndefined();
  expect(times(await eventsOf(`user=${user}&from=${start + 1}&to=${start + 3}`))).toEqual([2, 1]);
  expect((await listed("cursor=nonsense")).body.error.code).toBe("invalid_cursor");
  expect((await listed("from=yesterday")).body.error.details[0].path).toBe("query.from");
});

it("tells which token was revoked", async () => {
  const tokenId = crypto.randomUUID();
  const requestId = crypto.randomUUID();
  await call(`/v1/revocations/tokens/${tokenId}`, { method: "PUT", headers: { "X-Request-Id": requestId } });
  const event = await until(async () =>
    (await eventsOf(`action=${encodeURIComponent("PUT /v1/revocations/tokens/{tokenId}")}&limit=1000`)).find(
      (one) => one["requestId"] === requestId,
    ),
  );
  expect(event["about"]).toBe(tokenId);
});

it("is only for a token of all users with the scope admin", async () => {
  expect((await call("/v1/audit", { token: await token(newUser()) })).status).toBe(403);
  expect((await call("/v1/audit", { token: await token("*", ["read", "write"]) })).status).toBe(403);
});

describe("while D1 takes no events", () => {
  it("deletes all the same, and logs the event whole", async () => {
    const user = newUser();
    await call(`/v1/users/${user}/kv/k`, { method: "PUT", json: 1 });
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    control.auditLog = "fail";
    expect((await call(`/v1/users/${user}/kv/k`, { method: "DELETE" })).status).toBe(204);
    expect((await call(`/v1/users/${user}/kv/k`)).status).toBe(404);
    await expect
      .poll(() => logged)
      .toHaveBeenCalledWith(
        expect.objectContaining({
          message: "an audit event could not be stored",
          event: expect.objectContaining({ action: "DELETE /v1/users/{user}/kv/{key}", outcome: "ok" }),
        }),
      );
    logged.mockRestore();
  });

  it("writes the event when it answers again, within a second", async () => {
    const user = newUser();
    control.auditLog = "fail";
    await call(`/v1/users/${user}/kv/k`, { method: "DELETE" });
    control.auditLog = "ok";
    expect(await eventually(`user=${user}`, 1)).toHaveLength(1);
  });

  it("says so to who reads the log", async () => {
    control.auditLog = "fail";
    expect((await listed("")).body.error.code).toBe("storage_unavailable");
  });
});

describe("the cron", () => {
  async function runCron(settings: object = {}): Promise<void> {
    const ctx = createExecutionContext();
    await worker.scheduled({} as ScheduledController, { ...env, ...settings });
    await waitOnExecutionContext(ctx);
  }

  it("drops events after 90 days, or as many as AUDIT_DAYS says, and revocations that are over", async () => {
    const user = newUser();
    await call(`/v1/users/${user}/kv/k`, { method: "DELETE" });
    await eventually(`user=${user}`, 1);
    await call("/v1/revocations/tokens/over", { method: "PUT", json: { expiresAt: clock() - 31_000 } });
    await runCron();
    const over = env.DB.prepare("SELECT * FROM revoked_tokens WHERE token_id = 'over'");
    expect((await over.all()).results).toEqual([]);
    expect(await eventsOf(`user=${user}`)).toHaveLength(1);
    const at = async (days: number, settings?: object) => {
      control.clockAt = clock() + days * 86_400_000;
      await runCron(settings);
      restore();
      return (await eventsOf(`user=${user}`)).length;
    };
    expect(await at(89)).toBe(1);
    expect(await at(91, { AUDIT_DAYS: "365" })).toBe(1);
    expect(await at(91)).toBe(0);
  });
});

it.each(["0", "3651", "a month", "1.5"])("says at /health that AUDIT_DAYS cannot be %s", async (days) => {
  const { createApp } = await import("../../../src/worker/app.ts");
  const answer = await createApp(realPorts).request("/health", {}, { ...env, AUDIT_DAYS: days });
  expect(await answer.json()).toMatchObject({ problems: [expect.stringContaining("AUDIT_DAYS")] });
});

it("keeps the greater of two counts of an event that arrive in the wrong order", async () => {
  const log = new D1AuditLog(env.DB);
  const [id, at] = [crypto.randomUUID(), clock()];
  const nobody = { actor: null, tokenId: null, userHash: null, about: null };
  const event = { ...nobody, id, at, action: "token.refused", outcome: "out_of_order" };
  await log.add({ ...event, requestId: "the fourth", count: 4 });
  await log.add({ ...event, requestId: "the second", count: 2 });
  const found = (await eventsOf("action=token.refused")).filter((one) => one.id === id);
  expect(found).toMatchObject([{ count: 4, requestId: "the fourth" }]);
});
