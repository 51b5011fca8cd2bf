import type { CacheRules, Prices } from "./prompt-caches/prompt-cache.ts";

export type Model = { name: string; provider: string; rules: CacheRules; prices: Prices };

const MINUTE_MS = 60_000;

/**
 * One or two current models of each provider. Prices are standard ones in dollars per million input tokens, for short prompts.
 * From copies of the providers' public pages of September to November 2026; check them.
 */
export const models: readonly Model[] = [
  {
    // platform.claude.com/docs/en/about-claude/pricing, and /docs/en/build-with-claude/prompt-caching: a write costs 1.25
    // times the input, a read 0.1 times. Sonnet caches from 1,024 tokens on. A hit needs a place that an earlier prompt marked.
    name: "Claude Sonnet 5",
    provider: "Anthropic",
    rules: { lifetimeMs: 5 * MINUTE_MS, minTokens: 1_024, ends: "breakpoints" },
    prices: { input: 2, read: 0.2, write: 2.5 },
  },
  {
    // developers.openai.com/api/docs/models/gpt-6.2-sol, and /api/docs/guides/prompt-caching: from GPT-5.6 on, a write costs
    // 1.25 times the input, for 30 minutes, and a hit ends at a breakpoint. By default one is at the end of the last message.
    name: "GPT-6.2 Sol",
    provider: "OpenAI",
    rules: { lifetimeMs: 30 * MINUTE_MS, minTokens: 1_024, ends: "breakpoints" },
    prices: { input: 2, read: 0.1, write: 2.5 },
  },
  {
    // The same guide, of models before GPT-5.6: a hit has 1,024 tokens and then steps of 128, and a write costs nothing extra.
    // An entry stays for 5 to 10 minutes without a use.
    name: "GPT-5.4",
    provider: "OpenAI",
    rules: { lifetimeMs: 5 * MINUTE_MS, minTokens: 1_024, ends: { everyTokens: 128 } },
    prices: { input: 2.5, read: 0.25, write: 2.5 },
  },
  {
    // ai.google.dev/gemini-api/docs/pricing (through December 2026) and /caching: implicit caching from 4,096 tokens on, read
    // at a tenth. Google promises no hit and names no lifetime: five minutes are an assumption.
    name: "Gemini 3.8 Flash",
    provider: "Google",
    rules: { lifetimeMs: 5 * MINUTE_MS, minTokens: 4_096, ends: { everyTokens: 1 } },
    prices: { input: 0.75, read: 0.075, write: 0.75 },
  },
];
