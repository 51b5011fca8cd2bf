import type { Call, Client } from "./load.ts";

export type Operation = {
  name: string;
  next: (i: number) => Call;
  /** Checks the answer's JSON, so that no server is measured at doing something else. */
  check: (answer: string) => boolean;
  /** The operation over less data that this one should be as fast as. */
  flatAgainst?: string;
  /** It leaves work behind that is done after the answer: its rounds are long enough to pay for some of it. */
  settles?: boolean;
  /** So many first calls, each of another user, make a round, and the objects are evicted before the next one. */
  cold?: number;
};
export type Sizes = { thread: number; entries: number };

const BATCH = 1000;
const PAGE = 50;
const SMALL = { thread: 100, entries: 1000 };

export const message = (i: number) => ({
  role: i % 2 === 0 ? "user" : "assistant",
  content: `Message ${i}: we should book the ferry to the island before the summer holidays begin, seats go fast.`,
});
export const value = (i: number): string =>
  JSON.stringify({ step: i, plan: "book the ferry to the island", done: false, notes: "x".repeat(100) });
export const key = (i: number): string => `group-${Math.floor(i / PAGE)}/entry-${i % PAGE}`;

const put = (path: string, i: number): Call => ({ method: "PUT", path, body: value(i), status: 200 });
const get = (path: string): Call => ({ method: "GET", path, status: 200 });
const entryPath = (user: string, name: string): string => `/v1/users/${user}/kv/${encodeURIComponent(name)}`;
const append = (thread: string, messages: object[]): Call => ({
  method: "POST",
  path: `/v1/threads/${thread}/messages`,
  body: JSON.stringify({ messages }),
  status: 201,
});
const lastPage = (thread: string): Call => get(`/v1/threads/${thread}/messages?limit=${PAGE}`);
const prefixed = (user: string, i: number): Call =>
  get(`/v1/users/${user}/kv?limit=${PAGE}&prefix=${encodeURIComponent(`group-${i}/`)}`);

const holdsPage = (answer: string): boolean =>
  (JSON.parse(answer) as { items: unknown[] }).items.length === PAGE;
const holdsValue = (answer: string): boolean => answer.includes("book the ferry");
const holdsVersion = (answer: string): boolean => "version" in (JSON.parse(answer) as object);
const holdsLength = (answer: string): boolean => "length" in (JSON.parse(answer) as object);

/** Fills one server with what the operations read, and answers the operations on it. */
export async function prepare(client: Client, large: Sizes): Promise<Operation[]> {
  for (const [user, count] of [
    ["small", SMALL.entries],
    ["large", large.entries],
  ] as const)
    await client.run((i) => put(entryPath(user, key(i)), i), { ms: 300_000, calls: count });
  for (let i = 0; i < 100; i++) await client.call(put(`/v1/cache/cached-${i}`, i));
  const short = await newThread(client, "short", SMALL.thread);
  const long = await newThread(client, "long", large.thread);
  const growing = await newThread(client, "growing", 0);
  return [
    { name: "KV get", next: (i) => get(entryPath("small", key(i % SMALL.entries))), check: holdsValue },
    { name: "KV put", next: (i) => put(entryPath("put", key(i % SMALL.entries)), i), check: holdsVersion },
    {
      name: "append of one message",
      next: (i) => append(growing, [message(i)]),
      check: holdsLength,
      settles: true,
    },
    { name: `last ${PAGE} of ${count(SMALL.thread)}`, next: () => lastPage(short), check: holdsPage },
    {
      name: `last ${PAGE} of ${count(large.thread)}`,
      next: () => lastPage(long),
      check: holdsPage,
      flatAgainst: `last ${PAGE} of ${count(SMALL.thread)}`,
    },
    { name: "cache get", next: (i) => get(`/v1/cache/cached-${i % 100}`), check: holdsValue },
    {
      name: `list ${PAGE} of ${count(SMALL.entries)}`,
      next: (i) => prefixed("small", i % (SMALL.entries / PAGE)),
      check: holdsPage,
    },
    {
      name: `list ${PAGE} of ${count(large.entries)}`,
      next: (i) => prefixed("large", i % (large.entries / PAGE)),
      check: holdsPage,
      flatAgainst: `list ${PAGE} of ${count(SMALL.entries)}`,
    },
  ];
}

const count = (n: number): string => n.toLocaleString("en-US");

async function newThread(client: Client, user: string, length: number): Promise<string> {
  const made = await client.call({
    method: "POST",
    path: `/v1/users/${user}/threads`,
    body: "{}",
    status: 201,
  });
  const { id } = JSON.parse(made) as { id: string };
  for (let start = 0; start < length; start += BATCH) {
    const messages = Array.from({ length: Math.min(BATCH, length - start) }, (_, i) => message(start + i));
    await client.call(append(id, messages));
  }
  return id;
}
