import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cairn, CairnError, type CairnOptions } from "../../src/index.ts";
import { down, failure, faked } from "./faked.ts";

describe("a token", () => {
  it("is asked for once, and kept for the calls after it", async () => {
    let asked = 0;
    const { client, requests } = faked([Response.json({})], { token: async () => `token-${++asked}` });
    await client.kv.get("u", "a");
    await client.kv.get("u", "b");
    expect(requests.map(({ headers }) => headers.get("Authorization"))).toEqual([
      "Bearer token-1",
      "Bearer token-1",
    ]);
  });

  it.each(["token_expired", "token_revoked"])(
    "that is over (%s) is asked for again, once, whatever the call",
    async (code) => {
      let asked = 0;
      const expired = failure(401, code);
      const { client, requests, waits } = faked([expired, Response.json({}), expired, expired], {
        token: () => `token-${++asked}`,
      });
      await client.cache.take("k");
      expect(requests.map(({ headers }) => headers.get("Authorization"))).toEqual([
        "Bearer token-1",
        "Bearer token-2",
      ]);
      await expect(client.cache.take("k")).rejects.toMatchObject({ code });
      expect([requests.length, asked, waits.length]).toEqual([4, 3, 0]);
    },
  );

  it("that expired for several calls at once is asked for once", async () => {
    let asked = 0;
    const answer = (request: Request) =>
      request.headers.get("Authorization") === "Bearer token-1"
        ? failure(401, "token_expired")
        : Response.json(1);
    const { client } = faked([answer], { token: () => `token-${++asked}` });
    await client.kv.get("u", "k");
    await Promise.all(["a", "b", "c"].map((key) => client.kv.get("u", key)));
    expect(asked).toBe(2);
  });

  it("that is a string, or refused for another reason, is not asked for again", async () => {
    const plain = faked([failure(401, "token_expired")]);
    await expect(plain.client.kv.get("u", "k")).rejects.toMatchObject({ code: "token_expired" });
    expect(plain.requests).toHaveLength(1);
    const refused = faked([failure(401, "invalid_token")], { token: () => "t" });
    await expect(refused.client.kv.get("u", "k")).rejects.toMatchObject({ code: "invalid_token" });
    expect(refused.requests).toHaveLength(1);
  });
});

it("lowers the trust in what it writes", async () => {
  const { client, requests } = faked([Response.json({})], { trust: "import" });
  await client.memories.remember("u", { text: "x" });
  expect(requests[0]?.headers.get("Cairn-Trust")).toBe("import");
  const plain = faked([Response.json({})]);
  await plain.client.memories.remember("u", { text: "x" });
  expect(plain.requests[0]?.headers.has("Cairn-Trust")).toBe(false);
});

it("demands the version that it has read, also where a proxy made its ETag a weak one", async () => {
  const { client, requests } = faked([Response.json(1, { headers: { ETag: 'W/"v1"' } })]);
  const read = await client.kv.getVersioned("u", "k");
  await client.kv.set("u", "k", 2, { ifVersion: read?.version });
  expect(requests.map(({ headers }) => headers.get("If-Match"))).toEqual([null, '"v1"']);
});

describe("an error", () => {
  it("has the code, the field, the request's id and the time to wait of the answer", async () => {
    const details = [{ path: "body.text", message: "is required" }];
    const body = { error: { code: "invalid_request", message: "no", details, requestId: "r1" } };
    const { client } = faked([Response.json(body, { status: 400, headers: { "Retry-After": "7" } })]);
    const error: unknown = await client.memories.remember("u", {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CairnError);
    expect(error).toMatchObject({
      name: "CairnError",
      message: "invalid_request: no (body.text is required)",
      call: "POST /v1/users/u/memories",
      code: "invalid_request",
      status: 400,
      details,
      requestId: "r1",
      retryAfter: 7,
    });
  });

  it("names the first invalid fields in its message, within a bound", async () => {
    const details = Array.from({ length: 5 }, (_, i) => ({ path: `body.f${i}`, message: "x".repeat(1_000) }));
    const body = { error: { code: "invalid_request", message: "no", details } };
    const { client } = faked([Response.json(body, { status: 400 })]);
    const error: unknown = await client.memories.remember("u", {}).catch((thrown: unknown) => thrown);
    const { message } = error as CairnError;
    expect(message).toMatch(/^invalid_request: no \(body\.f0 x+; body\.f1 x+; body\.f2 x+; and 2 more\)$/);
    expect(message.length).toBeLessThan(700);
  });

  it("is `network`, with the cause, where there is no answer", async () => {
    const cause = new TypeError("fetch failed");
    const { client } = faked([cause], { retry: false });
    const error: unknown = await client.kv.get("u", "k").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "network",
      status: 0,
      message: "network: fetch failed",
      call: "GET https://cairn.test/v1/users/u/kv/k",
    });
    expect(error instanceof Error && error.cause).toBe(cause);
  });

  it("names the system's code of a failed fetch, which is deep in its cause", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
    const { client } = faked([new TypeError("fetch failed", { cause: refused })], { retry: false });
    await expect(client.kv.get("u", "k")).rejects.toThrow("network: fetch failed (ECONNREFUSED)");
  });

  it.each<[string, object]>([
    ["undefined", { value: undefined }],
    ["function", { value: () => 1 }],
  ])(
    "is a TypeError, and nothing is sent, for a value that is %s",
    async (type, { value }: { value?: unknown }) => {
      const { client, requests } = faked([Response.json({})]);
      await expect(client.kv.set("u", "k", value)).rejects.toThrow(`the value is ${type}, which has no JSON`);
      await expect(client.cache.set("k", value)).rejects.toThrow(TypeError);
      expect(requests).toEqual([]);
    },
  );

  it("is a TypeError, and nothing is sent, for an unknown option of a call", async () => {
    const { client, requests } = faked([Response.json({})]);
    const { signal } = new AbortController();
    const wrong: object = { sgnal: signal };
    for (const call of [
      () => client.kv.get("u", "k", wrong),
      () => client.kv.delete("u", "k", wrong),
      () => client.kv.batch("u", [{ op: "get", key: "k" }], wrong),
      () => client.memories.remember("u", { text: "t" }, wrong),
      () => client.memories.forget("u", "id", wrong),
      () => client.memories.forgetWhere("u", {}, wrong),
      () => client.threads.read("id", {}, wrong),
      () => client.threads.create("u", {}, wrong),
      () => client.threads.delete("id", wrong),
      () => client.promptCache.report({} as never, wrong),
      () => client.recall("u", { query: "q" }, wrong),
    ])
      await expect(call()).rejects.toThrow("cairn: `sgnal` is not an option; did you mean `signal`?");
    expect(requests).toEqual([]);
  });

  it("is `invalid_request`, and nothing is sent, where the user is left out", async () => {
    const { client, requests } = faked([Response.json({})]);
    // @ts-expect-error from JavaScript
    await expect(client.recall({ query: "q" })).rejects.toMatchObject({
      code: "invalid_request",
      message: "invalid_request: not sent: a part of the path is of type object, not a string",
    });
    expect(requests).toEqual([]);
  });

  it.each([
    [404, "<html>"],
    [403, "null"],
    [418, '{"error":"teapot"}'],
    [200, "<html>Please log in"],
  ])("is `no_envelope` where the answer is another's: %d %s", async (status, text) => {
    const { client } = faked([new Response(text, { status })]);
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({
      code: "no_envelope",
      status,
      call: "GET /v1/users/u/kv/k",
    });
  });

  it("names the call without what it asks for, and no host where there is none", async () => {
    const { client } = faked([failure(404, "not_found")], { retry: false });
    await expect(client.memories.list("a b", { tag: ["secret"] })).rejects.toMatchObject({
      call: "GET /v1/users/a%20b/memories",
    });
    const gone = () => Promise.reject(new TypeError("gone"));
    await expect(cairn({ fetch: gone, token: "t", retry: false }).kv.list("u")).rejects.toMatchObject({
      message: "network: gone",
      call: "GET /v1/users/u/kv",
    });
  });

  it.each([
    ["an empty key", "u", ""],
    ["the key ..", "u", ".."],
    ["the user ..", "..", "k"],
    ["the user .", ".", "k"],
    ["a lone surrogate", "u", "\uD800"],
  ])("is `invalid_request`, and nothing is sent, for %s: no URL can carry it", async (_, user, key) => {
    const { client, requests } = faked([Response.json({})]);
    await expect(client.kv.delete(user, key)).rejects.toMatchObject({ code: "invalid_request" });
    expect(requests).toEqual([]);
  });

  it.each(["\uD83D", "notes/\uDE00"])(
    "is `invalid_request`, and nothing is deleted, for a prefix with half of a surrogate pair: %j",
    async (prefix) => {
      const { client, requests } = faked([Response.json({ count: 0 })]);
      await expect(client.kv.deletePrefix("u", prefix)).rejects.toMatchObject({
        code: "invalid_request",
        details: [{ path: "query.prefix", message: "holds a lone surrogate" }],
      });
      await expect(client.memories.list("u", { tag: ["a", prefix] })).rejects.toMatchObject({
        details: [{ path: "query.tag" }],
      });
      expect(requests).toEqual([]);
    },
  );

  it.each([{ toString: 1 }, null, new Date(0)])("refuses an object in a query: %j", async (value) => {
    const { client, requests } = faked([Response.json({ items: [] })]);
    // @ts-expect-error As a JavaScript caller may.
    await expect(client.memories.list("u", { cursor: value })).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ path: "query.cursor", message: "is an object" }],
    });
    expect(requests).toEqual([]);
  });
});

it("has the parts that its page lists, and no other", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/client.md"), "utf8");
  const [, rows = ""] = /^\| part [^]*?\n([^]*?)\n\n/m.exec(page) ?? [];
  const listed = rows
    .split("\n")
    .flatMap((row) => Array.from((row.split("|")[1] ?? "").matchAll(/`(\w+)`/g), ([, name = ""]) => name));
  const client = cairn({ url: "https://cairn.test", token: "t" });
  const parts = Object.entries(client).filter(([, of]) => typeof of === "object");
  expect(listed.toSorted()).toEqual(parts.map(([name]) => name).toSorted());
});

describe("a client", () => {
  const made = (options: object) => () => cairn(options as CairnOptions);
  const url = "https://cairn.test";

  it.each([
    ["a token", /`token` is missing/, { url }],
    ["a token, of a variable that is set to nothing", /`token` is missing/, { url, token: "" }],
    ["a url and a fetch", /`url` is missing/, { token: "t" }],
    [
      "a url and a fetch, of a binding that is not there",
      /`url` is missing/,
      { token: "t", fetch: undefined },
    ],
    ["anything", /`url` is missing/, {}],
  ])("is not made without %s: nothing is sent anywhere", (_, message, options) => {
    expect(made(options)).toThrow(TypeError);
    expect(made(options)).toThrow(message);
  });

  it.each([
    ["a line break", "nons\nense"],
    ["a letter beyond ASCII", "tökken"],
    ["a space", "two words"],
  ])("is not made with a token that holds %s, and does not repeat the token", async (_, token) => {
    const refused = /^cairn: `token` is not a token: [^]*ASCII$/;
    expect(made({ url, token })).toThrow(refused);
    await expect(cairn({ url, token: () => token }).kv.get("u", "k")).rejects.toThrow(refused);
  });

  it("names the token where its function returns none", async () => {
    const client = cairn({ url, token: () => undefined as never, retry: false });
    await expect(client.kv.get("u", "k")).rejects.toThrow("cairn: `token` is missing");
  });

  it("is not made with `retry: true`", () => {
    expect(made({ url, token: "t", retry: true })).toThrow("cairn: `retry` must be");
  });

  it("is not made with `largeNumbers: true`", () => {
    expect(made({ url, token: "t", largeNumbers: true })).toThrow('cairn: `largeNumbers` must be "text"');
  });

  it("is not made with a place that Cloudflare has not, and sends one that it has with every call", async () => {
    expect(made({ url, token: "t", location: "moon" })).toThrow(
      "cairn: `location` must be one of wnam, enam",
    );
    const sent: (string | null)[] = [];
    const fetch = async (request: Request) => {
      sent.push(request.headers.get("Cairn-Location"));
      return Response.json({ items: [] });
    };
    await cairn({ fetch, token: "t", location: "weur" }).memories.list("alice", {});
    await cairn({ fetch, token: "t" }).memories.list("alice", {});
    expect(sent).toEqual(["weur", null]);
  });

  it("is not made of nothing", () => {
    // @ts-expect-error from JavaScript
    expect(() => cairn()).toThrow("cairn: `url` is missing");
  });

  it.each([
    ["userToken", "the options are `url`, `fetch`, `token`", { userToken: "t" }],
    ["nameSpace", "did you mean `namespace`?", { nameSpace: "app" }],
    ["wait_until", "did you mean `waitUntil`?", { wait_until: undefined }],
    ["retry.attempt", "did you mean `retry.attempts`?", { retry: { attempt: 2 } }],
  ])("rejects the unknown option `%s` and says: %s", (name, hint, more) => {
    expect(made({ url, token: "t", ...more })).toThrow(TypeError);
    expect(made({ url, token: "t", ...more })).toThrow(`cairn: \`${name}\` is not an option; ${hint}`);
    expect(made({ url, token: "t", retry: false })).not.toThrow();
  });

  it.each(["127.0.0.1:8787", "localhost:8787", "example.com", "", "ftp://example.com", null, 8787])(
    "is not made of a url that is none: %j",
    (wrong) => {
      const fetch = () => Response.json({});
      expect(made({ url: wrong, token: "t", fetch })).toThrow(`\`url\` is ${JSON.stringify(wrong)}`);
    },
  );
});

describe("later", () => {
  const later = async (work: () => Promise<unknown>) => {
    const kept: Promise<unknown>[] = [];
    const told: unknown[] = [];
    const { client } = faked([Response.json({})], {
      waitUntil: (promise) => kept.push(promise),
      onLaterError: (error) => told.push(error),
    });
    client.later(work);
    await Promise.all(kept);
    return { told, kept: kept.length };
  };

  it("hands its work to waitUntil", async () => {
    let done = false;
    expect(await later(async () => void (done = true))).toEqual({ told: [], kept: 1 });
    expect(done).toBe(true);
  });

  it("tells of what fails, at once or later, and never rejects", async () => {
    const error = new Error("no");
    expect(await later(() => Promise.reject(error))).toEqual({ told: [error], kept: 1 });
    const thrown = () => {
      throw error;
    };
    expect(await later(thrown)).toEqual({ told: [error], kept: 1 });
  });
});

describe("pages", () => {
  const page = (items: unknown[], cursor?: string) => Response.json({ items, ...(cursor && { cursor }) });

  it("are asked for as their items are used, with the filter and the cursor", async () => {
    const { client, requests } = faked([page([{ id: "a" }], "c1"), page([], "c2"), page([{ id: "b" }])]);
    const ids: string[] = [];
    for await (const { id } of client.memories.all("u", { tag: ["x", "y"], limit: 1 })) ids.push(id);
    expect(ids).toEqual(["a", "b"]);
    expect(requests.map(({ url }) => new URL(url).search)).toEqual([
      "?tag=x&tag=y&limit=1",
      "?tag=x&tag=y&limit=1&cursor=c1",
      "?tag=x&tag=y&limit=1&cursor=c2",
    ]);
  });

  it("are not asked for when nobody goes on", async () => {
    const { client, requests } = faked([page([{ key: "a" }, { key: "b" }], "c1")]);
    for await (const { key } of client.kv.all("u")) if (key === "a") break;
    expect(requests).toHaveLength(1);
  });

  it("that fail throw where they are used", async () => {
    const { client } = faked([page([{ key: "a" }], "c1"), down()], { retry: false });
    const seen: string[] = [];
    const read = async () => {
      for await (const { key } of client.kv.all("u")) seen.push(key);
    };
    await expect(read()).rejects.toMatchObject({ status: 503 });
    expect(seen).toEqual(["a"]);
  });
});

describe("a stream", () => {
  const streamed = (chunks: readonly (string | Error)[]) => {
    let cancelled = false;
    const encoded = chunks.map((chunk) => (chunk instanceof Error ? chunk : new TextEncoder().encode(chunk)));
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const next = encoded.shift();
        if (next === undefined) controller.close();
        else if (next instanceof Error) controller.error(next);
        else controller.enqueue(next);
      },
      cancel: () => void (cancelled = true),
    });
    const { client, requests } = faked([() => new Response(body)]);
    return { messages: client.threads.stream("t", { after: 3 }), requests, cancelled: () => cancelled };
  };

  it("gives each line as it comes, however it is cut", async () => {
    const { messages, requests } = streamed(['{"seq"', ":1}\n{", '"seq":2}\n\n{"seq":3}']);
    const seqs: number[] = [];
    for await (const { seq } of messages) seqs.push(seq);
    expect(seqs).toEqual([1, 2, 3]);
    expect(requests[0]?.headers.get("Accept")).toBe("application/x-ndjson");
    expect(requests[0]?.url).toBe("https://cairn.test/v1/threads/t/messages?after=3");
  });

  it("that breaks off throws, and does not end", async () => {
    const { messages } = streamed(['{"seq":1}\n', new Error("reset")]);
    expect((await messages.next()).value).toEqual({ seq: 1 });
    await expect(messages.next()).rejects.toMatchObject({
      code: "network",
      message: "network: reset",
      call: "GET /v1/threads/t/messages",
    });
  });

  it("is let go of when nobody reads on", async () => {
    const { messages, cancelled } = streamed(['{"seq":1}\n{"seq":2}\n', '{"seq":3}\n', '{"seq":4}\n']);
    for await (const { seq } of messages) if (seq === 1) break;
    expect(cancelled()).toBe(true);
  });
});

describe("a transport", () => {
  it.each(["https://cairn.test/memory", "https://cairn.test/memory/", "https://cairn.test/memory?x=1"])(
    "is called under the path of %s",
    async (url) => {
      const asked: string[] = [];
      const fetch = (request: Request) => {
        asked.push(request.url);
        return Response.json({ items: [] });
      };
      await cairn({ url, token: "t", fetch }).kv.list("a/b", { prefix: "p" });
      expect(asked).toEqual(["https://cairn.test/memory/v1/users/a%2Fb/kv?prefix=p"]);
    },
  );

  it("may be what has a fetch, as a service binding, which needs no url", async () => {
    const binding = {
      value: 7,
      fetch() {
        return Response.json(this.value);
      },
    };
    expect(await cairn({ fetch: binding, token: "t" }).kv.get("u", "k")).toBe(7);
    expect(await cairn({ fetch: binding.fetch.bind(binding), token: "t" }).kv.get("u", "k")).toBe(7);
  });
});
