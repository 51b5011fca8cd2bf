// Which documents a query means, said in three ways that must not differ.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import {
  CandidateFilter,
  type FilterRequest,
} from "../../../../durable-objects/user-memory/recall/candidate-filter.ts";
import { TombstoneRanges } from "../../../../durable-objects/user-memory/core/tombstone-ranges.ts";
import { MemoryDocuments } from "../../../../durable-objects/user-memory/memories/memory-documents.ts";
import { isMessage, SLOTS } from "../../../../durable-objects/user-memory/core/position.ts";
import { MessageDocuments } from "../../../../durable-objects/user-memory/threads/message-documents.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { patch, remember } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";
afterEach(restore);
const T0 = clock() + 3_600_000;
const opt = <T>(a: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: a });
it("one by one, some and all: the same documents match, whatever the conditions of a query", async () => {
  let checked = 0;
  let few = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          op: fc.constantFrom("new", "patch", "patch", "msg", "restore", "quar"),
          which: fc.nat(20),
          kind: fc.constantFrom("fact", "episode", "procedure"),
          from: opt(fc.integer({ min: -50, max: 50 })),
          to: opt(fc.integer({ min: 51, max: 120 })),
          exp: opt(fc.integer({ min: 1, max: 150 })),
          tag: fc.constantFrom("a", "b"),
          scope: opt(fc.constantFrom("s", "t")),
          pass: fc.nat(20),
        }),
        { minLength: 4, maxLength: 14 },
      ),
      fc.array(
        fc.record({
          kinds: opt(fc.subarray(["fact", "episode", "procedure", "message"] as const, { minLength: 1 })),
          roles: opt(fc.subarray(["user", "assistant"], { minLength: 1 })),
          filter: opt(
            fc.record(
              { tags: opt(fc.constant(["a"])), scope: opt(fc.constant(["s"])) },
              { requiredKeys: [] },
            ),
          ),
          ranges: opt(
            fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(4), fc.nat(5)), { maxLength: 2 }),
          ),
          asOf: opt(fc.integer({ min: -60, max: 200 })),
          validAt: opt(fc.integer({ min: -60, max: 200 })),
          validIn: opt(fc.array(fc.tuple(fc.integer({ min: -60, max: 200 }), fc.nat(40)), { maxLength: 2 })),
          now: fc.integer({ min: 0, max: 250 }),
        }),
        { minLength: 30, maxLength: 30 },
      ),
      async (ops, queries) => {
        const user = newUser();
        control.clockAt = T0;
        const ids: string[] = [];
        let thread = await create(user);
        for (const [i, o] of ops.entries()) {
          control.clockAt += o.pass;
          const when = {
            ...(o.from !== undefined && { validFrom: T0 + o.from }),
            ...(o.to !== undefined && { validTo: T0 + o.to }),
          };
          if (o.op === "msg") {
            if (o.which % 3 === 0) thread = await create(user);
            await append(
              thread.id,
              [say(`m ${o.which}`, o.which % 2 === 0 ? "user" : "assistant")],
              o.from === undefined ? {} : { createdAt: T0 + o.from },
            );
          } else if (o.op === "new" || ids.length === 0) {
            const r = await remember(user, {
              text: `text ${i}`,
              ...(o.kind === "procedure" && { title: "x" }),
              ...(o.kind === "fact" && o.which % 2 && { key: "k" + (o.which % 4) }),
              kind: o.kind,
              tags: [o.tag],
              ...when,
              ...(o.scope && { scope: o.scope }),
              ...(o.exp && { expiresAt: (control.clockAt ?? 0) + o.exp }),
              ...(o.which % 5 === 0 && { status: "quarantined" }),
            });
            // Some are refused: an end before the beginning.
            if (r.status < 300) ids.push(r.body.id);
          } else {
            const id = ids[o.which % ids.length] as string;
            await patch(user, id, {
              text: `text ${i}`,
              ...(o.exp && { expiresAt: (control.clockAt ?? 0) + o.exp }),
            });
          }
        }
        const end = control.clockAt ?? 0;
        await runInDurableObject(
          env.USER_MEMORY.getByName(await userHash(user)),
          (_, { storage: { sql } }) => {
            const all = sql
              .exec<{ n: number }>(
                "SELECT version AS n FROM memories UNION ALL SELECT position FROM messages WHERE role IS NOT NULL",
              )
              .toArray()
              .map((r) => r.n);
            const last = sql.exec<{ n: number }>("SELECT last_write AS n FROM memory_clock").one().n;
            const tables = {
              memories: new MemoryDocuments(sql),
              messages: new MessageDocuments(sql),
              tombstones: new TombstoneRanges(sql),
            };
            for (const q of queries) {
              const query = {
                ...(q.kinds && { kinds: [...q.kinds] }),
                ...(q.roles && { roles: [...q.roles] }),
                ...(q.filter && { filter: q.filter as NonNullable<FilterRequest["filter"]> }),
                ...(q.ranges && {
                  ranges: q.ranges.map(([t, a, b]) => [t * SLOTS + a, t * SLOTS + a + b] as const),
                }),
                moment: {
                  now: Math.max(end, last, T0 + q.now),
                  ...(q.asOf !== undefined && { asOf: T0 + q.asOf }),
                  ...(q.validAt !== undefined && { validAt: T0 + q.validAt }),
                  ...(q.validIn && {
                    validIn: q.validIn.map(([from, length]) => ({
                      from: T0 + from,
                      to: T0 + from + length + 1,
                    })),
                  }),
                },
              };
              // As many as there are count as few, and none.
              const m = new CandidateFilter(tables, query);
              const many = new CandidateFilter(tables, query, 0);
              const { memories, messages } = m.conditions;
              const by = [...tables.memories.where(memories), ...tables.messages.where(messages)];
              if (m.few !== null) few++;
              const sorted = (some: Iterable<number>) => [...some].toSorted((a, b) => a - b);
              for (const one of [m, many]) {
                expect(sorted(all.filter((n) => one.matches(n)))).toEqual(sorted(by));
                expect(sorted(one.matching(all))).toEqual(sorted(by));
              }
              const kinds = sql
                .exec<{ kind: string }>(
                  "SELECT kind FROM memories WHERE version IN (SELECT value FROM json_each(?))",
                  JSON.stringify(by),
                )
                .toArray()
                .map(({ kind }) => kind);
              if (by.some(isMessage)) kinds.push("message");
              for (const kind of kinds) expect(q.kinds ?? [kind]).toContain(kind);
              checked += by.length;
            }
          },
        );
      },
    ),
    { numRuns: 15 },
  );
  expect(checked).toBeGreaterThan(50);
  expect(few).toBeGreaterThan(50);
});
