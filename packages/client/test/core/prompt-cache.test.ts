// The provider's prompt cache that the benchmark of the context simulates.
import { expect, it } from "vitest";
import {
  commonLength,
  dollarsOf,
  PromptCache,
  type CacheRules,
} from "../../../lab/prompt-caches/prompt-cache.ts";

const MINUTE_MS = 60_000;
const steps: CacheRules = { lifetimeMs: 5 * MINUTE_MS, minTokens: 10, ends: { everyTokens: 4 } };
const marked: CacheRules = { lifetimeMs: 5 * MINUTE_MS, minTokens: 10, ends: "breakpoints" };

/** A text of so many tokens that equals others of the same letter as far as both go. */
const tokens = (count: number, letter = "a"): string => letter.repeat(4 * count);
const sent = (text: string, minutes = 0, breakpoints = [text.length]) => ({
  text,
  breakpoints,
  at: minutes * MINUTE_MS,
});

it("reads the longest common beginning in whole steps", () => {
  const cache = new PromptCache(steps);
  expect(cache.send(sent(tokens(20)))).toEqual({ input: 20, read: 0, written: 20 });
  // 15 tokens are common, and 12 of them are whole steps.
  expect(cache.send(sent(tokens(15) + tokens(10, "b")))).toMatchObject({ input: 25, read: 12 });
  expect(cache.send(sent(tokens(20) + tokens(3, "c")))).toMatchObject({ input: 23, read: 20 });
});

it("reads nothing of a common beginning below the minimum", () => {
  const cache = new PromptCache(steps);
  cache.send(sent(tokens(9) + tokens(20, "b")));
  expect(cache.send(sent(tokens(9) + tokens(20, "c"))).read).toBe(0);
  expect(new PromptCache(steps).send(sent(tokens(9)))).toEqual({ input: 9, read: 0, written: 0 });
});

it("forgets what was not used within the lifetime, and a use counts from then on", () => {
  const cache = new PromptCache(steps);
  cache.send(sent(tokens(20)));
  expect(cache.send(sent(tokens(20), 5)).read).toBe(20);
  expect(cache.send(sent(tokens(20), 10)).read).toBe(20);
  expect(cache.send(sent(tokens(20), 15.1)).read).toBe(0);
});

it("reads up to a marked place of an earlier prompt only", () => {
  const cache = new PromptCache(marked);
  const [head, history] = [tokens(12), tokens(10, "h")];
  const first = head + history + tokens(5, "x");
  expect(cache.send(sent(first, 0, [head.length, first.length]))).toEqual({
    input: 27,
    read: 0,
    written: 27,
  });
  // Head and history are the same, but no earlier prompt ended behind the history.
  const second = head + history + tokens(5, "y");
  expect(cache.send(sent(second, 1, [head.length, second.length]))).toEqual({
    input: 27,
    read: 12,
    written: 15,
  });
  const third = second + tokens(5, "z");
  expect(cache.send(sent(third, 2, [head.length, third.length]))).toEqual({
    input: 32,
    read: 27,
    written: 5,
  });
});

it("bills reads, writes and the rest at their own prices", () => {
  const prices = { input: 2, read: 0.2, write: 2.5 };
  expect(dollarsOf({ input: 1_000_000, read: 500_000, written: 300_000 }, prices)).toBeCloseTo(
    0.1 + 0.75 + 0.4,
  );
});

it("finds the common beginning of long texts", () => {
  const long = "x".repeat(5_000);
  expect(commonLength(`${long}a`, `${long}b`)).toBe(5_000);
  expect(commonLength(long, long)).toBe(5_000);
  expect(commonLength(long, long.slice(0, 2_500))).toBe(2_500);
  expect(commonLength("a", "b")).toBe(0);
});
