import { and } from "drizzle-orm";
import type { SearchRequest } from "../contract.ts";
import { filterConditions, type Moment, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import { ofMessages } from "../../../src/domain/schema/recall.ts";
import { compiled, type Condition } from "../core/compiled.ts";
import { LeavingRanges, notLeaving } from "../core/leaving-ranges.ts";
import { FIRST_POSITION, type PositionRange } from "../core/position.ts";

/** The parts of a recall that restrict its candidates. */
export type FilterRequest = Pick<SearchRequest, "kinds" | "filter"> & {
  /** Only messages in these ranges of positions. */
  ranges?: readonly PositionRange[];
  moment: Moment & { now: number };
};

/** Versions that may be hidden at some time; all others are visible since they were recorded. */
const GUARDED = `(corrected_at IS NOT NULL OR superseded_at IS NOT NULL OR valid_to IS NOT NULL
  OR expires_at IS NOT NULL OR status <> 'active' OR valid_from > recorded_at)`;

const nothing: Condition = { sql: "FALSE", bindings: [] };
const everything: Condition = { sql: "TRUE", bindings: [] };

/** The documents that a query may answer: by kind, filter, thread and time, and not deleted. */
export class CandidateFilter {
  /** As SQL over `documents`. */
  readonly condition: Condition;
  readonly #sql: SqlStorage;
  readonly #query: FilterRequest;
  readonly #messages: Condition;
  readonly #memories: Condition;
  readonly #leaving: readonly PositionRange[];
  #hidden: ReadonlySet<number> | undefined;
  #all: ReadonlySet<number> | undefined;

  constructor(sql: SqlStorage, query: FilterRequest) {
    this.#sql = sql;
    this.#query = query;
    this.#leaving = new LeavingRanges(sql).all();
    this.#messages = messagesOf(query, this.#leaving.length > 0);
    this.#memories = memoriesOf(query);
    this.condition = {
      sql: `((documents.n >= ${FIRST_POSITION} AND ${this.#messages.sql}) OR (documents.n < ${FIRST_POSITION} AND
        EXISTS (SELECT 1 FROM memories WHERE memories.version = documents.n AND ${this.#memories.sql})))`,
      bindings: [...this.#messages.bindings, ...this.#memories.bindings],
    };
  }

  /** Whether any message, and any memory, can match. */
  get kinds(): { messages: boolean; memories: boolean } {
    return { messages: this.#messages !== nothing, memories: this.#memories !== nothing };
  }

  /** The matching ones of some hundreds of documents, in their order. */
  matching(numbers: readonly number[]): number[] {
    if (!this.isSelective) return numbers.filter((n) => this.#isVisible(n));
    const rows = this.#sql.exec<{ n: number }>(
      `SELECT documents.n FROM json_each(?) AS one CROSS JOIN documents ON documents.n = one.value
       WHERE ${this.condition.sql}`,
      JSON.stringify(numbers),
      ...this.condition.bindings,
    );
    const matching = numbersOf(rows);
    return numbers.filter((n) => matching.has(n));
  }

  /** For a look at every document. The first call of a selective filter reads them all. */
  matches(n: number): boolean {
    if (!this.isSelective) return this.#isVisible(n);
    this.#all ??= numbersOf(
      this.#sql.exec<{ n: number }>(
        `SELECT version AS n FROM memories WHERE ${this.#memories.sql}
         UNION ALL SELECT n FROM documents WHERE n >= ${FIRST_POSITION} AND ${this.#messages.sql}`,
        ...this.#memories.bindings,
        ...this.#messages.bindings,
      ),
    );
    return this.#all.has(n);
  }

  /** Whether the query has any condition: checking one document then costs a statement. */
  get isSelective(): boolean {
    const { kinds, filter, ranges, moment } = this.#query;
    return (kinds ?? filter ?? ranges ?? moment.asOf ?? moment.validAt) !== undefined;
  }

  #isVisible(n: number): boolean {
    if (n >= FIRST_POSITION) return !this.#leaving.some(([first, last]) => n >= first && n <= last);
    this.#hidden ??= this.#hiddenNow();
    return !this.#hidden.has(n);
  }

  /** Read once a query: preparing the statement takes longer than running it. */
  #hiddenNow(): Set<number> {
    const visible = compiled(visibleAt(this.#query.moment));
    return numbersOf(
      this.#sql.exec<{ n: number }>(
        `SELECT version AS n FROM memories INDEXED BY memories_guarded
         WHERE ${GUARDED} AND NOT (${visible.sql} AND status = 'active')`,
        ...visible.bindings,
      ),
    );
  }
}

function messagesOf({ kinds, filter = {}, ranges, moment }: FilterRequest, someLeave: boolean): Condition {
  const ofMemoriesOnly = Object.keys(filter).some((field) => !ofMessages.has(field));
  if (ofMemoriesOnly || kinds?.includes("message") === false) return nothing;
  const conditions = [
    someLeave ? { sql: notLeaving("documents.n"), bindings: [] } : everything,
    ...given("documents.created_at >= ?", filter.createdAtMin),
    ...given("documents.created_at <= ?", filter.createdAtMax),
    ...given("documents.created_at <= ?", moment.asOf),
    ...given(
      "EXISTS (SELECT 1 FROM json_each(?) AS range WHERE documents.n BETWEEN range.value ->> 0 AND range.value ->> 1)",
      ranges && JSON.stringify(ranges),
    ),
  ];
  return {
    sql: conditions.map(({ sql }) => sql).join(" AND "),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  };
}

/** The matching versions, as SQL over `memories`. */
function memoriesOf({ kinds, filter, ranges, moment }: FilterRequest): Condition {
  const memoryKinds = kinds?.filter((kind) => kind !== "message");
  if (ranges !== undefined || memoryKinds?.length === 0) return nothing;
  const conditions = filterConditions({
    ...filter,
    status: ["active"],
    ...(memoryKinds && { kinds: memoryKinds }),
  });
  return compiled(and(visibleAt(moment), ...conditions));
}

/** A condition on a value that the query may not give. */
const given = (sql: string, value: string | number | undefined): Condition[] =>
  value === undefined ? [] : [{ sql, bindings: [value] }];

const numbersOf = (rows: Iterable<{ n: number }>): Set<number> => new Set(Array.from(rows, ({ n }) => n));
