// The client over a service binding: what it sends, and a binding that refuses, throws or is silent.
import { expect, it } from "vitest";
import type { BindingAnswer } from "../../../../src/domain/binding.ts";
import { cairn, type CairnOptions } from "../../src/index.ts";
import { fakedBinding } from "./faked.ts";

const answer = (status: number, body: unknown, headers: Record<string, string> = {}): BindingAnswer => ({
  status,
  headers,
  body: JSON.stringify(body),
});
const failed = (status: number, code: string, headers?: Record<string, string>): BindingAnswer =>
  answer(status, { error: { code, message: "no", requestId: "r1" } }, headers);

it("sends what the route takes, and no token", async () => {
  const { client, calls } = fakedBinding([answer(200, { id: "m1" })], { namespace: "a", trust: "model" });
  await client.memories.remember("alice/1", { text: "x" }, { idempotencyKey: "k" });
  expect(calls).toEqual([
    {
      method: "POST",
      path: "/v1/users/alice%2F1/memories",
      headers: {
        "Cairn-Namespace": "a",
        "Cairn-Trust": "model",
        "Idempotency-Key": "k",
        "Content-Type": "application/json",
      },
      body: '{"text":"x"}',
    },
  ]);
});

it("reads bytes as it reads a text, and the version", async () => {
  const bytes = new TextEncoder().encode('{"n":"ü"}');
  const { client } = fakedBinding([{ status: 200, headers: { etag: '"v1"' }, body: bytes }]);
  expect(await client.kv.getVersioned("alice", "k")).toEqual({ value: { n: "ü" }, version: "v1" });
});

it("sends a blob as a stream", async () => {
  const { client, calls } = fakedBinding([answer(200, {})]);
  await client.transfer.import("alice", new Blob(["{}"]));
  expect(await new Response(calls[0]?.body).text()).toBe("{}");
  expect(calls[0]?.headers).toMatchObject({ "Content-Type": "application/x-ndjson" });
});

it("sends a large text and large bytes as a stream, and a small view without the rest of its buffer", async () => {
  const { client, calls } = fakedBinding([answer(200, {})]);
  const large = "ü".repeat(2 * 1024 * 1024);
  const bytes = new TextEncoder().encode(large).slice();
  for (const body of [large, bytes]) await client.transfer.import("alice", body);
  await client.kv.set("alice", "k", large);
  for (const [i, sent] of [large, large, JSON.stringify(large)].entries()) {
    expect(calls[i]?.body).toBeInstanceOf(ReadableStream);
    expect((await new Response(calls[i]?.body).text()) === sent).toBe(true);
  }
  await client.transfer.import("alice", new Uint8Array(1000).subarray(10, 13));
  const { body } = calls[3] ?? {};
  expect(body instanceof Uint8Array && body.buffer.byteLength).toBe(3);
});

it("breaks off the body of a call that has ended", async () => {
  const { client, calls } = fakedBinding([() => new Promise<never>(() => {})], { retry: false });
  const end = new AbortController();
  const call = client.until(end.signal).transfer.import("alice", new Blob(["{}"]));
  await expect.poll(() => calls.length).toBe(1);
  const why = new Error("enough");
  end.abort(why);
  await expect(call).rejects.toBe(why);
  await expect(new Response(calls[0]?.body).text()).rejects.toBe(why);
});

it("does not repeat a call that is larger than a binding carries", async () => {
  const tooLarge = new Error(
    "Serialized RPC arguments or return values are limited to 32MiB, but 36000000 bytes",
  );
  const { client, calls } = fakedBinding([tooLarge]);
  await expect(client.kv.get("alice", "k")).rejects.toMatchObject({
    code: "no_envelope",
    message: expect.stringContaining("32 MiB"),
    cause: tooLarge,
  });
  expect(calls).toHaveLength(1);
});

it("lets go of an export that is cancelled before its first part is read", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
  const { client } = fakedBinding([{ status: 200, headers: {}, body }]);
  await (await client.transfer.export("alice")).cancel();
  expect(cancelled).toBe(true);
});

it.each([
  ["a text", "x\n"],
  ["bytes", new TextEncoder().encode("x\n")],
  ["no body", null],
])("streams an answer that is %s", async (_, body) => {
  const { client } = fakedBinding([{ status: 200, headers: {}, body }]);
  const exported = await new Response(await client.transfer.export("alice")).text();
  expect(exported).toBe(body === null ? "" : "x\n");
});

it("repeats a call that found Cairn busy, or whose binding threw, as over HTTP", async () => {
  const busy = failed(429, "rate_limited", { "retry-after": "3" });
  const { client, calls, waits } = fakedBinding([
    busy,
    new Error("Network connection lost."),
    answer(200, 1),
  ]);
  expect(await client.kv.get("alice", "k")).toBe(1);
  expect(calls).toHaveLength(3);
  expect(waits[0]).toBe(3_000);
});

it("does not repeat a write that may be done, when its binding throws", async () => {
  const { client, calls } = fakedBinding([new Error("Network connection lost.")]);
  await expect(client.kv.set("alice", "k", 1, { ifVersion: "v1" })).rejects.toMatchObject({
    code: "network",
    message: "network: Network connection lost.",
    call: "PUT /v1/users/alice/kv/k",
    status: 0,
  });
  expect(calls).toHaveLength(1);
});

it("ends a call whose binding is silent within its limit", async () => {
  const { client, expire } = fakedBinding([() => new Promise<never>(() => {})], { retry: false });
  const call = client.kv.get("alice", "k");
  await expect.poll(expire).toBe(10_000);
  await expect(call).rejects.toMatchObject({ code: "timeout", call: "GET /v1/users/alice/kv/k" });
});

it("lets go of a stream that comes after its call has ended", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
  const late = Promise.withResolvers<BindingAnswer>();
  const { client } = fakedBinding([() => late.promise], { retry: false });
  const end = new AbortController();
  const call = client.until(end.signal).transfer.export("alice");
  const why = new Error("enough");
  end.abort(why);
  await expect(call).rejects.toBe(why);
  late.resolve({ status: 200, headers: {}, body });
  await expect.poll(() => cancelled).toBe(true);
});

it("says that a binding has another entrypoint, and does not try again", async () => {
  const missing = new TypeError('The RPC receiver does not implement the method "call".');
  const { client, calls } = fakedBinding([missing]);
  await expect(client.kv.get("alice", "k")).rejects.toMatchObject({
    code: "no_envelope",
    message: expect.stringContaining('`entrypoint = "Memory"`'),
  });
  expect(calls).toHaveLength(1);
});

it.each([
  ["a binding that is not there", { binding: undefined }, "`binding` is missing"],
  ["a binding that is a text", { binding: "MEMORY" }, "`binding` is missing"],
  ["a binding without its method", { binding: {} }, "`binding` has no method `call`"],
  ["a token beside it", { binding: {}, token: "t" }, "`token` does not go with `binding`"],
  ["a url beside it", { binding: {}, url: "https://cairn.test" }, "`url` does not go with `binding`"],
])("refuses %s", (_, options, message) => {
  // As a program without types gives it.
  expect(() => cairn(options as unknown as CairnOptions)).toThrow(message);
});

it("takes a binding that is a function, as those of Workers are", () => {
  const call = (): Promise<BindingAnswer> => Promise.resolve(answer(200, {}));
  expect(() => cairn({ binding: Object.assign(() => undefined, { call }) })).not.toThrow();
});
