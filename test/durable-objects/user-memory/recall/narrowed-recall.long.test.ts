// A recall that is narrowed finds the memories that a list with the same conditions has: the object reads its own indexes,
// and the list reads D1.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { evict } from "../../../evict.ts";
import {
  forget,
  forgetWhere,
  list,
  listed,
  patch,
  remember,
  rememberMany,
  type Seen,
} from "../../../memory-calls.ts";

afterEach(restore);

const TAGS = ["a", "ü", `"quoted"`, "[1]", "a,b", "'; --", "null", "名"];
const SCOPES = ["home", "work", "übung", "['x']"];
const K = 100;

const content = fc.record(
  {
    text: fc.nat(40).map((i) => `the heron ${i} stands in the lake`),
    tags: fc.subarray(TAGS),
    scope: fc.constantFrom(...SCOPES),
    kind: fc.constantFrom("fact", "reflection"),
    externalId: fc.constantFrom("e1", "e2", "e3"),
    expiresAt: fc.constantFrom(1, 2).map((hours) => clock() + hours * 3_600_000),
  },
  { requiredKeys: ["text"] },
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("remember" as const), content }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("many" as const),
      contents: fc.array(content, { minLength: 2, maxLength: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("patch" as const), which: fc.nat(30), tags: fc.subarray(TAGS) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), which: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("forget where" as const), tag: fc.constantFrom(...TAGS) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "evict" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "wait" as const }) },
);

async function perform(user: string, one: typeof step extends fc.Arbitrary<infer Step> ? Step : never) {
  const nth = async (which: number) => {
    const there = await list(user);
    return there[which % Math.max(1, there.length)]?.id;
  };
  if (one.do === "remember") await remember(user, one.content);
  if (one.do === "many") await rememberMany(user, one.contents);
  if (one.do === "patch") {
    const id = await nth(one.which);
    if (id !== undefined) await patch(user, id, { tags: one.tags });
  }
  if (one.do === "forget") {
    const id = await nth(one.which);
    if (id !== undefined) await forget(user, id);
  }
  if (one.do === "forget where") await forgetWhere(user, { tags: [one.tag] });
  if (one.do === "evict") await evict(user);
  if (one.do === "wait") control.clockAhead += 1_900_000;
}

const conditions: { recall: object; list: string }[] = [
  ...TAGS.map((tag) => ({ recall: { tags: [tag] }, list: `tag=${encodeURIComponent(tag)}` })),
  ...SCOPES.map((scope) => ({ recall: { scope }, list: `scope=${encodeURIComponent(scope)}` })),
  { recall: { kinds: ["reflection"] }, list: "kind=reflection" },
  { recall: { kinds: ["fact", "reflection"], tags: ["a"] }, list: "tag=a" },
  { recall: { filter: { externalId: ["e1"] } }, list: "externalId=e1" },
];

it("a narrowed recall finds what a list with the same conditions has", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      control.clockAhead = 0;
      const user = newUser();
      for (const one of steps) await perform(user, one);
      for (const { recall: narrow, list: query } of conditions) {
        const { body: answer } = await call(`/v1/users/${user}/recall`, {
          json: { query: "the heron in the lake", k: K, ...narrow },
        });
        const { body } = await listed(user, `limit=${K}&${query}`);
        // Of equal texts, a recall shows one.
        const textsOf = (items: Seen[]) => [...new Set(items.map(({ text }) => text))].toSorted();
        expect(textsOf(answer.hits), `${JSON.stringify(narrow)} after ${JSON.stringify(steps)}`).toEqual(
          textsOf(body.items),
        );
      }
      const stored = await runInDurableObject(
        env.USER_MEMORY.getByName(await userHash(user)),
        (_, { storage: { sql } }) => ({
          tags: sql.exec("SELECT tag, version FROM memory_tags ORDER BY tag, version").toArray(),
          ofMemories: sql
            .exec(
              `SELECT DISTINCT value AS tag, version FROM memories, json_each(memories.tags)
               ORDER BY tag, version`,
            )
            .toArray(),
        }),
      );
      expect(stored.tags).toEqual(stored.ofMemories);
    }),
    { numRuns: 40, interruptAfterTimeLimit: 20_000 },
  );
});
