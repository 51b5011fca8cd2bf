import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { MiniEmbedder } from "../../../src/platform/embeddings/mini.ts";
import { SharedMini } from "../../../src/platform/embeddings/mini/mini.ts";
import { cosine, embedderContract, texts } from "./contract.ts";

const shared = new SharedMini();
embedderContract("mini-en-256", () => new MiniEmbedder(env.ASSETS, shared), {
  known: texts,
  hanging: () => new MiniEmbedder({ fetch: () => new Promise(() => {}) }, new SharedMini()),
});

it("takes a limited number of windows from all of a text", async () => {
  const [first = "", second = ""] = texts;
  const of = (text: string, times: number) => Array.from({ length: times }, () => text).join(" ");
  const model = await shared.get(env.ASSETS);
  let turns = 0;
  const embed = (text: string) => model.embed(text, async () => turns++);
  const [beginning, end] = [await embed(of(first, 100)), await embed(of(second, 100))];
  turns = 0;
  const whole = await embed(`${of(first, 1_500)} ${of(second, 1_500)}`);
  // 64 windows, with a turn after two.
  expect(turns).toBe(32);
  for (const half of [beginning, end])
    expect(cosine(whole, half ?? null)).toBeGreaterThan(cosine(beginning, end) + 0.1);
});
