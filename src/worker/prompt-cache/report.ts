import { decodeCursor, encodeCursor } from "../../domain/cursor.ts";
import { ok, type Result } from "../../domain/errors.ts";
import type { ReportBody, Stats, StatsQuery } from "../../domain/schema/prompt-cache.ts";
import type { Services } from "../services.ts";
import { hitRate, hourOf, reportedHour } from "../../domain/prompt-cache/usage.ts";
import type { IdempotencyKey } from "../../contract/storage.ts";
import type { UsageKey } from "../../contract/prompt-cache.ts";

type Registry = Pick<Services, "promptCacheUsage" | "now">;

/** Counts one call of a provider. */
export async function report(
  { promptCacheUsage, now }: Registry,
  namespace: string,
  { once, body: { at = now(), ...counted } }: { once: IdempotencyKey | undefined; body: ReportBody },
): Promise<Result<null>> {
  const hour = reportedHour(at, now());
  if (!hour.ok) return hour;
  return (await promptCacheUsage(namespace)).report({ ...counted, hour: hour.value, calls: 1 }, once);
}

/** A page of counts by the hour, and the sums of the whole range. */
export async function stats(
  { promptCacheUsage }: Registry,
  namespace: string,
  { from = 0, to = Number.MAX_SAFE_INTEGER, model, limit = 1000, cursor }: StatsQuery,
): Promise<Result<Stats>> {
  const list = `stats ${namespace}`;
  const place = decodeCursor(list, cursor, ["number", "string", "string"]);
  if (!place.ok) return place;
  const after: UsageKey | undefined = place.value;
  const object = await promptCacheUsage(namespace);
  const page = await object.stats({
    from: hourOf(from),
    to,
    limit,
    ...(model !== undefined && { model }),
    ...(after !== undefined && { after }),
  });
  const last = page.items.at(-1);
  return ok({
    items: page.items.map((usage) => ({ ...usage, hitRate: hitRate(usage) })),
    total: { ...page.sums, hitRate: hitRate(page.sums), tokensSaved: page.sums.cachedInputTokens },
    ...(page.more && last && { cursor: encodeCursor(list, [last.hour, last.provider, last.model]) }),
  });
}
