// No call waits for ever: a server that accepts a call and goes silent, or trickles, ends it with `timeout`.
import { describe, expect, it } from "vitest";
import { timeoutError } from "../../src/error.ts";
import { type Cairn, cairn } from "../../src/index.ts";
import { down, faked } from "./faked.ts";

const never = new Promise<never>(() => {});
const encoder = new TextEncoder();
type Faked = ReturnType<typeof faked>;

/** A client of a server that is silent so many times, where it says, and then answers. */
function silent(where: "at once" | "after the headers" | "within the body", times: number, options = {}) {
  const waited: number[] = [];
  let left = times;
  const passes = () => queueMicrotask(() => waited.push(made.expire()));
  const answer = () => {
    if (left-- <= 0) return Response.json({ ok: true });
    if (where === "at once") {
      passes();
      return never;
    }
    let parts = where === "within the body" ? 1 : 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> | void => {
      if (parts-- > 0) return controller.enqueue(encoder.encode(`{"seq":1}\n{"se`));
      passes();
      return never;
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
  };
  const made: Faked = faked([answer], options);
  return { ...made, waited };
}

describe.each(["at once", "after the headers", "within the body"] as const)("a server silent %s", (where) => {
  it("is asked again by a call that may be repeated, which then has its answer", async () => {
    const { client, requests } = silent(where, 1);
    expect(await client.kv.get("u", "k")).toEqual({ ok: true });
    expect(requests).toHaveLength(2);
  });

  it("ends such a call with `timeout` within the time of all attempts", async () => {
    const { client, waited, waits } = silent(where, Infinity);
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({ code: "timeout", status: 0 });
    expect(waited.slice(0, 2)).toEqual([10_000, 10_000]);
    expect([...waited, ...waits].reduce((sum, ms) => sum + ms, 0)).toBe(30_000);
  });

  it("ends a call whose outcome is then unknown with `timeout`, and it is not sent again", async () => {
    const { client, requests } = silent(where, 1);
    await expect(client.kv.set("u", "k", 1, { ifVersion: "v" })).rejects.toMatchObject({ code: "timeout" });
    expect(requests).toHaveLength(1);
  });

  it("gets a write again under the same key", async () => {
    const { client, requests } = silent(where, 1);
    await client.threads.append("t", []);
    const [first, second] = requests.map(({ headers }) => headers.get("Idempotency-Key"));
    expect(second).toBe(first);
  });

  it("ends each call of `within` at its limit", async () => {
    const { client, waited } = silent(where, Infinity, { retry: { attempts: 9, withinMs: 1e6 } });
    await expect(client.within(50).kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    expect(waited).toEqual([50]);
  });

  it("ends a call at the limit of the option", async () => {
    const { client, waited } = silent(where, Infinity, { attemptMs: 70, retry: false });
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    expect(waited).toEqual([70]);
  });

  it("gets its request aborted", async () => {
    const { client, requests } = silent(where, 1, { retry: false });
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  it("ends a stream of lines with `timeout`", async () => {
    const { client, waited } = silent(where, Infinity, { retry: false, longAttemptMs: 60_000 });
    const read = async () => {
      for await (const { seq } of client.threads.stream("t")) expect(seq).toBe(1);
    };
    await expect(read()).rejects.toMatchObject({ code: "timeout" });
    expect(waited).toEqual([60_000]);
  });

  it("ends an export with `timeout`", async () => {
    const { client } = silent(where, Infinity, { retry: false });
    const read = async () => new Response(await client.transfer.export("u")).text();
    await expect(read()).rejects.toMatchObject({ code: "timeout" });
  });
});

describe("the limit of an attempt", () => {
  it.each<[string, number, (client: Cairn) => Promise<unknown>]>([
    ["a read", 10_000, (client) => client.kv.get("u", "k")],
    ["a lease", 10_000, ({ cache }) => cache.lease("k", { leaseMs: 1 })],
    ["a lease with a wait", 40_000, ({ cache }) => cache.lease("k", { leaseMs: 1, waitMs: 30_000 })],
    [
      "a resolve with a wait",
      15_000,
      ({ promptCache }) => promptCache.resolve({ provider: "openai", model: "m", hash: "h", waitMs: 5_000 }),
    ],
    ["an ingest", 10_000, (client) => client.ingest("u", { messages: [] })],
    ["an ingest that waits", 120_000, (client) => client.ingest("u", { messages: [], mode: "wait" })],
    ["an import", 120_000, ({ transfer }) => transfer.import("u", "")],
    ["an export", 120_000, ({ transfer }) => transfer.export("u")],
    ["a body of 2,560 KB", 20_000, ({ kv }) => kv.set("u", "k", "x".repeat(2_560_000 - 2))],
    ["an import of 256 KB", 121_000, ({ transfer }) => transfer.import("u", "x".repeat(256_000))],
  ])("of %s is %d ms", async (_, ms, call) => {
    const { client, waited } = silent("at once", Infinity, { retry: false });
    await expect(call(client)).rejects.toMatchObject({ code: "timeout" });
    expect(waited).toEqual([ms]);
  });

  it("begins anew with each part of an answer, for two minutes in all", async () => {
    const made = faked(
      [
        () => {
          let parts = 0;
          const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
            made.pass(9_000);
            controller.enqueue(encoder.encode(parts++ === 0 ? "[1" : ",1"));
          };
          return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
        },
      ],
      { retry: false },
    );
    await expect(made.client.kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    expect(made.now()).toBeGreaterThanOrEqual(1_000_000 + 120_000);
  });

  /** A body whose next byte always comes after so many milliseconds. */
  const trickling = (made: { pass: (ms: number) => void }, ms: number) =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          made.pass(ms);
          controller.enqueue(encoder.encode("\n"));
        },
      },
      { highWaterMark: 0 },
    );

  it.each<[string, (client: Cairn) => Promise<unknown>]>([
    ["a call", ({ kv }) => kv.get("u", "k")],
    ["a call with a wait", ({ cache }) => cache.lease("k", { leaseMs: 1, waitMs: 30_000 })],
    ["a large write", ({ kv }) => kv.set("u", "k", "x".repeat(2_560_000))],
    ["an ingest that waits", (client) => client.ingest("u", { messages: [], mode: "wait" })],
    ["an export", async ({ transfer }) => new Response(await transfer.export("u")).text()],
    ["a stream", ({ threads }) => threads.stream("t").next()],
  ])("of `within` is that of %s whose answer trickles", async (_, call) => {
    const made = faked([() => new Response(trickling(made, 490))]);
    await expect(call(made.client.within(500))).rejects.toMatchObject({ code: "timeout" });
    expect(made.now() - 1_000_000).toBeLessThan(500 + 490);
    expect(made.requests).toHaveLength(1);
  });

  it("of `within` is one for the token, the headers, the body and a retry", async () => {
    const made: Faked = faked(
      [
        () => {
          made.pass(140);
          return down();
        },
        () => {
          made.pass(140);
          return new Response(trickling(made, 140));
        },
      ],
      {
        retry: { attempts: 9, withinMs: 1e6 },
        token: () => {
          made.pass(140);
          return "t";
        },
      },
    );
    await expect(made.client.within(500).kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    expect(made.now() - 1_000_000).toBeLessThan(500 + 140);
    expect(made.waits).toEqual([125]);
  });

  it("of `within` passes with a slow token, and nothing is sent", async () => {
    const made: Faked = faked([Response.json({})], {
      token: () => {
        made.pass(500);
        return "t";
      },
    });
    await expect(made.client.within(500).kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    expect(made.requests).toEqual([]);
  });

  it("of `within` is the shortest of several", async () => {
    const { client, waited } = silent("at once", Infinity, { retry: false });
    await expect(client.within(50).within(90).kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    await expect(client.within(90).within(50).kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    expect(waited).toEqual([50, 50]);
  });

  it("of `within` may be longer than that of the options", async () => {
    const { client, waited } = silent("at once", Infinity, { retry: false });
    await expect(client.within(20_000).kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
    expect(waited).toEqual([20_000]);
  });

  it("leaves no timer behind an answer", async () => {
    const { client, limits } = faked([Response.json({ ok: true })]);
    await client.kv.get("u", "k");
    expect(limits.size).toBe(0);
  });

  it("holds for a function that returns the token", async () => {
    const made = faked([Response.json({})], {
      retry: false,
      token: () => {
        queueMicrotask(made.expire);
        return never;
      },
    });
    await expect(made.client.kv.get("u", "k")).rejects.toMatchObject({ code: "timeout" });
  });

  it.each([0, -1, Number.NaN, "10"])("is refused as %s", (ms) => {
    const options = { url: "https://cairn.test", token: "t" };
    // @ts-expect-error -- as JavaScript may call it
    expect(() => cairn({ ...options, attemptMs: ms })).toThrow(
      "`attemptMs` must be a number of milliseconds",
    );
    // @ts-expect-error -- likewise
    expect(() => cairn(options).within(ms)).toThrow("`ms` must be a number of milliseconds");
  });
});

it("a caller's signal ends a call whose transport ignores it", async () => {
  const controller = new AbortController();
  const reason = new Error("the user went away");
  const { client } = faked([
    () => {
      queueMicrotask(() => controller.abort(reason));
      return never;
    },
  ]);
  await expect(client.kv.get("u", "k", { signal: controller.signal })).rejects.toBe(reason);
});

describe("a client that ends with a signal", () => {
  const reason = timeoutError(9);

  it("ends a call under way with the signal's reason, which is not sent again", async () => {
    const controller = new AbortController();
    const { client, requests, waits } = faked([
      () => {
        queueMicrotask(() => controller.abort(reason));
        return never;
      },
    ]);
    await expect(client.until(controller.signal).kv.get("u", "k")).rejects.toBe(reason);
    expect([requests.length, waits]).toEqual([1, []]);
  });

  it("sends no call after it, and waits for none", async () => {
    const { client, requests, waits } = faked([Response.json({})]);
    const own = new AbortController().signal;
    const ended = client.until(AbortSignal.abort(reason)).within(50);
    await expect(ended.kv.get("u", "k", { signal: own })).rejects.toBe(reason);
    expect([requests, waits]).toEqual([[], []]);
  });

  it("ends a stream between its parts", async () => {
    const controller = new AbortController();
    const { client } = silent("within the body", 1, { retry: false });
    const read = async () => {
      for await (const { seq } of client.until(controller.signal).threads.stream("t")) {
        expect(seq).toBe(1);
        controller.abort(reason);
      }
    };
    await expect(read()).rejects.toBe(reason);
  });
});
