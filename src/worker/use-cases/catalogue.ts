import { decodeCursor, pageOf } from "../../domain/cursor.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { ThreadRow } from "../../platform/d1/tables.ts";
import type { ThreadCatalogue } from "../../platform/d1/thread-catalogue.ts";
import { present } from "../../domain/present.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { CataloguedThread } from "../../domain/schema/thread.ts";
import type { UnlistedThreads } from "../../platform/unlisted-threads.ts";

type CatalogueQuery = { agent?: string; limit?: number; cursor?: string };
type CatalogueList = { items: CataloguedThread[]; cursor?: string };

/**
 * A page of the threads of the tenant, or of one `owner`. Its pages together hold every thread that could be read when the
 * first was requested, or fail: a server may take "not listed" for "nobody's".
 */
export async function listCatalogue(
  { catalogue, unlisted }: { catalogue: ThreadCatalogue; unlisted: UnlistedThreads },
  owner: UserHash | null,
  { agent, limit = 50, cursor }: CatalogueQuery,
): Promise<Result<CatalogueList>> {
  const list = `all threads ${owner ?? "*"}`;
  const begun = decodeCursor(list, cursor, ["number", "string"]);
  if (!begun.ok) return begun;
  const after = begun.value;
  // Before the list is read: a thread is marked or listed before it can be read, and unmarked after it is listed.
  if (after === undefined) {
    const some = await d1Result(() => unlisted.any(owner));
    if (!some.ok) return some;
    if (some.value) return fail("catalogue_behind");
  }
  const page = { ...present({ owner, after }), ...(agent && { agent }), limit: limit + 1 };
  const rows = await d1Result(() => catalogue.list(page));
  if (!rows.ok) return rows;
  return ok(
    pageOf(rows.value, limit, { list, show: threadOf, keyOf: ({ createdAt, id }) => [createdAt, id] }),
  );
}

const threadOf = ({ id, userId, title, metadata, ...row }: ThreadRow): CataloguedThread => ({
  id,
  title,
  ...present({ userId, agent: row.agent, resourceSlug: row.resourceSlug, recordId: row.recordId }),
  // The schema let only JSON in.
  ...(metadata !== null && { metadata: metadata as NonNullable<CataloguedThread["metadata"]> }),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
