// One word model in an isolate, whoever asks for it: requests and objects that begin at once, and those that die.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { DeadlineExceeded } from "../../../src/platform/deadline.ts";
import { WordModel } from "../../../src/platform/embeddings/embedded/word-model.ts";

/** The assets, which count how often the model's table is read. `answer` stands in for the nth reading. */
function counting(answer: (nth: number) => Promise<Response> | null = () => null) {
  const tables = { read: 0 };
  const fetch = async (url: string): Promise<Response> => {
    if (!url.endsWith("model.safetensors")) return env.ASSETS.fetch(url);
    return (await answer(++tables.read)) ?? env.ASSETS.fetch(url);
  };
  return { tables, assets: { fetch } };
}
const missing = async () => new Response(null, { status: 404 });

it("is loaded once for 32 objects that ask for it at once", async () => {
  const shared = new WordModel();
  const { tables, assets } = counting();
  const objects = Array.from({ length: 32 }, () => env.PROMPT_CACHE.getByName(crypto.randomUUID()));
  const sizes = await Promise.all(
    objects.map((object) => runInDurableObject(object, async () => (await shared.get(assets)).size)),
  );
  expect(new Set(sizes)).toEqual(new Set([27_728]));
  expect(tables.read).toBe(1);
});

it("is the same copy from then on", async () => {
  const shared = new WordModel();
  const { tables, assets } = counting();
  const [first, second] = await Promise.all([shared.get(assets), shared.get(assets)]);
  expect(second).toBe(first);
  expect(await shared.get(assets)).toBe(first);
  expect(tables.read).toBe(1);
});

it("is loaded by the next caller when a load failed, and fails for its own caller only", async () => {
  const shared = new WordModel();
  const { tables, assets } = counting((nth) => (nth === 1 ? missing() : null));
  const [first, second, third] = await Promise.allSettled([
    shared.get(assets),
    shared.get(assets),
    shared.get(assets),
  ]);
  expect([first.status, second.status, third.status]).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(tables.read).toBe(2);
});

it("is loaded by one of those that wait when the object that was loading it is gone", async () => {
  const shared = new WordModel({ takeOverMs: 30 });
  // The load of an object that has died goes on no more: neither its promise nor its timer ends.
  const { tables, assets } = counting((nth) => (nth === 1 ? new Promise(() => {}) : null));
  void shared.get(assets, 2 ** 31 - 1).catch(() => null);
  const waiting = await Promise.all([shared.get(assets), shared.get(assets), shared.get(assets)]);
  expect(new Set(waiting).size).toBe(1);
  expect(tables.read).toBe(2);
});

it("keeps nobody waiting for longer than they said", async () => {
  const shared = new WordModel();
  const { assets } = counting(() => new Promise(() => {}));
  const answers = await Promise.allSettled([shared.get(assets, 30), shared.get(assets, 30)]);
  for (const answer of answers)
    expect(answer).toMatchObject({ status: "rejected", reason: expect.any(DeadlineExceeded) as unknown });
});
