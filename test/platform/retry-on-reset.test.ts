import { expect, it } from "vitest";
import { retryOnReset } from "../../src/platform/retry-on-reset.ts";

/** Fails so many times, and counts how often it is called. */
function failing(times: number, error: Error) {
  const calls = { n: 0 };
  const call = async () => {
    calls.n++;
    if (calls.n <= times) throw error;
    return "answered";
  };
  return { calls, call };
}

it("asks again until the object is back, once a wait, and passes the last failure on", async () => {
  const twice = failing(2, new Error("gone"));
  expect(await retryOnReset(twice.call, [0, 0, 0])).toBe("answered");
  expect(twice.calls.n).toBe(3);
  const always = failing(9, new Error("gone for good"));
  await expect(retryOnReset(always.call, [0, 0])).rejects.toThrow("gone for good");
  expect(always.calls.n).toBe(3);
});

it("does not ask an object again that has too much to do", async () => {
  const overloaded = failing(1, Object.assign(new Error("too much"), { overloaded: true }));
  await expect(retryOnReset(overloaded.call, [0])).rejects.toThrow("too much");
  expect(overloaded.calls.n).toBe(1);
});

it.each([
  "D1_ERROR: D1 DB is overloaded. Too many requests queued.",
  "Your account has exceeded D1's free tier limit of rows",
])("does not ask again after %j", async (message) => {
  const failed = failing(1, new Error("wrapped", { cause: new Error(message) }));
  await expect(retryOnReset(failed.call, [0])).rejects.toThrow("wrapped");
  expect(failed.calls.n).toBe(1);
});

it.each([TypeError, RangeError, ReferenceError, SyntaxError])(
  "does not repeat a call that fails with a %o",
  async (Bug) => {
    const broken = failing(1, new Bug("x is not a function"));
    await expect(retryOnReset(broken.call, [0, 0])).rejects.toThrow("x is not a function");
    expect(broken.calls.n).toBe(1);
  },
);
