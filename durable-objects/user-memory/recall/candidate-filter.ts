import { and } from "drizzle-orm";
import type { SearchRequest } from "../../../src/contract/user-memory.ts";
import { filterConditions, type Moment, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import { ofMessages, type RecallKind } from "../../../src/domain/schema/recall.ts";
import { memoryKind, type MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import { toSqlCondition, type SqlCondition } from "../core/sql-condition.ts";
import { type TombstoneRanges, notTombstoned } from "../core/tombstone-ranges.ts";
import { isMessage, type PositionRange } from "../core/position.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { DocumentConditions } from "../search-index/documents.ts";
import type { MessageDocuments } from "../threads/message-documents.ts";

/** The parts of a recall that restrict its candidates. */
export type FilterRequest = Pick<SearchRequest, "kinds" | "roles" | "filter"> & {
  /** Only messages in these ranges of positions. */
  ranges?: readonly PositionRange[];
  moment: Moment & { now: number };
};

/** The tables that a filter reads. */
export type FilteredTables = {
  memories: Pick<MemoryDocuments, "among" | "where" | "few" | "hasKind" | "hiddenAt">;
  messages: Pick<MessageDocuments, "among" | "where" | "few">;
  tombstones: Pick<TombstoneRanges, "all">;
};

/** Documents that are few: each is looked at, instead of the nearest of all and the best by their words. */
const FEW = 1_000;

/** The documents that a query may answer: by kind, filter, thread and time, and not deleted. */
export class CandidateFilter {
  readonly #tables: FilteredTables;
  readonly #query: FilterRequest;
  readonly #tombstones: readonly PositionRange[];
  readonly #most: number;
  /** The kinds of memories, if they exclude any that there is. */
  readonly #memoryKinds: MemoryKind[] | undefined;
  // Read or written when first needed.
  #conditions: DocumentConditions | undefined;
  #hidden: ReadonlySet<number> | undefined;
  #few: ReadonlySet<number> | null | undefined;
  #all: ReadonlySet<number> | undefined;

  /** `most`: so many documents are few. */
  constructor(tables: FilteredTables, query: FilterRequest, most = FEW) {
    this.#tables = tables;
    this.#query = query;
    this.#tombstones = tables.tombstones.all();
    this.#most = most;
    this.#memoryKinds = this.#excluding(query.kinds);
  }

  /** The same in SQL, over the columns of each table. */
  get conditions(): DocumentConditions {
    return (this.#conditions ??= {
      messages: messagesOf(this.#query, this.#tombstones.length > 0),
      memories: memoriesOf(this.#query, this.#memoryKinds),
    });
  }

  /** True if any message, and any memory, can match. */
  get kinds(): { messages: boolean; memories: boolean } {
    return { messages: mayBeMessages(this.#query), memories: mayBeMemories(this.#query) };
  }

  /** The matching ones of some hundreds of documents, in their order. */
  matching(numbers: readonly number[]): number[] {
    const possible = numbers.filter((n) => this.mayMatch(n));
    const [memories, messages] = [this.#looksInto.memories, this.#looksInto.messages];
    if (this.few !== null || !(memories || messages)) return possible;
    const tables = this.#tables;
    const looked = new Set([
      ...(memories
        ? tables.memories.among(
            possible.filter((n) => !isMessage(n)),
            this.conditions.memories,
          )
        : []),
      ...(messages ? tables.messages.among(possible.filter(isMessage), this.conditions.messages) : []),
    ]);
    return possible.filter((n) => !(isMessage(n) ? messages : memories) || looked.has(n));
  }

  /** For a look at every document: false if a document cannot match, without a statement. */
  mayMatch(n: number): boolean {
    if (this.few !== null) return this.few.has(n);
    if (!isMessage(n)) return this.kinds.memories && (this.#looksInto.memories || !this.#hiddenNow.has(n));
    const { ranges } = this.#query;
    return this.kinds.messages && !within(this.#tombstones, n) && (ranges === undefined || within(ranges, n));
  }

  /** For a look at every document. The first call of a selective filter reads them all. */
  matches(n: number): boolean {
    if (!this.isSelective) return this.mayMatch(n);
    this.#all ??= new Set([
      ...this.#tables.memories.where(this.conditions.memories),
      ...this.#tables.messages.where(this.conditions.messages),
    ]);
    return this.#all.has(n);
  }

  /** True if it takes a statement to check a document. */
  get isSelective(): boolean {
    return this.few === null && (this.#looksInto.memories || this.#looksInto.messages);
  }

  /** All matching documents, if an index tells that they are few; null if they may be more. */
  get few(): ReadonlySet<number> | null {
    if (this.#few === undefined) this.#few = this.#readFew();
    return this.#few;
  }

  #readFew(): ReadonlySet<number> | null {
    const { kinds, filter = {}, ranges } = this.#query;
    const { memories, messages } = this.#tables;
    // A plain query has no conditions to read an index by.
    if ((kinds ?? ranges ?? this.#query.filter) === undefined) return null;
    const fewMemories = this.kinds.memories
      ? memories.few(
          { ...filter, ...(this.#memoryKinds && { kinds: this.#memoryKinds }) },
          this.conditions.memories,
          this.#most,
        )
      : [];
    if (fewMemories === null) return null;
    const fewMessages = this.kinds.messages
      ? messages.few(
          { ranges, from: filter.createdAtMin, to: filter.createdAtMax },
          this.conditions.messages,
          this.#most,
        )
      : [];
    return fewMessages && new Set([...fewMemories, ...fewMessages]);
  }

  /** True if only a row tells that a memory, or a message, matches. */
  get #looksInto(): { memories: boolean; messages: boolean } {
    const { filter = {}, moment } = this.#query;
    const then = (moment.asOf ?? moment.validAt) !== undefined;
    const { memories, messages } = this.kinds;
    return {
      memories: memories && (then || this.#memoryKinds !== undefined || Object.keys(filter).length > 0),
      messages:
        messages &&
        (moment.asOf ?? filter.createdAtMin ?? filter.createdAtMax ?? this.#query.roles) !== undefined,
    };
  }

  /** The memories that no plain query finds. Read once a query: preparing the statement takes longer than running it. */
  get #hiddenNow(): ReadonlySet<number> {
    return (this.#hidden ??= new Set(this.#tables.memories.hiddenAt(this.#query.moment)));
  }

  #excluding(kinds: readonly RecallKind[] | undefined): MemoryKind[] | undefined {
    if (kinds === undefined || !mayBeMemories(this.#query)) return undefined;
    const others = memoryKind.options.filter((kind) => !kinds.includes(kind));
    if (!others.some((kind) => this.#tables.memories.hasKind(kind))) return undefined;
    return memoryKind.options.filter((kind) => kinds.includes(kind));
  }
}

const within = (ranges: readonly PositionRange[], n: number): boolean =>
  ranges.some(([first, last]) => n >= first && n <= last);

const mayBeMessages = ({ kinds, filter = {} }: FilterRequest): boolean =>
  kinds?.includes("message") !== false && Object.keys(filter).every((field) => ofMessages.has(field));

const mayBeMemories = ({ kinds, ranges }: FilterRequest): boolean =>
  ranges === undefined && kinds?.every((kind) => kind === "message") !== true;

const nothing: SqlCondition = { sql: "FALSE", bindings: [] };
const everything: SqlCondition = { sql: "TRUE", bindings: [] };

function messagesOf(query: FilterRequest, hasTombstones: boolean): SqlCondition {
  if (!mayBeMessages(query)) return nothing;
  const { filter = {}, ranges, moment, roles } = query;
  const conditions = [
    hasTombstones ? { sql: notTombstoned("position"), bindings: [] } : everything,
    ...given("created_at >= ?", filter.createdAtMin),
    ...given("created_at <= ?", filter.createdAtMax),
    ...given("created_at <= ?", moment.asOf),
    ...given("role IN (SELECT value FROM json_each(?))", roles && JSON.stringify(roles)),
    ...given(
      "EXISTS (SELECT 1 FROM json_each(?) AS range WHERE position BETWEEN range.value ->> 0 AND range.value ->> 1)",
      ranges && JSON.stringify(ranges),
    ),
  ];
  return {
    sql: conditions.map(({ sql }) => sql).join(" AND "),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  };
}

function memoriesOf(query: FilterRequest, kinds: MemoryKind[] | undefined): SqlCondition {
  if (!mayBeMemories(query)) return nothing;
  const { filter, moment } = query;
  const conditions = filterConditions({ ...filter, status: ["active"], ...(kinds && { kinds }) });
  return toSqlCondition(and(visibleAt(moment), ...conditions));
}

/** A condition on a value that the query may not give. */
const given = (sql: string, value: string | number | undefined): SqlCondition[] =>
  value === undefined ? [] : [{ sql, bindings: [value] }];
