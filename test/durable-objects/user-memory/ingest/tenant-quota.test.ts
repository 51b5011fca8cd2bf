// The calls of the language model that all users of a tenant share in a day.
import { afterEach, expect, it } from "vitest";
import { ModelRefusal } from "../../../../src/platform/models/language-model.ts";
import { tenantModelQuotaOf, quotaProblems } from "../../../../src/platform/quotas.ts";
import { newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { type Reply, ScriptedModel } from "../../../doubles/language-models.ts";
import { ingested, readIngest, ring, user } from "./calls.ts";

afterEach(restore);

const DAY = 24 * 60 * 60_000;
const given = { messages: [user("I get up early.")], extract: ["facts"] };
let days = 0;

/** A day of its own, as all users of the tenant share its count, and the model that answers nothing. */
function newDay(quota: { calls?: number; tokens?: number }, ...replies: Reply[]): ScriptedModel {
  control.clockAhead += 10 * ++days * DAY;
  control.tenantModelQuota = { calls: quota.calls ?? null, tokens: quota.tokens ?? null };
  const model = new ScriptedModel(...replies, { facts: [] });
  control.languageModel = model;
  return model;
}

it("lets an ingest wait once other users have made the calls of the day", async () => {
  const model = newDay({ calls: 1 });
  expect(await ingested(newUser(), given)).toMatchObject({ status: "done" });
  const owner = newUser();
  const { id, ...waiting } = await ingested(owner, given);
  expect(waiting).toMatchObject({ status: "queued", why: "tenant_quota", usage: { calls: 0 } });
  expect(model.asked).toHaveLength(1);
  control.clockAhead += DAY;
  await ring(owner);
  expect(await readIngest(id)).toMatchObject({ status: "done" });
});

it("lets no call pass beyond the quota, however many users ask at the same time", async () => {
  const model = newDay({ calls: 3 });
  const results = await Promise.all(Array.from({ length: 8 }, () => ingested(newUser(), given)));
  expect(model.asked).toHaveLength(3);
  expect(results.filter(({ why }) => why === "tenant_quota")).toHaveLength(5);
});

it("bounds the tokens of all users too", async () => {
  const model = newDay({ tokens: 200 });
  // A call takes 110.
  const results = [];
  for (let i = 0; i < 3; i++) results.push(await ingested(newUser(), given));
  expect(results.map(({ status }) => status)).toEqual(["done", "done", "queued"]);
  expect(model.asked).toHaveLength(2);
});

it("counts a second question after a wrong answer, and no call that was refused at no cost", async () => {
  const model = newDay({ calls: 2 }, new ModelRefusal("settings", "401"), "Sure!");
  expect(await ingested(newUser(), given)).toMatchObject({ why: "model_misconfigured" });
  expect(await ingested(newUser(), given)).toMatchObject({ status: "done", usage: { calls: 2 } });
  expect(await ingested(newUser(), given)).toMatchObject({ why: "tenant_quota" });
  expect(model.asked).toHaveLength(3);
});

it("lets an ingest wait for 0:00 UTC once the account's neurons of the day are used up, and counts no call", async () => {
  const used = new ModelRefusal("day", "4006: you have used up your daily free allocation of 10,000 neurons");
  const model = newDay({ calls: 1 }, used);
  const owner = newUser();
  const { id, ...waiting } = await ingested(owner, given);
  expect(waiting).toMatchObject({ status: "queued", why: "model_daily_limit", usage: { calls: 0 } });
  const MINUTE = 60_000;
  control.clockAhead += DAY - (clock() % DAY) - MINUTE;
  await ring(owner);
  expect(await readIngest(id)).toMatchObject({ status: "queued" });
  expect(model.asked).toHaveLength(1);
  control.clockAhead += MINUTE;
  await ring(owner);
  expect(await readIngest(id)).toMatchObject({ status: "done", usage: { calls: 1 } });
  expect(model.asked).toHaveLength(2);
});

it("asks no model while D1 does not count", async () => {
  const model = newDay({ calls: 1 });
  control.modelQuota = { calls: 1, tokens: null };
  control.tenantModelUsage = "fail";
  const owner = newUser();
  const { id, ...waiting } = await ingested(owner, given);
  expect(waiting).toMatchObject({ status: "queued", why: "storage" });
  expect(model.asked).toEqual([]);
  control.tenantModelUsage = "ok";
  control.clockAhead += 2 * 60_000;
  await ring(owner);
  expect(await readIngest(id)).toMatchObject({ status: "done", usage: { calls: 1 } });
});

it("uses an answer whose tokens D1 does not count", async () => {
  newDay({ tokens: 200 });
  class Breaking extends ScriptedModel {
    override generate(...request: Parameters<ScriptedModel["generate"]>) {
      control.tenantModelUsage = "fail";
      return super.generate(...request);
    }
  }
  control.languageModel = new Breaking({ facts: [] });
  expect(await ingested(newUser(), given)).toMatchObject({ status: "done", usage: { calls: 1 } });
});

it("holds where nobody set it, and where it is no number", () => {
  const standard = { calls: 10_000, tokens: 20_000_000 };
  expect(tenantModelQuotaOf({})).toEqual(standard);
  const wrong = { QUOTA_TENANT_MODEL_CALLS: "many", QUOTA_TENANT_MODEL_TOKENS: "-1" };
  expect(tenantModelQuotaOf(wrong)).toEqual(standard);
  expect(quotaProblems(wrong)).toEqual([
    "QUOTA_TENANT_MODEL_CALLS is neither a whole number nor none: the default holds",
    "QUOTA_TENANT_MODEL_TOKENS is neither a whole number nor none: the default holds",
  ]);
  const none = { QUOTA_TENANT_MODEL_CALLS: "none", QUOTA_TENANT_MODEL_TOKENS: "7" };
  expect(tenantModelQuotaOf(none)).toEqual({ calls: null, tokens: 7 });
  expect(quotaProblems(none)).toEqual([]);
});
