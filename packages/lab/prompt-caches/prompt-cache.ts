// A provider's prompt cache, simulated: which of a prompt's tokens it reads from its cache, and what it bills.

/** Characters of a token. All prompts are counted alike, so that a comparison does not depend on a tokenizer. */
export const CHARACTERS_A_TOKEN = 4;

/** A prompt as a provider reads it. */
export type SentPrompt = {
  text: string;
  /** The characters before each place that is marked to be cached up to, the last one at the end. */
  breakpoints: readonly number[];
  /** Milliseconds since the epoch. */
  at: number;
};

export type CacheRules = {
  /** Milliseconds from its last use until a cached beginning is gone. */
  lifetimeMs: number;
  /** A shorter beginning is not cached. */
  minTokens: number;
  /** The ends of cached beginnings: at a breakpoint of its prompt, or after any multiple of so many tokens. */
  ends: "breakpoints" | { everyTokens: number };
};

/** Dollars per million input tokens. */
export type Prices = { input: number; read: number; write: number };

/** Input tokens of a prompt: all, those read from the cache, and those written to it at the price of a write. */
export type Usage = { input: number; read: number; written: number };

/** Remembers what was sent within the lifetime. A use refreshes what it used. Prompts have to come in the order of their times. */
export class PromptCache {
  readonly #rules: CacheRules;
  /** The time of the last use of each cached beginning. */
  readonly #cached = new Map<string, number>();

  constructor(rules: CacheRules) {
    this.#rules = rules;
  }

  send({ text, breakpoints, at }: SentPrompt): Usage {
    const { lifetimeMs, minTokens, ends } = this.#rules;
    for (const [beginning, usedAt] of this.#cached)
      if (at - usedAt > lifetimeMs) this.#cached.delete(beginning);
    const reusable = Array.from(this.#cached.keys(), (beginning) => this.#reusable(text, beginning));
    const longest = Math.max(0, ...reusable);
    const read = longest < minTokens ? 0 : longest;
    const places = ends === "breakpoints" ? breakpoints : [text.length];
    const stored = places.filter((place) => wholeTokens(place) >= minTokens);
    for (const place of stored) this.#cached.set(text.slice(0, place), at);
    const upTo = Math.max(read, ...stored.map(wholeTokens));
    return { input: Math.ceil(text.length / CHARACTERS_A_TOKEN), read, written: upTo - read };
  }

  /** Tokens of a cached beginning that the prompt begins with too. */
  #reusable(text: string, beginning: string): number {
    const { ends } = this.#rules;
    if (ends === "breakpoints") return text.startsWith(beginning) ? wholeTokens(beginning.length) : 0;
    const tokens = wholeTokens(commonLength(text, beginning));
    return tokens - (tokens % ends.everyTokens);
  }
}

/** Dollars of a prompt's input tokens. */
export const dollarsOf = ({ input, read, written }: Usage, prices: Prices): number =>
  (read * prices.read + written * prices.write + (input - read - written) * prices.input) / 1_000_000;

/** The sum of several prompts' tokens. */
export const totalOf = (usages: readonly Usage[]): Usage =>
  usages.reduce(
    (sum, { input, read, written }) => ({
      input: sum.input + input,
      read: sum.read + read,
      written: sum.written + written,
    }),
    { input: 0, read: 0, written: 0 },
  );

/** The part of the input tokens that came from the cache, 0 to 1. */
export const cachedShare = ({ input, read }: Usage): number => (input === 0 ? 0 : read / input);

const wholeTokens = (characters: number): number => Math.floor(characters / CHARACTERS_A_TOKEN);

/** Characters that two texts have in common at their beginning. */
export function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  // Whole stretches first: prompts are long, and mostly equal.
  let at = 0;
  while (at < most && one.slice(at, at + 1024) === other.slice(at, at + 1024)) at += 1024;
  at = Math.min(at, most);
  while (at < most && one[at] === other[at]) at++;
  return at;
}
