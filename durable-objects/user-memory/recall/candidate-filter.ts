import { and } from "drizzle-orm";
import type { SearchRequest } from "../contract.ts";
import { filterConditions, type Moment, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import { ofMessages } from "../../../src/domain/schema/recall.ts";
import { toSqlCondition, type SqlCondition } from "../core/sql-condition.ts";
import { type TombstoneRanges, notTombstoned } from "../core/tombstone-ranges.ts";
import { FIRST_POSITION, isMessage, type PositionRange } from "../core/position.ts";
import { type MemoryTable, versionMeets } from "../memories/memory-table.ts";
import type { Documents } from "../search-index/documents.ts";

/** The parts of a recall that restrict its candidates. */
export type FilterRequest = Pick<SearchRequest, "kinds" | "filter"> & {
  /** Only messages in these ranges of positions. */
  ranges?: readonly PositionRange[];
  moment: Moment & { now: number };
};

const nothing: SqlCondition = { sql: "FALSE", bindings: [] };
const everything: SqlCondition = { sql: "TRUE", bindings: [] };

/** The tables that a filter reads. */
export type FilteredTables = {
  documents: Pick<Documents, "among" | "where">;
  memories: Pick<MemoryTable, "where" | "hiddenAt" | "namedFacts">;
  tombstones: Pick<TombstoneRanges, "all">;
};

/** The documents that a query may answer: by kind, filter, thread and time, and not deleted. */
export class CandidateFilter {
  readonly #tables: FilteredTables;
  readonly #query: FilterRequest;
  readonly #tombstones: readonly PositionRange[];
  // Written when first needed: a filter that is not selective needs no SQL.
  #messages: SqlCondition | undefined;
  #memories: SqlCondition | undefined;
  #hidden: ReadonlySet<number> | undefined;
  #all: ReadonlySet<number> | undefined;

  constructor(tables: FilteredTables, query: FilterRequest) {
    this.#tables = tables;
    this.#query = query;
    this.#tombstones = tables.tombstones.all();
  }

  /** As SQL over `documents`. */
  get condition(): SqlCondition {
    const [messages, memories] = [this.#ofMessages, this.#ofMemories];
    return {
      sql: `((documents.n >= ${FIRST_POSITION} AND ${messages.sql}) OR (documents.n < ${FIRST_POSITION} AND ${versionMeets("documents.n", memories)}))`,
      bindings: [...messages.bindings, ...memories.bindings],
    };
  }

  /** True if any message, and any memory, can match. */
  get kinds(): { messages: boolean; memories: boolean } {
    return { messages: mayBeMessages(this.#query), memories: mayBeMemories(this.#query) };
  }

  get #ofMessages(): SqlCondition {
    return (this.#messages ??= messagesOf(this.#query, this.#tombstones.length > 0));
  }

  get #ofMemories(): SqlCondition {
    return (this.#memories ??= memoriesOf(this.#query));
  }

  /** The matching ones of some hundreds of documents, in their order. */
  matching(numbers: readonly number[]): number[] {
    if (!this.isSelective) return numbers.filter((n) => this.#isVisible(n));
    const some = { sql: "SELECT value AS n FROM json_each(?)", bindings: [JSON.stringify(numbers)] };
    const matching = new Set(this.#tables.documents.among(some, this.condition));
    return numbers.filter((n) => matching.has(n));
  }

  /** For a look at every document. The first call of a selective filter reads them all. */
  matches(n: number): boolean {
    if (!this.isSelective) return this.#isVisible(n);
    this.#all ??= this.#allMatching();
    return this.#all.has(n);
  }

  /** True if the query has any condition: checking one document then costs a statement. */
  get isSelective(): boolean {
    const { kinds, filter, ranges, moment } = this.#query;
    return (kinds ?? filter ?? ranges ?? moment.asOf ?? moment.validAt) !== undefined;
  }

  #isVisible(n: number): boolean {
    if (isMessage(n)) return !this.#tombstones.some(([first, last]) => n >= first && n <= last);
    // Read once a query: preparing the statement takes longer than running it.
    this.#hidden ??= new Set(this.#tables.memories.hiddenAt(this.#query.moment));
    return !this.#hidden.has(n);
  }

  #allMatching(): Set<number> {
    const messages = {
      sql: `n >= ${FIRST_POSITION} AND ${this.#ofMessages.sql}`,
      bindings: this.#ofMessages.bindings,
    };
    const { documents, memories } = this.#tables;
    return new Set([...memories.where(this.#ofMemories), ...documents.where(messages)]);
  }
}

const mayBeMessages = ({ kinds, filter = {} }: FilterRequest): boolean =>
  kinds?.includes("message") !== false && Object.keys(filter).every((field) => ofMessages.has(field));

const mayBeMemories = ({ kinds, ranges }: FilterRequest): boolean =>
  ranges === undefined && kinds?.every((kind) => kind === "message") !== true;

function messagesOf(query: FilterRequest, someLeave: boolean): SqlCondition {
  if (!mayBeMessages(query)) return nothing;
  const { filter = {}, ranges, moment } = query;
  const conditions = [
    someLeave ? { sql: notTombstoned("documents.n"), bindings: [] } : everything,
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
function memoriesOf(query: FilterRequest): SqlCondition {
  if (!mayBeMemories(query)) return nothing;
  const { kinds, filter, moment } = query;
  const memoryKinds = kinds?.filter((kind) => kind !== "message");
  const conditions = filterConditions({
    ...filter,
    status: ["active"],
    ...(memoryKinds && { kinds: memoryKinds }),
  });
  return toSqlCondition(and(visibleAt(moment), ...conditions));
}

/** A condition on a value that the query may not give. */
const given = (sql: string, value: string | number | undefined): SqlCondition[] =>
  value === undefined ? [] : [{ sql, bindings: [value] }];
