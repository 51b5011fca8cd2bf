// The rows of storage that standing instructions cost, by the platform's own counters: docs/reference/context.md says how many.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { newUser } from "../../../call.ts";
import { append, create, say } from "../../../thread-calls.ts";
import { context } from "./calls.ts";

type Rows = { read: number; written: number };

/** The rows of the user's object that a call reads and writes. */
async function rowsOf(user: string, act: () => Promise<unknown>): Promise<Rows> {
  const object = env.USER_MEMORY.getByName(await userHash(user));
  const cursors: { rowsRead: number; rowsWritten: number }[] = [];
  const spy = await runInDurableObject(object, (_, { storage }) => {
    const proto = Object.getPrototypeOf(storage.sql) as SqlStorage;
    const exec = Reflect.get<SqlStorage, "exec">(proto, "exec");
    return vi.spyOn(proto, "exec").mockImplementation(function (this: SqlStorage, ...given) {
      const cursor = exec.apply(this, given);
      cursors.push(cursor);
      return cursor;
    });
  });
  await act();
  spy.mockRestore();
  return runInDurableObject(object, () => ({
    read: cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
    written: cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0),
  }));
}

/** A user with so many instructions among ten messages: the rows of their append, and of a context with a thread and without. */
async function costOf(marked: number): Promise<{ append: Rows; alone: Rows; inThread: Rows }> {
  const user = newUser();
  const [{ id }, { id: threadId }] = [await create(user), await create(user)];
  const messages = Array.from({ length: 10 }, (_, i) =>
    say(i < marked ? `Always name park ${i} when I ask about walks.` : `Today I saw park ${i} on a walk.`),
  );
  const layers = [{ type: "instructions" }];
  const appended = await rowsOf(user, () => append(id, messages));
  const alone = await rowsOf(user, () => context(user, { layers }));
  await context(user, { layers, threadId });
  const inThread = await rowsOf(user, () => context(user, { layers, threadId }));
  return { append: appended, alone, inThread };
}

it("write one row, and read up to 4 in a context, or up to 10 with a thread's block", async () => {
  const [none, five] = [await costOf(0), await costOf(5)];
  expect(five.append.written - none.append.written).toBe(5);
  expect(five.append.read).toBe(none.append.read);
  expect(five.alone.read - none.alone.read).toBeGreaterThan(5);
  expect(five.alone.read - none.alone.read).toBeLessThanOrEqual(4 * 5);
  expect(five.inThread.read - none.inThread.read).toBeLessThanOrEqual(10 * 5);
});
