import { and } from "drizzle-orm";
import type { SearchRequest } from "../contract.ts";
import { filterConditions, type Moment, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import { ofMessages } from "../../../src/domain/schema/recall.ts";
import { compiled, type Condition } from "../core/compiled.ts";
import { type LeavingRanges, notLeaving } from "../core/leaving-ranges.ts";
import { FIRST_POSITION, type PositionRange } from "../core/position.ts";
import { type MemoryTable, versionMeets } from "../memories/memory-table.ts";
import type { Documents } from "../search-index/documents.ts";

/** What narrows a recall. */
export type Narrowing = Pick<SearchRequest, "kinds" | "filter"> & {
  /** Only messages in these ranges of positions. */
  ranges?: readonly PositionRange[];
  moment: Moment & { now: number };
};

const nothing: Condition = { sql: "FALSE", bindings: [] };
const everything: Condition = { sql: "TRUE", bindings: [] };

/** What a query is asked of. */
export type Searched = {
  documents: Pick<Documents, "among" | "where">;
  table: Pick<MemoryTable, "where" | "hiddenAt">;
  leaving: Pick<LeavingRanges, "all">;
};

/** Which documents a query means. */
export class Meant {
  /** As SQL over `documents`. */
  readonly condition: Condition;
  readonly #searched: Searched;
  readonly #query: Narrowing;
  readonly #messages: Condition;
  readonly #memories: Condition;
  readonly #leaving: readonly PositionRange[];
  #hidden: ReadonlySet<number> | undefined;
  #all: ReadonlySet<number> | undefined;

  constructor(searched: Searched, query: Narrowing) {
    this.#searched = searched;
    this.#query = query;
    this.#leaving = searched.leaving.all();
    this.#messages = messagesOf(query, this.#leaving.length > 0);
    this.#memories = memoriesOf(query);
    this.condition = {
      sql: `((documents.n >= ${FIRST_POSITION} AND ${this.#messages.sql}) OR (documents.n < ${FIRST_POSITION} AND ${this.#memories === nothing ? nothing.sql : versionMeets("documents.n", this.#memories)}))`,
      bindings: [...this.#messages.bindings, ...this.#memories.bindings],
    };
  }

  /** Whether the query can mean messages, and memories. */
  get kinds(): { messages: boolean; memories: boolean } {
    return { messages: this.#messages !== nothing, memories: this.#memories !== nothing };
  }

  /** Those of these documents that are meant: some hundreds, not all that there are. */
  among(numbers: readonly number[]): Set<number> {
    if (!this.isNarrow) return new Set(numbers.filter((n) => this.#isShown(n)));
    const some = { sql: "SELECT value AS n FROM json_each(?)", bindings: [JSON.stringify(numbers)] };
    return new Set(this.#searched.documents.among(some, this.condition));
  }

  /** Looks at one after another, all that there are. The first one of a narrow query costs a look at every document. */
  allows(n: number): boolean {
    if (!this.isNarrow) return this.#isShown(n);
    this.#all ??= this.#everything();
    return this.#all.has(n);
  }

  /** Whether the query means some only: to look at one document costs a statement then. */
  get isNarrow(): boolean {
    const { kinds, filter, ranges, moment } = this.#query;
    return (kinds ?? filter ?? ranges ?? moment.asOf ?? moment.validAt) !== undefined;
  }

  /** Without narrowing, all but those that are not to be found now. */
  #isShown(n: number): boolean {
    if (n >= FIRST_POSITION) return !this.#leaving.some(([first, last]) => n >= first && n <= last);
    // Asked once a query: to make the statement takes longer than to run it.
    this.#hidden ??= new Set(this.#searched.table.hiddenAt(this.#query.moment));
    return !this.#hidden.has(n);
  }

  #everything(): Set<number> {
    const { documents, table } = this.#searched;
    const messages = {
      sql: `n >= ${FIRST_POSITION} AND ${this.#messages.sql}`,
      bindings: this.#messages.bindings,
    };
    return new Set([...table.where(this.#memories), ...documents.where(messages)]);
  }
}

function messagesOf({ kinds, filter = {}, ranges, moment }: Narrowing, someLeave: boolean): Condition {
  const foreign = Object.keys(filter).some((field) => !ofMessages.has(field));
  if (foreign || kinds?.includes("message") === false) return nothing;
  const conditions: Condition[] = [everything];
  if (someLeave) conditions.push({ sql: notLeaving("documents.n"), bindings: [] });
  if (filter.createdAtMin !== undefined)
    conditions.push({ sql: "documents.created_at >= ?", bindings: [filter.createdAtMin] });
  if (filter.createdAtMax !== undefined)
    conditions.push({ sql: "documents.created_at <= ?", bindings: [filter.createdAtMax] });
  if (ranges !== undefined)
    conditions.push({
      sql: "EXISTS (SELECT 1 FROM json_each(?) AS range WHERE documents.n BETWEEN range.value ->> 0 AND range.value ->> 1)",
      bindings: [JSON.stringify(ranges)],
    });
  if (moment.asOf !== undefined)
    conditions.push({ sql: "documents.created_at <= ?", bindings: [moment.asOf] });
  return {
    sql: conditions.map(({ sql }) => sql).join(" AND "),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  };
}

/** The versions that are meant, as SQL over `memories`. */
function memoriesOf({ kinds, filter, ranges, moment }: Narrowing): Condition {
  const memoryKinds = kinds?.filter((kind) => kind !== "message");
  if (ranges !== undefined || memoryKinds?.length === 0) return nothing;
  const conditions = filterConditions({
    ...filter,
    status: ["active"],
    ...(memoryKinds && { kinds: memoryKinds }),
  });
  return compiled(and(visibleAt(moment), ...conditions));
}
