// D1 counts a call of the language model too late, or fails after it has: the count is that of the calls that were made.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { ModelUsage } from "../../../../durable-objects/user-memory/ingest/model-usage.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { D1TenantModelUsage } from "../../../../src/platform/d1/tenant-model-usage.ts";
import { newUser } from "../../../call.ts";
import { remember } from "../../../memory-calls.ts";

const NONE = { calls: null, tokens: null };

it("takes a call back that D1 counts after nobody waits for it any more", async () => {
  const owner = newUser();
  await remember(owner, { text: "The object has its tables." });
  const late = Promise.withResolvers<boolean>();
  const ended: number[] = [];
  const tenant = {
    of: async () => ({ calls: 0, tokens: 0 }),
    begin: () => late.promise,
    end: async (_: number, { calls }: { calls: number }) => void ended.push(calls),
  };
  await runInDurableObject(
    env.USER_MEMORY.getByName(await userHash(owner)),
    async (_, { storage: { sql } }) => {
      const usage = new ModelUsage({ sql, quota: NONE, tenant });
      const never = () => Promise.reject(new Error("the model is asked"));
      expect(await usage.count(() => 0, never)).toMatchObject({ why: "storage" });
      expect(usage.of(0)).toMatchObject({ calls: 0 });
      late.resolve(true);
      await expect.poll(() => ended).toEqual([-1]);
    },
  );
});

it("lets a call pass that is counted, though old counts cannot be deleted", async () => {
  const day = 70_000;
  const withoutDelete: Pick<D1Database, "prepare"> = {
    prepare: (sql) => {
      if (sql.startsWith("DELETE")) throw new Error("D1 is away");
      return env.DB.prepare(sql);
    },
  };
  // It prepares statements only.
  const usage = new D1TenantModelUsage(withoutDelete as D1Database, { calls: 1, tokens: null });
  expect(await usage.begin(day)).toBe(true);
  expect(await usage.begin(day)).toBe(false);
});
