// Rows that a call reads, by the platform's own counters. `npm run bench -- --rows` counts those of a whole day.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { remember, rememberMany } from "../../../memory-calls.ts";

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));

type Cursor = { rowsRead: number };
let cursors: Cursor[] = [];
let undo = (): void => {};

beforeAll(async () => {
  await runInDurableObject(await objectOf(newUser()), (_, { storage }) => {
    // All objects share the prototype.
    const proto = Object.getPrototypeOf(storage.sql) as { exec: (...given: unknown[]) => Cursor };
    const { exec } = proto;
    proto.exec = function (...given) {
      const cursor = Reflect.apply(exec, this, given);
      cursors.push(cursor);
      return cursor;
    };
    undo = () => void (proto.exec = exec);
  });
});
afterAll(() => undo());

/** A cursor is readable in its own object only: those of another, whose alarm rang meanwhile, are left out. */
const rowsRead = async (user: string, of: readonly Cursor[]): Promise<number> =>
  runInDurableObject(await objectOf(user), () => of.reduce((sum, cursor) => sum + rowsOf(cursor), 0));

function rowsOf(cursor: Cursor): number {
  try {
    return cursor.rowsRead;
  } catch {
    return 0;
  }
}

it("a fact reads as few rows of a subject with 1,000 facts as of one with two", async () => {
  const fact = (predicate: string, object: string) => ({ subject: "user", predicate, object });
  const read = async (user: string, json: object): Promise<number> => {
    cursors = [];
    expect((await remember(user, json)).status).toBe(201);
    return rowsRead(user, cursors);
  };
  const fill = async (count: number, of: (i: number) => object): Promise<string> => {
    const user = newUser();
    for (let i = 0; i < count; i += 500)
      await rememberMany(
        user,
        Array.from({ length: Math.min(500, count - i) }, (_, at) => of(i + at)),
      );
    return user;
  };
  const few = await read(await fill(2, (i) => fact(`verb ${i}`, `thing ${i}`)), fact("likes", "olives"));
  const many = {
    predicates: (i: number) => fact(`verb ${i}`, `thing ${i}`),
    objects: (i: number) => fact("likes", `thing ${i}`),
  };
  for (const [name, of] of Object.entries(many)) {
    const user = await fill(1_000, of);
    // Also a fact with an opposite, and one of one.
    for (const json of [fact("likes", "olives"), fact("dislikes", "olives"), fact("lives in", "Porto")])
      expect.soft(await read(user, json), `${name}: ${json.predicate}`).toBeLessThanOrEqual(few + 40);
  }
});

it("reads nothing of what is live for the count of what waits in quarantine", async () => {
  const many = (count: number, more: object) =>
    rememberMany(
      user,
      Array.from({ length: count }, (_, i) => ({ text: `${JSON.stringify(more)} ${i}`, ...more })),
    );
  const read = async (act: () => Promise<unknown>): Promise<number> => {
    cursors = [];
    await act();
    return rowsRead(user, cursors);
  };
  const user = newUser();
  for (const live of [1, 2, 3]) await many(500, { tags: [`${live}`] });
  const summary = () => call(`/v1/users/${user}/summary`);
  const without = await read(summary);
  await many(3, { status: "quarantined" });
  // The count of memories reads these three, too.
  expect(await read(summary)).toBeLessThanOrEqual(without + 3 + 12);
});
