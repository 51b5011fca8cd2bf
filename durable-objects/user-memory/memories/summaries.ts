import type { IntentLog } from "./intent-log.ts";
import type { MemoryTable } from "./memory-table.ts";

type Table = Pick<MemoryTable, "summariesOf" | "summarisedBy" | "withoutSummary">;
type Log = Pick<IntentLog, "summarised">;

/**
 * Which episodes have which summary, in the stored memories and in pending writes. A forgotten episode takes its summary along, and
 * the other episodes of a summary that is gone are to be revived.
 */
export class Summaries {
  readonly #table: Table;
  readonly #log: Log;
  /** Episodes of forgotten summaries. A start of the object forgets them, and the next consolidation finds them. */
  readonly #noted = new Set<string>();

  constructor(table: Table, log: Log) {
    this.#table = table;
    this.#log = log;
  }

  /** Ids of the summaries of these episodes. */
  of(ids: readonly string[]): string[] {
    const among = new Set(ids);
    const pending = this.#log.summarised().filter(({ id }) => among.has(id));
    return [...this.#table.summariesOf(ids), ...pending.map(({ summary }) => summary)];
  }

  /** Notes the episodes of the summaries among these memories, which are about to be forgotten. */
  forgetting(ids: readonly string[]): void {
    const among = new Set(ids);
    const pending = this.#log.summarised().filter(({ summary }) => among.has(summary));
    for (const episode of [...this.#table.summarisedBy(ids), ...pending.map((one) => one.id)])
      this.#noted.add(episode);
  }

  /** Notes the episodes whose summary is gone. */
  findGone(limit: number): void {
    for (const id of this.#table.withoutSummary(limit)) this.#noted.add(id);
  }

  /** The noted episodes, which are noted no more. Some may be gone themselves. */
  takeNoted(): string[] {
    const ids = [...this.#noted];
    this.#noted.clear();
    return ids;
  }
}
