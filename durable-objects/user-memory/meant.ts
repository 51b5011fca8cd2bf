import { and } from "drizzle-orm";
import { filterConditions, type Moment, visibleAt } from "../../src/d1/memory-filter.ts";
import type { MemoryFilter } from "../../src/schema/memory-filter.ts";
import type { RecallKind } from "../../src/schema/recall.ts";
import { compiled, type Condition } from "./compiled.ts";
import { FIRST_POSITION, type PositionRange } from "./position.ts";

/** What narrows a recall. */
export type Narrowing = {
  kinds?: RecallKind[];
  /** Only memories that it means; messages have none of its fields. */
  filter?: Omit<MemoryFilter, "kinds" | "status">;
  /** Only messages in these ranges of positions. */
  ranges?: readonly PositionRange[];
  moment: Moment & { now: number };
};

/** Which documents a query means: as SQL over `documents`, and for one by one of those that an arm brings. */
export type Meant = { condition: Condition; allows: (n: number) => boolean };

/** Versions that may be hidden at some time; all others are true since they were recorded, for good. */
export const GUARDED = `(corrected_at IS NOT NULL OR superseded_at IS NOT NULL OR valid_to IS NOT NULL
  OR expires_at IS NOT NULL OR status <> 'active' OR valid_from > recorded_at)`;

export function meantBy(sql: SqlStorage, query: Narrowing): Meant {
  const [messages, memories] = [messagesOf(query), memoriesOf(query)];
  const condition = {
    sql: `((documents.n >= ${FIRST_POSITION} AND ${messages.sql}) OR (documents.n < ${FIRST_POSITION} AND ${memories.sql}))`,
    bindings: [...messages.bindings, ...memories.bindings],
  };
  const [message, memory] = [messageAllowed(sql, query, messages), memoryAllowed(sql, query)];
  return { condition, allows: (n) => (n >= FIRST_POSITION ? message(n) : memory(n)) };
}

const nothing: Condition = { sql: "FALSE", bindings: [] };
const everything: Condition = { sql: "TRUE", bindings: [] };

function messagesOf({ kinds, filter, ranges, moment }: Narrowing): Condition {
  if (filter !== undefined || kinds?.includes("message") === false) return nothing;
  const conditions: Condition[] = [everything];
  if (ranges !== undefined)
    conditions.push({
      sql: `documents.n IN (SELECT own.n FROM json_each(?) AS range
        JOIN documents AS own ON own.n BETWEEN range.value ->> 0 AND range.value ->> 1)`,
      bindings: [JSON.stringify(ranges)],
    });
  if (moment.asOf !== undefined)
    conditions.push({ sql: "documents.created_at <= ?", bindings: [moment.asOf] });
  return {
    sql: conditions.map((one) => one.sql).join(" AND "),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  };
}

function memoriesOf(query: Narrowing): Condition {
  const wanted = wantedMemories(query);
  if (wanted === nothing) return nothing;
  return {
    sql: `EXISTS (SELECT 1 FROM memories WHERE memories.version = documents.n AND ${wanted.sql})`,
    bindings: wanted.bindings,
  };
}

/** The versions that are meant, as SQL over `memories`. */
function wantedMemories({ kinds, filter, ranges, moment }: Narrowing): Condition {
  const memoryKinds = kinds?.filter((kind) => kind !== "message");
  if (ranges !== undefined || memoryKinds?.length === 0) return nothing;
  const conditions = filterConditions({
    ...filter,
    status: ["active"],
    ...(memoryKinds && { kinds: memoryKinds }),
  });
  return compiled(and(visibleAt(moment), ...conditions));
}

function messageAllowed(
  sql: SqlStorage,
  { ranges, moment }: Narrowing,
  messages: Condition,
): (n: number) => boolean {
  if (messages === nothing) return () => false;
  if (moment.asOf === undefined)
    return (n) => ranges === undefined || ranges.some(([from, to]) => n >= from && n <= to);
  const said = sql.exec<{ n: number }>(
    `SELECT n FROM documents WHERE n >= ${FIRST_POSITION} AND ${messages.sql}`,
    ...messages.bindings,
  );
  const all = numbersOf(said);
  return (n) => all.has(n);
}

function memoryAllowed(sql: SqlStorage, query: Narrowing): (n: number) => boolean {
  const wanted = wantedMemories(query);
  if (wanted === nothing) return () => false;
  const { kinds, filter, moment } = query;
  const narrow = kinds ?? filter ?? moment.asOf ?? moment.validAt;
  if (narrow !== undefined) {
    const rows = sql.exec<{ n: number }>(
      `SELECT version AS n FROM memories WHERE ${wanted.sql}`,
      ...wanted.bindings,
    );
    const all = numbersOf(rows);
    return (n) => all.has(n);
  }
  // All but those that are not to be found now, which are among history and what has an end: `memories_guarded`.
  const visible = compiled(visibleAt(moment));
  const rows = sql.exec<{ n: number }>(
    `SELECT version AS n FROM memories INDEXED BY memories_guarded
     WHERE ${GUARDED} AND NOT (${visible.sql} AND status = 'active')`,
    ...visible.bindings,
  );
  const hidden = numbersOf(rows);
  return (n) => !hidden.has(n);
}

const numbersOf = (rows: Iterable<{ n: number }>): Set<number> => new Set(Array.from(rows, ({ n }) => n));
