import type { Call } from "./load.ts";

export type Operation = {
  name: string;
  /** Calls before the counted ones, as `u` is a user of its own. */
  before?: (u: string) => Call[];
  calls: (u: string) => Call[];
  /** Items of one call: the row tells the cost of one of them. */
  items?: number;
  /** Milliseconds between two calls; unless set, each call has its own day. */
  apart?: number;
  /** Milliseconds after the last one. */
  after?: number;
};

const [MINUTE, DAY] = [60_000, 86_400_000];
/** Turns of a thread that share its note and the end of its session. */
const SITTING = 5;

export const post = (path: string, json: unknown, status = 200): Call => ({
  method: "POST",
  path,
  body: JSON.stringify(json),
  status,
});
export const times = <T>(n: number, make: (i: number) => T): T[] =>
  Array.from({ length: n }, (_, i) => make(i));

export const WORDS =
  "ferry island summer doctor lisbon train market cheese garden violin winter harbour".split(" ");
/** `characters` of a text that no other `i` has. */
export function text(i: number, characters = 90): string {
  const words: string[] = [`Note ${i}:`];
  for (let length = 8, n = i * 7; length < characters; n = n * 31 + 17) {
    const word = `${WORDS[Math.abs(n) % WORDS.length]}${Math.abs(n >> 5) % 97}`;
    words.push(word);
    length += word.length + 1;
  }
  return words.join(" ").slice(0, characters);
}
/** One of many that are much alike, so that a search has to look at most of them. */
const sentence = (i: number): string =>
  `Note ${i}: we should book the ${["ferry", "train", "flat", "doctor"][i % 4]} in ${["Lisbon", "March", "the evening"][i % 3]}.`;
const roleOf = (i: number): string => (i % 2 === 0 ? "user" : "assistant");

export const messages = (from: number, n: number, characters?: number) =>
  times(n, (i) => ({ role: roleOf(from + i), content: text(from + i, characters) }));
export const remember = (u: string, i: number): Call =>
  post(`/v1/users/${u}/memories`, { text: text(i) }, 201);
const rememberMany = (u: string, memories: object[]): Call =>
  post(`/v1/users/${u}/memories/batch`, { memories });
const put = (u: string, key: string, value: unknown): Call => ({
  method: "PUT",
  path: `/v1/users/${u}/kv/${encodeURIComponent(key)}`,
  body: JSON.stringify(value),
  status: 200,
});
export const recall = (u: string): Call =>
  post(`/v1/users/${u}/recall`, { query: "When do we book the ferry in Lisbon?" });
export const resume = (u: string): Call => post(`/v1/users/${u}/threads/resume`, { agent: "bench" }, 201);
export const ingest = (u: string, sessionId: string, said: object[]): Call =>
  post(`/v1/users/${u}/ingest`, { sessionId, messages: said, mode: "background" }, 202);

const first = (u: string): Call[] => [remember(u, 0)];
const thread = (u: string): Call[] => [resume(u)];
const entry = (u: string): Call[] => [put(u, "theme", 0)];

/** `threadOf`: the one that `before` made. */
export function operationsOf(threadOf: (u: string) => string): Operation[] {
  const append = (u: string, said: object[]): Call =>
    post(`/v1/threads/${threadOf(u)}/messages`, { messages: said }, 201);
  return [
    { name: "the first memory of a user", calls: first },
    { name: "a memory", before: first, calls: (u) => times(10, (i) => remember(u, i + 1)) },
    {
      name: "a fact with an object",
      before: first,
      calls: (u) =>
        times(10, (i) => {
          const fact = { subject: "user", predicate: "likes", object: `olives of kind ${i}` };
          return post(`/v1/users/${u}/memories`, fact, 201);
        }),
    },
    {
      name: "the same memory again",
      before: first,
      calls: (u) => times(10, () => ({ ...remember(u, 0), status: 200 })),
    },
    {
      name: "a memory of a batch of 500",
      before: first,
      calls: (u) => [
        rememberMany(
          u,
          times(500, (i) => ({ text: text(i + 1) })),
        ),
      ],
      items: 500,
    },
    { name: "a thread", before: first, calls: thread },
    {
      name: "an append of one message",
      before: thread,
      calls: (u) => times(SITTING, (i) => append(u, messages(i, 1))),
      apart: 2 * MINUTE,
    },
    {
      name: "an append of two messages",
      before: thread,
      calls: (u) => times(SITTING, (i) => append(u, messages(2 * i, 2))),
      apart: 2 * MINUTE,
    },
    {
      name: "a message of an append of ten",
      before: thread,
      calls: (u) => times(SITTING, (i) => append(u, messages(10 * i, 10))),
      items: 10,
      apart: 2 * MINUTE,
    },
    { name: "a new entry", before: entry, calls: (u) => times(10, (i) => put(u, `key ${i}`, i)) },
    { name: "an entry that changes", before: entry, calls: (u) => times(10, (i) => put(u, "theme", i + 1)) },
    { name: "the same entry again", before: entry, calls: (u) => times(10, () => put(u, "theme", 0)) },
    {
      name: "a turn of two, ingested",
      before: (u) => [ingest(u, "chat", messages(0, 2))],
      calls: (u) => times(SITTING, (i) => ingest(u, "chat", messages(0, 2 * i + 4))),
      apart: 2 * MINUTE,
    },
    {
      name: "a conversation of four, ingested",
      before: first,
      calls: (u) => times(5, (i) => ingest(u, `chat ${i}`, messages(4 * i, 4))),
    },
    {
      name: "a wait in quarantine that ends",
      before: (u) => [
        ...first(u),
        rememberMany(
          u,
          times(100, (i) => ({ text: text(i + 1), status: "quarantined" })),
        ),
      ],
      // The wait ends; the call itself finds nothing to do.
      calls: (u) => [{ method: "GET", path: `/v1/users/${u}/kv`, status: 200 }],
      items: 100,
      after: 33 * DAY,
    },
    {
      name: "a recall among 2,000 documents",
      before: (u) => [
        resume(u),
        ...times(3, (part) =>
          append(
            u,
            times(500, (i) => ({ role: roleOf(i), content: sentence(500 * part + i) })),
          ),
        ),
        rememberMany(
          u,
          times(500, (i) => ({ text: sentence(1_500 + i) })),
        ),
      ],
      calls: (u) => times(5, () => recall(u)),
    },
  ];
}
