import { d1Result } from "../../platform/d1/d1-result.ts";
import { decodeCursor, encodeCursor } from "../../domain/cursor.ts";
import { ok, type Result } from "../../domain/errors.ts";
import type { Retention, RetentionCounts, TenantRetention } from "../../domain/schema/retention.ts";
import type { Services } from "../services.ts";
import { RETENTION, someAtOnce, startPass } from "./upkeep.ts";

type Needs = Pick<Services, "retention" | "jobs" | "records" | "userMemory" | "now">;

/** The name of a dry run in cursors. */
const LIST = "retention";
/** Users that one call of a dry run counts. */
const COUNTED = 100;

/** The tenant's rules, and how many users know them. */
export async function tenantRetention({ retention, jobs }: Needs): Promise<Result<TenantRetention>> {
  const read = await d1Result(() => Promise.all([retention.get(), jobs.get(RETENTION)]));
  if (!read.ok) return read;
  const [rules, job] = read.value;
  const isDone = job?.finishedAt != null && job.detail === JSON.stringify(rules);
  const isSet = Object.keys(rules).length > 0;
  if (job === undefined) return ok({ rules, status: isSet ? "running" : "none", users: 0 });
  return ok({ rules, status: isDone ? "done" : "running", users: job.done });
}

/** Stores the rules; the cron tells each user's object. */
export async function setTenantRetention(needs: Needs, rules: Retention): Promise<Result<TenantRetention>> {
  // The cron compares both: it starts the pass that a failure between the two leaves out.
  const stored = await d1Result(async () => {
    await needs.retention.put(rules);
    await startPass(needs, RETENTION, JSON.stringify(rules));
  });
  return stored.ok ? tenantRetention(needs) : stored;
}

/** Counts what rules would delete of the next users. */
export async function previewTenantRetention(
  { records, userMemory }: Needs,
  rules: Retention,
  cursor?: string,
): Promise<Result<TenantRetention>> {
  const after = decodeCursor(LIST, cursor, ["string"]);
  if (!after.ok) return after;
  const page = { limit: COUNTED + 1, ...(after.value && { after: after.value[0] }) };
  const read = await d1Result(() => records.owners(page));
  if (!read.ok) return read;
  const owners = read.value.slice(0, COUNTED);
  const due: RetentionCounts = { threads: 0, messages: 0, memories: 0 };
  await someAtOnce(owners, async (owner) => {
    const view = await userMemory(owner).retention({ tenant: rules });
    due.threads += view.due.threads;
    due.messages += view.due.messages;
    due.memories += view.due.memories;
  });
  const last = owners.at(-1);
  const more = read.value.length > COUNTED && last !== undefined;
  return ok({
    rules,
    status: "none",
    users: owners.length,
    due,
    ...(more && { cursor: encodeCursor(LIST, [last]) }),
  });
}
