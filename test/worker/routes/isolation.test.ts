// Two users are driven through random calls of the whole API, as its document describes it, with their own tokens and
// with each other's ids, keys, cursors and idempotency keys: nothing that one wrote may ever be in an answer to the other.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { type Answer, call, newUser, tokenWith } from "../../call.ts";
import { type Schema, shaped } from "../../shaped.ts";

type Parameter = { name: string; in: string; schema: Schema };
type Described = {
  parameters?: Parameter[];
  requestBody?: { content: { "application/json"?: { schema: Schema }; "application/x-ndjson"?: object } };
};
type Operation = Described & { method: string; path: string };
/** `marker` is in all that the user writes, and nobody else sends it. */
type User = { id: string; hash: string; marker: string; token: string };
/** The answers that anybody has had so far: ids of threads, memories and the like, and cursors. */
type Known = { ids: string[]; cursors: string[] };
/** `operation` by its name: what fails is to be read. */
type Step = { by: 0 | 1; of: 0 | 1; operation: string; seed: number; key: boolean };

const document = (await call("/openapi.json")).body;
const schemas: Record<string, Schema> = document.components.schemas;
const operations = new Map<string, Operation>(
  Object.entries<Record<string, Described>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([lower, described]): [string, Operation] => {
      const method = lower.toUpperCase();
      return [`${method} ${path}`, { ...described, method, path }];
    }),
  ),
);

/** Bodies that are sure to be taken, so that there is something to be found: most others are of the schemas alone. */
const sure: Record<string, (marker: string) => unknown> = {
  "POST /v1/users/{user}/memories": (marker) => ({ text: `${marker} likes tea`, tags: [marker] }),
  "POST /v1/users/{user}/recall": () => ({ query: "who likes tea?", k: 100 }),
  "POST /v1/users/{user}/threads": (marker) => ({ title: marker, agent: "planner" }),
  "POST /v1/users/{user}/threads/resume": () => ({ agent: "planner" }),
  "POST /v1/threads/{id}/messages": (marker) => ({ messages: [{ role: "user", content: `tea, ${marker}` }] }),
  "POST /v1/threads/{id}/compactions": (marker) => ({ summary: marker, to: 1 }),
  "PUT /v1/users/{user}/kv/{key}": (marker) => marker,
  "PUT /v1/cache/{key}": (marker) => marker,
  "POST /v1/users/{user}/kv/batch": () => ({ operations: [{ op: "get", key: "k1" }] }),
};

const steps = fc.array(
  fc.record({
    by: fc.constantFrom(0 as const, 1 as const),
    // Mostly one's own.
    of: fc.constantFrom(0 as const, 0 as const, 0 as const, 1 as const),
    operation: fc.oneof(fc.constantFrom(...operations.keys()), fc.constantFrom(...Object.keys(sure))),
    seed: fc.nat(),
    key: fc.boolean(),
  }),
  { minLength: 30, maxLength: 40 },
);

async function newcomer(): Promise<User> {
  const marker = `marker${crypto.randomUUID().replaceAll("-", "")}`;
  const id = newUser();
  return {
    id,
    hash: await userHash(id),
    marker,
    token: await tokenWith({ user: id, shared: ["shared:isolation"] }),
  };
}

/** One of what is drawn by the number. */
const drawn = <T>(arbitrary: fc.Arbitrary<T>, seed: number): T | undefined =>
  fc.sample(arbitrary, { seed, numRuns: 1 })[0];
const oneOf = <T>(all: readonly T[], seed: number): T | undefined => all[seed % Math.max(1, all.length)];

function requestOf(
  { operation, seed, key }: Step,
  { user, self, known }: { user: string; self: User; known: Known },
) {
  const { marker } = self;
  const described = operations.get(operation);
  if (described === undefined) throw new Error(`there is no ${operation} any more`);
  const { method, path, parameters = [], requestBody } = described;
  const given = { schemas, words: [marker, `${marker} likes tea`, "k1", "planner"] };
  const query = new URLSearchParams();
  for (const [i, { name, in: place, schema }] of parameters.entries()) {
    if (place !== "query" || (seed + i) % 3 !== 0) continue;
    const value = name === "cursor" ? oneOf(known.cursors, seed) : drawn(shaped(schema, given), seed + i);
    if (value !== undefined) query.set(name, JSON.stringify(value).replaceAll(/^"|"$/g, ""));
  }
  const filled = path
    .replace("{user}", encodeURIComponent(user))
    .replace("{seq}", "1")
    .replace("{key}", oneOf(["k1", "k2"], seed) ?? "")
    .replaceAll(/\{\w+\}/g, () => encodeURIComponent(oneOf(known.ids, seed) ?? "none"));
  const certain = seed % 4 === 0 ? undefined : sure[operation];
  const schema = requestBody?.content["application/json"]?.schema;
  const json = certain?.(marker) ?? (schema && drawn(shaped(schema, given), seed));
  const lines = requestBody?.content["application/x-ndjson"] && exportOf(self);
  return {
    path: query.size > 0 && certain === undefined ? `${filled}?${query.toString()}` : filled,
    method,
    ...(lines ? { raw: lines } : requestBody && { json: json ?? marker }),
    headers: {
      ...(key && { "Idempotency-Key": "the-same-for-all" }),
      ...(lines && { "Content-Type": "application/x-ndjson" }),
    },
  };
}

/** A file that the user may import anywhere: an entry with its marker. */
const exportOf = ({ id, hash, marker }: User): string =>
  [
    { format: "cairn-export", version: 1, userId: id, userHash: hash },
    { type: "entry", key: "k1", version: crypto.randomUUID(), updatedAt: 1, value: marker },
    { type: "end", lines: 3 },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

function learn(known: Known, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner !== "string") learn(known, inner);
    else if (/^(id|threadId|leaseId)$/.test(name)) known.ids.push(inner);
    else if (name === "cursor") known.cursors.push(inner);
  }
}

const tracesOf = (marker: string, { text, headers }: Answer): boolean =>
  text.includes(marker) || [...headers].some(([, value]) => value.includes(marker));

it("leaves no trace of one user in an answer to another, over any calls of the whole API", async () => {
  const reached = new Set<string>();
  let ownSeen = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const users = [await newcomer(), await newcomer()] as const;
      const known: Known = { ids: [], cursors: [] };
      for (const step of all) {
        const [self, other] = [users[step.by], users[step.by === 0 ? 1 : 0]];
        const owner = step.of === 0 ? self : other;
        const { path, ...request } = requestOf(step, { user: owner.id, self, known });
        const answer = await call(path, { ...request, token: self.token });
        learn(known, answer.body);
        if (answer.status < 300) reached.add(step.operation);
        if (tracesOf(self.marker, answer)) ownSeen++;
        const trace = tracesOf(other.marker, answer);
        expect({ trace, call: `${request.method} ${path}`, text: trace ? answer.text : "" }).toMatchObject({
          trace: false,
        });
      }
      // And not by looking for it.
      for (const [self, other] of [users, [users[1], users[0]] as const]) {
        const query = { json: { query: other.marker, k: 100 }, token: self.token };
        expect(tracesOf(other.marker, await call(`/v1/users/${self.id}/recall`, query))).toBe(false);
      }
    }),
    { numRuns: 8 },
  );
  // Otherwise every call may have failed. Far fewer than any draw reaches (30 of own, 25 operations).
  expect(ownSeen).toBeGreaterThan(5);
  expect(reached.size).toBeGreaterThan(10);
});
