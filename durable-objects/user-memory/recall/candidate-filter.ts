import { and } from "drizzle-orm";
import type { SearchRequest } from "../../../src/contract/user-memory.ts";
import { filterConditions, type Moment, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import { ofMessages, type RecallKind } from "../../../src/domain/schema/recall.ts";
import { memoryKind, type MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import { part, raw, type SqlPart } from "../../storage/sql.ts";
import { toSqlCondition } from "../core/sql-condition.ts";
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

/** A value for memories, and one for messages. */
type OfBoth = { memories: boolean; messages: boolean };

/** The documents that a query may answer: by kind, filter, thread and time, and not deleted. */
export class CandidateFilter {
  readonly #tables: FilteredTables;
  readonly #query: FilterRequest;
  readonly #tombstones: readonly PositionRange[];
  readonly #most: number;
  /** The kinds of memories, if they exclude any that there is. */
  readonly #memoryKinds: MemoryKind[] | undefined;
  /** True if any memory, and any message, can match. */
  readonly kinds: OfBoth;
  /** True if only a row tells that a memory, or a message, matches. */
  readonly #needsRow: OfBoth;
  // Read or written when first needed.
  #conditions: DocumentConditions | undefined;
  #hidden: ReadonlySet<number> | undefined;
  #few: ReadonlySet<number> | null | undefined;
  #all: ReadonlySet<number> | undefined;

  /** `most`: so many documents are few. */
  constructor(tables: FilteredTables, query: FilterRequest, most = FEW) {
    const { kinds, filter = {}, ranges, roles, moment } = query;
    this.#tables = tables;
    this.#query = query;
    this.#tombstones = tables.tombstones.all();
    this.#most = most;
    const fields = Object.keys(filter);
    const memories = ranges === undefined && kinds?.every((kind) => kind === "message") !== true;
    const messages = kinds?.includes("message") !== false && fields.every((field) => ofMessages.has(field));
    this.kinds = { memories, messages };
    this.#memoryKinds = memories ? this.#excluding(kinds) : undefined;
    const isThen = (moment.asOf ?? moment.validAt) !== undefined;
    const ofTime = moment.asOf ?? filter.createdAtMin ?? filter.createdAtMax;
    this.#needsRow = {
      memories: memories && (isThen || this.#memoryKinds !== undefined || fields.length > 0),
      messages: messages && (ofTime ?? roles) !== undefined,
    };
  }

  /** The same in SQL, over the columns of each table. */
  get conditions(): DocumentConditions {
    return (this.#conditions ??= {
      messages: this.kinds.messages ? messagesOf(this.#query, this.#tombstones.length > 0) : NOTHING,
      memories: this.kinds.memories ? memoriesOf(this.#query, this.#memoryKinds) : NOTHING,
    });
  }

  /** The matching ones of some hundreds of documents, in their order. */
  matching(numbers: readonly number[]): number[] {
    const possible = numbers.filter((n) => this.mayMatch(n));
    if (!this.isSelective) return possible;
    const needsRow = (n: number) => this.#needsRow[isMessage(n) ? "messages" : "memories"];
    const [messages, memories] = [possible.filter(isMessage), possible.filter((n) => !isMessage(n))];
    const matching = new Set([
      ...this.#tables.memories.among(memories.filter(needsRow), this.conditions.memories),
      ...this.#tables.messages.among(messages.filter(needsRow), this.conditions.messages),
    ]);
    return possible.filter((n) => !needsRow(n) || matching.has(n));
  }

  /** For a look at every document: false if a document cannot match, without a statement. */
  mayMatch(n: number): boolean {
    if (this.few !== null) return this.few.has(n);
    if (!isMessage(n)) return this.kinds.memories && (this.#needsRow.memories || !this.#hiddenNow.has(n));
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
    return this.few === null && (this.#needsRow.memories || this.#needsRow.messages);
  }

  /** All matching documents, if an index tells that they are few; null if they may be more. */
  get few(): ReadonlySet<number> | null {
    if (this.#few === undefined) this.#few = this.#readFew();
    return this.#few;
  }

  #readFew(): ReadonlySet<number> | null {
    const { kinds, filter, ranges } = this.#query;
    const { memories, messages } = this.#tables;
    // A plain query has no conditions to read an index by.
    if ((kinds ?? ranges ?? filter) === undefined) return null;
    const ofKinds = { ...filter, ...(this.#memoryKinds && { kinds: this.#memoryKinds }) };
    const fewMemories = this.kinds.memories
      ? memories.few(ofKinds, this.conditions.memories, this.#most)
      : [];
    if (fewMemories === null) return null;
    const times = { ranges, from: filter?.createdAtMin, to: filter?.createdAtMax };
    const fewMessages = this.kinds.messages ? messages.few(times, this.conditions.messages, this.#most) : [];
    return fewMessages && new Set([...fewMemories, ...fewMessages]);
  }

  /** The memories that no plain query finds. Read once a query: preparing the statement takes longer than running it. */
  get #hiddenNow(): ReadonlySet<number> {
    return (this.#hidden ??= new Set(this.#tables.memories.hiddenAt(this.#query.moment)));
  }

  #excluding(kinds: readonly RecallKind[] | undefined): MemoryKind[] | undefined {
    if (kinds === undefined) return undefined;
    const others = memoryKind.options.filter((kind) => !kinds.includes(kind));
    if (!others.some((kind) => this.#tables.memories.hasKind(kind))) return undefined;
    return memoryKind.options.filter((kind) => kinds.includes(kind));
  }
}

const within = (ranges: readonly PositionRange[], n: number): boolean =>
  ranges.some(([first, last]) => n >= first && n <= last);

const NOTHING = raw("FALSE");

function messagesOf(query: FilterRequest, hasTombstones: boolean): SqlPart {
  const { filter = {}, ranges, moment, roles } = query;
  const conditions = [
    hasTombstones && raw(notTombstoned("position")),
    filter.createdAtMin !== undefined && part`created_at >= ${filter.createdAtMin}`,
    filter.createdAtMax !== undefined && part`created_at <= ${filter.createdAtMax}`,
    moment.asOf !== undefined && part`created_at <= ${moment.asOf}`,
    roles && part`role IN (SELECT value FROM json_each(${JSON.stringify(roles)}))`,
    ranges &&
      part`EXISTS (SELECT 1 FROM json_each(${JSON.stringify(ranges)}) AS range
        WHERE position BETWEEN range.value ->> 0 AND range.value ->> 1)`,
  ];
  return conditions.reduce<SqlPart>((all, one) => (one ? part`${all} AND ${one}` : all), raw("TRUE"));
}

function memoriesOf({ filter, moment }: FilterRequest, kinds: MemoryKind[] | undefined): SqlPart {
  const conditions = filterConditions({ ...filter, status: ["active"], ...(kinds && { kinds }) });
  return toSqlCondition(and(visibleAt(moment), ...conditions));
}
