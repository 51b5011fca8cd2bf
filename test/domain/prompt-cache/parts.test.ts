// The pure parts: durations, canonical JSON, hashes, and what is decided for each provider.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { breakpoints, usedAgain } from "../../../src/domain/prompt-cache/anthropic.ts";
import {
  placeBreakpoints,
  shortestCached,
} from "../../../packages/adapters/src/anthropic/breakpoint-places.ts";
import { canonicalJson } from "../../../src/domain/prompt-cache/canonical-json.ts";
import { durationMs } from "../../../src/domain/prompt-cache/duration.ts";
import { CLOCK_SKEW_MS, isTooSmall, usable } from "../../../src/domain/prompt-cache/google.ts";
import {
  prefixHashes,
  promptCacheKey,
  regionsHash,
  resourceKey,
} from "../../../src/domain/prompt-cache/keys.ts";
import { cacheLifetimeMs } from "../../../src/domain/prompt-cache/lifetime.ts";
import { hitRate, hourOf, LIFE_MS, reportedHour } from "../../../src/domain/prompt-cache/usage.ts";
import type { Json } from "../../../src/domain/schema/bounds.ts";

const json = () => fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const NOW = 1_800_000_000_000;

describe("durations", () => {
  it.each([
    ["1s", 1000],
    ["3600s", 3_600_000],
    ["30m", 1_800_000],
    ["1h", 3_600_000],
    ["1d", 86_400_000],
  ])("%s is %i ms", (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each([
    "",
    "1",
    "s",
    "0s",
    "01m",
    "1.5h",
    "-1h",
    " 1h",
    "1h ",
    "1h30m",
    "1H",
    "1w",
    "1ms",
    "1e3s",
    "1h\n",
  ])("%o is none", (text) => {
    expect(durationMs(text)).toBeNull();
  });
});

describe("canonical JSON", () => {
  const shuffled = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([name, inner]) => [name, shuffled(inner)]),
    );
  };

  it("means the same value", () => {
    fc.assert(
      fc.property(json(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("does not depend on the order of keys, and does on the order of elements", () => {
    fc.assert(
      fc.property(json(), (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      }),
    );
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });

  it("sorts keys by their code units, escapes as JSON does, and has no white space", () => {
    const value = JSON.parse('{"b": [1.0, -0, 1e2], "a": {"é": "\\u00e9\\n", "__proto__": null}, "B": ""}');
    expect(canonicalJson(value)).toBe('{"B":"","a":{"__proto__":null,"é":"é\\n"},"b":[1,0,100]}');
  });

  it("takes nesting of any depth", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(canonicalJson(JSON.parse(deep))).toBe(deep);
  });
});

describe("hashes", () => {
  it("of regions are SHA-256 of the list in canonical JSON, in hex", async () => {
    const text = '["system",{"a":1,"b":[true]}]';
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    expect(await regionsHash(["system", { b: [true], a: 1 }])).toBe(hex);
  });

  it("of prefixes agree as far as the regions do, and no further", async () => {
    const lists = fc.array(fc.constantFrom<Json>("a", "b", 1, [1], { x: 1 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(lists, lists, async (a, b) => {
        const [first, second] = [await prefixHashes(a), await prefixHashes(b)];
        expect(first).toHaveLength(a.length);
        for (const [i, hash] of first.entries())
          expect(hash === second[i]).toBe(
            i < b.length && canonicalJson(a.slice(0, i + 1)) === canonicalJson(b.slice(0, i + 1)),
          );
      }),
      { numRuns: 50 },
    );
  });

  it("keep the key of a resource within a key's limit", () => {
    expect(resourceKey("google", "é".repeat(128), "f".repeat(128)).length).toBeLessThanOrEqual(1024);
  });

  it("make a prompt cache key of at most 64 characters, one for each namespace, model and content", async () => {
    const keys = await Promise.all([
      promptCacheKey("a", "m", "h"),
      promptCacheKey("b", "m", "h"),
      promptCacheKey("a", "n", "h"),
      promptCacheKey("a", "m", "i"),
    ]);
    expect(new Set(keys).size).toBe(4);
    expect(await promptCacheKey("a", "m", "h")).toBe(keys[0]);
    for (const key of keys) expect(key.length).toBeLessThanOrEqual(64);
  });
});

describe("google", () => {
  const stored = (value: unknown) => ({
    value: new TextEncoder().encode(JSON.stringify(value)),
    version: "v",
  });

  it("uses a resource that outlives the clocks' difference, and none that does not", () => {
    const edge = NOW + CLOCK_SKEW_MS;
    expect(usable(stored({ name: "n", expiresAt: edge }), NOW)).toBeNull();
    expect(usable(stored({ name: "n", expiresAt: edge + 1, more: 1 }), NOW)).toEqual({
      status: "hit",
      name: "n",
      expiresAt: edge + 1,
      version: "v",
    });
  });

  it("knows what is too small until that expires", () => {
    const small = stored({ tooSmall: true, expiresAt: NOW + 1 });
    expect(usable(small, NOW)).toEqual({ status: "too-small", expiresAt: NOW + 1 });
    expect(usable(small, NOW + 1)).toBeNull();
  });

  it.each([
    null,
    1,
    "x",
    [],
    {},
    { name: "n" },
    { name: 1, expiresAt: 9e15 },
    { tooSmall: false, expiresAt: 9e15 },
  ])("makes nothing of %o", (value) => {
    expect(usable(stored(value), NOW)).toBeNull();
  });

  it("never answers a hit with less than the margin left", () => {
    fc.assert(
      fc.property(fc.integer({ min: -60_000, max: 120_000 }), (left) => {
        const hit = usable(stored({ name: "n", expiresAt: NOW + left }), NOW);
        expect(hit !== null).toBe(left > CLOCK_SKEW_MS);
      }),
    );
  });

  it("calls too small what is known to be below the least", () => {
    expect(isTooSmall({ tokens: 9, minTokens: 10 })).toBe(true);
    for (const known of [{ tokens: 10, minTokens: 10 }, { tokens: 0 }, { minTokens: 10 }, {}])
      expect(isTooSmall(known)).toBe(false);
  });
});

describe("the lifetime of a provider's cache", () => {
  const HOUR = 3_600_000;

  it("is five minutes with anthropic, or an hour if asked for one", () => {
    expect(cacheLifetimeMs("anthropic")).toBe(HOUR / 12);
    expect(cacheLifetimeMs("anthropic", HOUR - 1)).toBe(HOUR / 12);
    expect(cacheLifetimeMs("anthropic", HOUR)).toBe(HOUR);
    expect(cacheLifetimeMs("anthropic", 24 * HOUR)).toBe(HOUR);
  });

  it("is at most an hour with openai, or a day if asked for one", () => {
    expect(cacheLifetimeMs("openai")).toBe(HOUR);
    expect(cacheLifetimeMs("openai", 24 * HOUR - 1)).toBe(HOUR);
    expect(cacheLifetimeMs("openai", 24 * HOUR)).toBe(24 * HOUR);
  });

  it("is what the caller asks google for, and an hour otherwise", () => {
    expect(cacheLifetimeMs("google")).toBe(HOUR);
    expect(cacheLifetimeMs("google", HOUR / 2)).toBe(HOUR / 2);
    expect(cacheLifetimeMs("google", 7 * 24 * HOUR)).toBe(7 * 24 * HOUR);
  });
});

describe("anthropic", () => {
  const MINUTE = 60_000;

  it("is likely warm within the lifetime of the last use, and not at its end", () => {
    const before = [{ usedAt: NOW, lifetimeMs: 5 * MINUTE }, null];
    expect(breakpoints(["a", "b"], before, NOW + 5 * MINUTE - 1)).toEqual([
      { index: 0, prefixHash: "a", likelyWarm: true, lastUsedAt: NOW, expiresAt: NOW + 5 * MINUTE },
      { index: 1, prefixHash: "b", likelyWarm: false },
    ]);
    expect(breakpoints(["a"], before, NOW + 5 * MINUTE)).toEqual([
      { index: 0, prefixHash: "a", likelyWarm: false },
    ]);
  });

  it("is warm for as long as no pause is longer than the lifetime", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 10 * MINUTE }), { maxLength: 20 }), (pauses) => {
        let last = { usedAt: NOW, lifetimeMs: 5 * MINUTE };
        for (const pause of pauses) {
          const now = last.usedAt + pause;
          expect(breakpoints(["a"], [last], now)[0]?.likelyWarm).toBe(pause < 5 * MINUTE);
          last = usedAgain(last, { usedAt: now, lifetimeMs: 5 * MINUTE });
        }
      }),
    );
  });

  it("keeps the longer lifetime of what is warm, and takes the new one of what is cold", () => {
    const hour = { usedAt: NOW, lifetimeMs: 60 * MINUTE };
    const use = (later: number) => ({ usedAt: NOW + later, lifetimeMs: 5 * MINUTE });
    expect(usedAgain(hour, use(MINUTE))).toEqual({ usedAt: NOW + MINUTE, lifetimeMs: 60 * MINUTE });
    expect(usedAgain(hour, use(60 * MINUTE))).toEqual(use(60 * MINUTE));
    expect(usedAgain(null, use(0))).toEqual(use(0));
  });
});

describe("breakpoints for anthropic", () => {
  it.each([
    ["claude-haiku-4-5-20251001", 4096],
    ["anthropic.claude-opus-4-6-v1", 4096],
    ["claude-opus-4-7", 2048],
    ["claude-3-5-haiku-20241022", 2048],
    ["claude-opus-4-20250514", 1024],
    ["claude-opus-4-8", 1024],
    ["claude-sonnet-4-5-20250929", 1024],
    ["claude-3-7-sonnet-20250219", 1024],
    ["claude-sonnet-5", 1024],
    ["claude-sonnet-5-20260714", 1024],
    ["claude-sonnet-5-5", 512],
    ["claude-opus-5", 512],
    ["a-later-model", 512],
  ])("%s caches from %i tokens on", (model, tokens) => {
    expect(shortestCached(model)).toBe(tokens);
  });

  it("are never more than four, never below the minimum, and never live shorter than a later one", () => {
    const ttl = fc.constantFrom<"5m" | "1h">("5m", "1h");
    const block = fc.record({
      tokens: fc.nat(600),
      // The caller's breakpoints are in order: those of an hour first.
      marked: fc.oneof(
        { weight: 4, arbitrary: fc.constant<("5m" | "1h")[]>([]) },
        ttl.map((one) => [one]),
      ),
    });
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 12 }),
        fc.array(fc.nat(11), { maxLength: 5 }),
        ttl,
        (any, wanted, asked) => {
          const own = any
            .flatMap(({ marked }) => marked)
            .toSorted()
            .slice(-4);
          const blocks = any.map(({ tokens, marked }) => ({
            tokens,
            marked: marked.flatMap(() => own.shift() ?? []),
          }));
          const placed = placeBreakpoints(blocks, wanted, { model: "claude-opus-5", ttl: asked });
          const all = blocks.flatMap(({ marked }, i) => [
            ...marked,
            ...(placed.has(i) ? [placed.get(i)] : []),
          ]);
          expect(all.length).toBeLessThanOrEqual(4);
          expect(all.join(" ")).toMatch(/^(1h ?)*(5m ?)*$/);
          for (const index of placed.keys()) {
            const tokens = blocks.slice(0, index + 1).reduce((sum, one) => sum + one.tokens, 0);
            expect(tokens).toBeGreaterThanOrEqual(512);
            expect(blocks[index]?.marked).toEqual([]);
          }
        },
      ),
    );
  });
});

describe("usage", () => {
  it("belongs to the hour that it happened in", () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (time) => {
        const hour = hourOf(time);
        expect(hour % 3_600_000).toBe(0);
        expect(time - hour).toBeLessThan(3_600_000);
        expect(time).toBeGreaterThanOrEqual(hour);
      }),
    );
    expect(LIFE_MS).toBe(90 * 86_400_000);
  });

  it("is refused from more than a day ahead", () => {
    expect(reportedHour(NOW + 86_400_000, NOW).ok).toBe(true);
    expect(reportedHour(NOW + 86_400_001, NOW)).toMatchObject({ ok: false, code: "invalid_request" });
  });

  it("has the rate of what came from a cache, and 0 of nothing", () => {
    expect(hitRate({ cachedInputTokens: 0, uncachedInputTokens: 0 })).toBe(0);
    expect(hitRate({ cachedInputTokens: 3, uncachedInputTokens: 1 })).toBe(0.75);
  });
});
