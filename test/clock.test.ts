// The clock that the tests give to the Worker.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { userHash } from "../src/domain/ids.ts";
import { newUser } from "./call.ts";
import { clock, control, restore, START } from "./doubles/control.ts";
import { fromNow } from "./from-now.ts";
import { append, create, say } from "./thread-calls.ts";

afterEach(restore);

it("is later at each reading, stands where a test stops it, and goes on where it was", () => {
  const [first, second] = [clock(), clock()];
  expect(second).toBe(first + 1);
  control.clockAt = clock();
  expect([clock(), clock()]).toEqual([control.clockAt, control.clockAt]);
  restore();
  expect(clock()).toBeGreaterThan(second);
});

it("is so far from the real one that no alarm rings by itself", async () => {
  const user = newUser();
  const { id } = await create(user);
  await append(id, [say("about herons")]);
  const object = env.USER_MEMORY.getByName(await userHash(user));
  const alarm = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
  expect(alarm).toBeGreaterThan(START);
  expect(START).toBeGreaterThan(fromNow(365 * 86_400_000));
});

it("gives no time that is near the real one", () => {
  expect(() => fromNow(1000)).toThrow("a busy machine");
});
