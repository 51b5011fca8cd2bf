import { createScheduledController, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Webhook as Verifier } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import type { Change, ChangesDelivery } from "../../../src/domain/schema/changes.ts";
import type { WebhookAttempt, WebhookMessage } from "../../../src/platform/webhooks/webhook.ts";
import { StandardWebhook } from "../../../src/platform/webhooks/webhook.ts";
import { D1WebhookBreaker } from "../../../src/platform/d1/webhook-breaker.ts";
import { wakeWebhook } from "../../../src/worker/use-cases/webhook.ts";
import { webhookFromBindings, webhookProblem } from "../../../src/platform/webhooks/webhook-from-bindings.ts";
import { call, newUser, tokenWith } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { unbind } from "../../doubles/ports.ts";
import { evict } from "../../evict.ts";
import { ring } from "../../durable-objects/user-memory/ingest/calls.ts";
import { forget, remembered } from "../../memory-calls.ts";
import worker from "../../worker.ts";
import { append, create, say } from "../../thread-calls.ts";

afterEach(restore);

const HOUR = 60 * 60_000;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;

describe("a message", () => {
  const NOW = 1_614_265_330_000;
  const sent = async (answer: Response | Error, secrets = [SECRET]) => {
    const requests: { url: string; init: RequestInit }[] = [];
    const webhook = new StandardWebhook({
      url: new URL("https://hooks.test/cairn"),
      secrets,
      fetch: async (url, init) => {
        requests.push({ url, init });
        if (answer instanceof Error) throw answer;
        return answer;
      },
      now: () => NOW,
    });
    const attempt = await webhook.send({ id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: '{"test": 2432232314}' });
    return { attempt, headers: new Headers(requests[0]?.init.headers), requests };
  };

  it("has the signature of the specification's example", async () => {
    const { attempt, headers, requests } = await sent(new Response(null, { status: 204 }));
    expect(attempt).toEqual({ ok: true });
    expect(headers.get("webhook-signature")).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    expect([headers.get("webhook-id"), headers.get("webhook-timestamp")]).toEqual([
      "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "1614265330",
    ]);
    expect(requests[0]?.init.redirect).toBe("manual");
  });

  it("is signed with both secrets while one takes the place of the other", async () => {
    const { headers } = await sent(new Response(), [OTHER, SECRET]);
    const signatures = headers.get("webhook-signature")?.split(" ") ?? [];
    expect(signatures).toHaveLength(2);
    expect(signatures[1]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  it.each<[string, Response | Error, WebhookAttempt]>([
    ["an error", new Response("secret", { status: 500 }), { ok: false, problem: "answered 500" }],
    [
      "a redirect",
      new Response(null, { status: 302, headers: { Location: "http://10.0.0.1/" } }),
      { ok: false, problem: "answered 302" },
    ],
    [
      "an overload",
      new Response(null, { status: 429, headers: { "Retry-After": "90" } }),
      { ok: false, problem: "answered 429", retryAfterMs: 90_000 },
    ],
    ["a broken connection", new TypeError("boom"), { ok: false, problem: "cannot be reached" }],
    [
      "no answer",
      new DOMException("late", "TimeoutError"),
      { ok: false, problem: "did not answer in 15 seconds" },
    ],
  ])("fails by %s", async (_, answer, attempt) => {
    expect((await sent(answer)).attempt).toEqual(attempt);
  });
});

describe("the settings", () => {
  const WEBHOOK_SECRET = SECRET;

  it.each([
    ["https://hooks.example.com/cairn"],
    ["https://8.8.8.8/x"],
    ["https://[2606:4700::1111]/"],
    ["http://127.0.0.1:9000/"],
    ["http://localhost:9000/"],
  ])("take %s", (url) => {
    const given = { WEBHOOK_URL: url, WEBHOOK_SECRET };
    expect(webhookProblem(given)).toBeNull();
    expect(webhookFromBindings(given)).not.toBeNull();
  });

  it.each([
    ["https://10.1.2.3/"],
    ["https://192.168.0.1/"],
    ["https://172.16.0.1/"],
    ["https://169.254.169.254/latest/meta-data"],
    ["https://100.64.0.1/"],
    ["https://0.0.0.0/"],
    ["https://2130706434/"],
    ["https://0x0a.1.2.3/"],
    ["https://[fd00::1]/"],
    ["https://[fe80::1]/"],
    ["https://[::]/"],
    ["https://[::ffff:10.0.0.1]/"],
    ["https://[::ffff:a9fe:a9fe]/"],
    ["https://[::10.0.0.1]/"],
    ["https://[::169.254.169.254]/"],
    ["https://[::ffff:0:10.0.0.1]/"],
    ["https://[64:ff9b::10.0.0.1]/"],
    ["https://[64:ff9b:1::10.0.0.1]/"],
    ["https://[2002:a00:1::]/"],
    ["https://[2001:0:a00:1::]/"],
    ["https://[2606:4700::5efe:10.0.0.1]/"],
    ["https://[2606:4700::200:5efe:10.0.0.1]/"],
    ["https://[fec0::1]/"],
    ["https://[5f00::1]/"],
    ["https://[::ffff:8.8.8.8]/"],
    ["https://intranet/"],
    ["https://db.internal/"],
    ["https://printer.local./"],
  ])("refuse the private address %s", (url) => {
    const given = { WEBHOOK_URL: url, WEBHOOK_SECRET };
    expect(webhookProblem(given)).toBe("WEBHOOK_URL is a private address: Cairn sends to public ones only");
    expect(webhookFromBindings(given)).toBeNull();
  });

  it.each([
    [{ WEBHOOK_URL: "hooks" }, "WEBHOOK_URL is not a URL"],
    [{ WEBHOOK_URL: "http://hooks.test" }, "WEBHOOK_URL is not https (http is for localhost only)"],
    [{ WEBHOOK_URL: "https://a:b@hooks.test" }, "WEBHOOK_URL holds a name or a password"],
    [{ WEBHOOK_URL: "https://hooks.test" }, "WEBHOOK_URL is set, and WEBHOOK_SECRET is not"],
    [
      { WEBHOOK_URL: "https://hooks.test", WEBHOOK_SECRET: "whsec_abc" },
      "WEBHOOK_SECRET is not 'whsec_' and 24 to 64 bytes in base64",
    ],
    [
      { WEBHOOK_URL: "https://hooks.test", WEBHOOK_SECRET, WEBHOOK_SECRET_PREVIOUS: "x" },
      "WEBHOOK_SECRET_PREVIOUS is not 'whsec_' and 24 to 64 bytes in base64",
    ],
  ])("report %j", (given, problem) => {
    expect(webhookProblem(given)).toBe(problem);
    expect(webhookFromBindings(given)).toBeNull();
  });

  it("send nothing unless an address is set", () => {
    expect([webhookProblem({}), webhookFromBindings({ WEBHOOK_SECRET })]).toEqual([null, null]);
  });
});

describe("the deliveries of a user", () => {
  /** All messages that arrived, and what the receiver answers to the next ones. */
  let received: { id: string; delivery: ChangesDelivery }[];
  let answers: WebhookAttempt[];
  const FAILED: WebhookAttempt = { ok: false, problem: "answered 503" };

  beforeEach(async () => {
    await env.DB.batch(
      ["webhook_breaker", "webhook_waiting"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
    );
    received = [];
    answers = [];
    control.webhook = {
      send: async ({ id, body }: WebhookMessage) => {
        received.push({ id, delivery: JSON.parse(body) });
        return answers.shift() ?? { ok: true };
      },
    };
  });

  const later = async (user: string, ms = 2_000): Promise<void> => {
    control.clockAhead += ms;
    await ring(user);
  };
  const short = (change: Change): string =>
    change.type === "memory"
      ? `memory ${change.id}`
      : change.type === "thread"
        ? `thread ${change.id} ${change.length}`
        : `${change.type} ${"ids" in change ? (change.ids ?? ["all"]).join(" ") : change.id}`;
  const last = () => received.at(-1)?.delivery.data;

  it("tell each change once, by ids, and the user's id", async () => {
    const user = newUser();
    const tea = await remembered(user, { text: "I like tea" });
    await later(user);
    expect(received).toHaveLength(1);
    expect(received[0]?.delivery.type).toBe("user.changed");
    expect(last()).toMatchObject({ userHash: await userHash(user), user, changes: { reset: true } });
    expect(last()?.changes.items.map(short)).toEqual([`memory ${tea.id}`]);
    expect(JSON.stringify(received)).not.toContain('tea"');
    const { id } = await create(user);
    await append(id, [say("hi"), say("there")]);
    await later(user);
    expect(received).toHaveLength(2);
    expect(last()?.changes).toMatchObject({ more: false });
    expect(last()?.changes.reset).toBeUndefined();
    expect(last()?.changes.items.map(short)).toEqual([`thread ${id} 2`]);
    await later(user);
    await forget(user, tea.id);
    await later(user);
    expect(received).toHaveLength(3);
    expect(last()?.changes.items.map(short)).toEqual([`memoriesForgotten ${tea.id}`]);
    expect(new Set(received.map((one) => one.id)).size).toBe(3);
  });

  it("take one alarm each", async () => {
    const user = newUser();
    await remembered(user, { text: "I like tea" });
    await later(user);
    expect(received).toHaveLength(1);
    const object = env.USER_MEMORY.getByName(await userHash(user));
    const alarm = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
    expect(alarm === null || alarm > clock() + 60_000).toBe(true);
  });

  it("repeat a failed message with the same id, later each time, before the next one", async () => {
    const user = newUser();
    const tea = await remembered(user, { text: "I like tea" });
    answers = [FAILED, FAILED, { ...FAILED, retryAfterMs: 600_000 }];
    await later(user);
    await later(user, 1);
    expect(received).toHaveLength(1);
    await later(user, 5_000);
    await later(user, 11_000);
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    await later(user, 300_000);
    expect(received).toHaveLength(3);
    const coffee = await remembered(user, { text: "I like coffee" });
    await later(user, 2_000);
    expect(received).toHaveLength(3);
    await later(user, 300_000);
    await later(user, 1_000);
    const told = received.flatMap(({ delivery }) => delivery.data.changes.items.map(short));
    expect(told.at(-1)).toBe(`memory ${coffee.id}`);
    expect(told).toContain(`memory ${tea.id}`);
  });

  it("repeat a failed message once an hour at least, whatever the receiver asks for", async () => {
    const user = newUser();
    await remembered(user, { text: "I like tea" });
    answers = [...Array.from({ length: 7 }, () => FAILED), { ...FAILED, retryAfterMs: 24 * HOUR }];
    for (let i = 0; i < 8; i++) await later(user, HOUR + 1_000);
    expect(received).toHaveLength(8);
    // Yet no sooner: the receiver asked for a day.
    await later(user, HOUR - 60_000);
    expect(received).toHaveLength(8);
    await later(user, 61_000);
    expect(received).toHaveLength(9);
  });

  it("cost one attempt an hour of all users while the receiver is away, none after seven days, and lose nothing", async () => {
    let isAway = true;
    control.webhook = {
      send: async ({ id, body }: WebhookMessage) => {
        received.push({ id, delivery: JSON.parse(body) });
        return isAway ? FAILED : { ok: true };
      },
    };
    const users = Array.from({ length: 5 }, newUser);
    const memories = await Promise.all(users.map((user) => remembered(user, { text: "I like tea" })));
    const token = await tokenWith({ user: "*", ttlSeconds: 100 * 86_400 });
    const health = async () => (await call("/health")).body;
    const cron = () => worker.scheduled(createScheduledController(), env);
    const began = clock();
    const alarms = { rung: 0 };
    // The Worker is built anew, with this webhook.
    unbind();
    onTestFinished(unbind);
    /** An alarm rings when it is due only, and more memories come meanwhile. */
    const hour = async () => {
      await cron();
      for (const user of users) {
        const object = env.USER_MEMORY.getByName(await userHash(user));
        const due = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
        if (due === null || due > clock()) continue;
        alarms.rung++;
        await ring(user);
      }
      control.clockAhead += HOUR;
    };
    for (let i = 0; i < 24; i++) await hour();
    const first = received.length;
    expect(await health()).toMatchObject({ status: "degraded", failing: [{ part: "webhook" }] });
    expect((await health()).failing[0].since - began).toBeLessThan(2 * HOUR);
    expect((await health()).problems).toEqual([
      "the webhook's receiver fails: one message an hour tries it again",
    ]);
    const more = await call(`/v1/users/${users[0]}/memories`, { token, json: { text: "I like coffee" } });
    const before = alarms.rung;
    for (let i = 24; i < 7 * 24; i++) await hour();
    // One probe an hour, of one alarm, and no alarm of another user but for the write and its embedding.
    expect(first).toBeLessThanOrEqual(10 + 5 + 24);
    expect(received.length - first).toBeGreaterThan(6 * 24 - 3);
    expect(received.length - first).toBeLessThanOrEqual(6 * 24);
    expect(alarms.rung - before).toBeLessThanOrEqual(6 * 24 + 10);
    const paused = received.length;
    for (let i = 0; i < 24; i++) await hour();
    expect(received.length - paused).toBeLessThanOrEqual(1);
    expect((await health()).problems).toEqual([
      expect.stringMatching(/^the webhook's receiver failed for seven days/),
    ]);

    isAway = false;
    received = [];
    const resumed = await call("/v1/webhook/resume", { token, method: "POST", json: {} });
    expect([resumed.status, resumed.body]).toEqual([202, { waiting: 5 }]);
    for (let i = 0; i < 2; i++) await hour();
    const told = received.flatMap(({ delivery }) => delivery.data.changes.items.map(short));
    expect(told.toSorted()).toEqual([...memories, more.body].map(({ id }) => `memory ${id}`).toSorted());
    expect((await health()).status).toBe("ok");
    expect((await env.DB.prepare("SELECT * FROM webhook_waiting").all()).results).toEqual([]);
  });

  describe("of users who wait for the receiver", () => {
    const breaker = new D1WebhookBreaker(env.DB);
    /** Wakes the users by objects that do this. Returns those who were woken. */
    const wake = async (object: (user: string) => Promise<boolean>): Promise<string[]> => {
      const woken: string[] = [];
      const userMemory = (user: string) => ({
        wakeWebhook: () => {
          woken.push(user);
          return object(user);
        },
      });
      await wakeWebhook({
        webhook: { send: async () => FAILED },
        webhookBreaker: breaker,
        // The one method that a wake calls.
        userMemory: userMemory as unknown as Parameters<typeof wakeWebhook>[0]["userMemory"],
        now: clock,
      });
      return woken;
    };
    /** Sends as an alarm does, to a receiver that is away. */
    const sends = async (user: string) => {
      if ((await breaker.ask(user, clock())).send) await breaker.failed(user, clock());
      return true;
    };
    const line = async () => (await breaker.waiting(100)).map(({ userHash: user }) => user);
    const breaks = async () => {
      for (let i = 0; i < 10; i++) await breaker.failed("first", clock());
    };

    it("are each a probe in their turn, and those with nothing to send, or who do not wake, stop no other", async () => {
      await breaks();
      for (const user of ["idle", "lost", "other", "last"]) await breaker.ask(user, clock());
      const probes: string[][] = [];
      for (let i = 0; i < 5; i++) {
        control.clockAhead += HOUR;
        probes.push(
          await wake(async (user) => {
            if (user === "idle") return false;
            if (user === "lost") throw new Error("this object does not wake");
            await sends(user);
            return true;
          }),
        );
      }
      expect(probes).toEqual([["first"], ["idle", "lost", "other"], ["last"], ["first"], ["lost", "other"]]);
      expect(await line()).toEqual(["last", "first", "lost", "other"]);
    });

    it("stay in the line if the receiver fails again after a call that resumes", async () => {
      await breaks();
      const users = Array.from({ length: 50 }, (_, i) => `user ${i}`);
      for (const user of users) await breaker.ask(user, clock());
      expect(await breaker.resume()).toBe(51);
      expect(await wake(sends)).toHaveLength(51);
      expect(await breaker.broken(clock())).toMatchObject({ paused: false });
      // Some failed before ten had: they try again by themselves.
      expect((await line()).length).toBeGreaterThanOrEqual(51 - 9);
    });

    it("keep a place that they took while two runs wake them", async () => {
      await breaks();
      const places = await breaker.waiting(100);
      await breaker.leave(places.map(({ n }) => n));
      await breaker.ask("first", clock());
      await breaker.leave(places.map(({ n }) => n));
      expect(await line()).toEqual(["first"]);
    });

    it("are all woken after a success, though some objects do not wake", async () => {
      await breaks();
      for (let i = 0; i < 40; i++) await breaker.ask(`user ${i}`, clock());
      await breaker.succeeded();
      const wakes = async (user: string) => {
        if (user === "first") throw new Error("this object does not wake");
        return true;
      };
      expect(await wake(wakes)).toHaveLength(41);
      expect(await line()).toEqual(["first"]);
    });

    it("are not woken by a token of one user, nor by one without the scope admin", async () => {
      await breaks();
      const wrong = [
        await tokenWith({ user: newUser(), scope: ["read", "write", "admin"] }),
        await tokenWith({ user: "*", scope: ["read", "write"] }),
      ];
      for (const token of wrong)
        expect((await call("/v1/webhook/resume", { token, method: "POST", json: {} })).status).toBe(403);
      expect(await breaker.broken(clock())).not.toBeNull();
      expect(await line()).toEqual(["first"]);
    });

    it("have no time of a next attempt", async () => {
      const user = newUser();
      await remembered(user, { text: "I like tea" });
      const state = async () => (await call(`/v1/users/${user}/summary`)).body.webhook;
      answers = [FAILED, FAILED];
      await later(user);
      expect(await state()).toEqual({ behind: true, failures: 1, nextAt: expect.any(Number) });
      for (let i = 0; i < 9; i++) await breaker.failed("another", clock());
      await later(user, 6_000);
      expect(await state()).toEqual({ behind: true, failures: 1 });
    });
  });

  it("go by each user's own failures while D1 is away", async () => {
    const user = newUser();
    await remembered(user, { text: "I like tea" });
    await env.DB.exec("ALTER TABLE webhook_breaker RENAME TO webhook_away");
    onTestFinished(
      async () => void (await env.DB.exec("ALTER TABLE webhook_away RENAME TO webhook_breaker")),
    );
    answers = [FAILED];
    await later(user);
    await later(user, 6_000);
    expect(received).toHaveLength(2);
  });

  it("tell a receiver that the user is erased, though the user's id is gone", async () => {
    const user = newUser();
    await remembered(user, { text: "I like tea" });
    await later(user);
    await call(`/v1/users/${user}`, { method: "DELETE" });
    await later(user, 600_000);
    await later(user, 600_000);
    expect(received).toHaveLength(2);
    expect(last()).toMatchObject({
      userHash: await userHash(user),
      user: null,
      changes: { items: [], reset: true },
    });
  });

  it("go on after the object was evicted, and say nothing of a user who has nothing", async () => {
    const user = newUser();
    await call(`/v1/users/${user}/recall`, { json: { query: "x" } });
    await later(user);
    expect(received).toHaveLength(0);
    await remembered(user, { text: "I like tea" });
    await evict(user);
    await later(user);
    expect(received).toHaveLength(1);
  });

  it("wait for a write that D1 has not confirmed", async () => {
    const user = newUser();
    await remembered(user, { text: "first" });
    await later(user);
    control.d1Writes = "before";
    await call(`/v1/users/${user}/memories`, { json: { text: "second" } });
    await later(user);
    expect(received).toHaveLength(1);
    control.d1Writes = "ok";
    await later(user, 60_000);
    await later(user, 60_000);
    expect(last()?.changes.items.map(short)).toHaveLength(1);
    expect(received).toHaveLength(2);
  });

  it("come in parts of 200", async () => {
    const user = newUser();
    const memories = Array.from({ length: 450 }, (_, i) => ({ text: `memory ${i}` }));
    await call(`/v1/users/${user}/memories/batch`, { json: { memories } });
    for (let i = 0; i < 4; i++) await later(user);
    expect(received.map(({ delivery: { data } }) => [data.changes.items.length, data.changes.more])).toEqual([
      [200, true],
      [200, true],
      [50, false],
    ]);
    const ids = received.flatMap(({ delivery }) => delivery.data.changes.items.map(short));
    expect(new Set(ids).size).toBe(450);
  });

  it("verify with somebody else's library", async () => {
    let sent: RequestInit | undefined;
    control.webhook = new StandardWebhook({
      url: new URL("https://hooks.test/"),
      secrets: [OTHER, SECRET],
      fetch: async (_url, init) => {
        sent = init;
        return new Response();
      },
      now: clock,
    });
    const user = newUser();
    await remembered(user, { text: "I like tea" });
    await later(user);
    const body = sent?.body as string;
    vi.useFakeTimers({ toFake: ["Date"], now: clock() });
    onTestFinished(() => void vi.useRealTimers());
    const headers = Object.fromEntries(new Headers(sent?.headers));
    for (const secret of [SECRET, OTHER])
      expect(new Verifier(secret).verify(body, headers)).toMatchObject({ data: { user } });
    expect(() => new Verifier(SECRET).verify(`${body} `, headers)).toThrow("No matching signature");
  });
});
