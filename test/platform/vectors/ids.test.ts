import fc from "fast-check";
import { expect, it } from "vitest";
import { newThreadId, userHash } from "../../../src/domain/ids.ts";
import { threadOwner } from "../../../src/domain/thread-id.ts";
import { byteLength } from "../../../src/domain/limits.ts";
import { namespaceOf } from "../../../src/platform/vectors/namespace.ts";
import { modelTag, parseVectorId, vectorId } from "../../../src/platform/vectors/vector-id.ts";

const model = "@cf/baai/bge-base-en-v1.5";

it("spreads users over 1,000 namespaces", async () => {
  const users = await Promise.all(Array.from({ length: 20_000 }, (_, i) => userHash(`user-${i}`)));
  const sizes = new Map<string, number>();
  for (const user of users) sizes.set(namespaceOf(user), (sizes.get(namespaceOf(user)) ?? 0) + 1);
  expect(sizes.size).toBe(1000);
  expect([...sizes.keys()].every((name) => /^u\d{3}$/.test(name))).toBe(true);
  // Twenty are expected in each; a Poisson variable of that mean is above 50 once in 10^8.
  expect(Math.max(...sizes.values())).toBeLessThan(50);
});

it("gives a user the same namespace for ever", async () => {
  expect(namespaceOf(await userHash("alice"))).toBe("u249");
});

it("makes ids of any document within 64 bytes, and reads them back", async () => {
  const tag = await modelTag(model);
  expect(tag).toMatch(/^[A-Za-z0-9_-]{6}$/);
  const user = await userHash("alice");
  fc.assert(
    fc.property(fc.maxSafeNat(), (n) => {
      const id = vectorId(user, n, tag);
      expect(byteLength(id)).toBeLessThanOrEqual(46);
      expect(parseVectorId(id)).toEqual({ user, n, model: tag });
    }),
    { examples: [[0], [Number.MAX_SAFE_INTEGER]] },
  );
});

it("tells models apart, and remembers what it has hashed", async () => {
  const tags = await Promise.all([model, "static2-en-256", model].map(modelTag));
  expect(new Set(tags).size).toBe(2);
  expect(tags[0]).toBe(tags[2]);
});

it("reads nothing into ids that are not its own", async () => {
  const user = await userHash("alice");
  const strange = ["", user, `${user}.1`, `${user}.01.abcdef`, `${user}.-1.abcdef`, `${user}.1.abcde`];
  strange.push(`${user}.1.abcdef.`, `${user}.9007199254740992.abcdef`, `${user.slice(1)}.1.abcdef`);
  for (const id of [...strange, newThreadId(user, 0)]) expect(parseVectorId(id), id).toBeNull();
  expect(threadOwner(vectorId(user, 1, "abcdef"))).toBeNull();
});
