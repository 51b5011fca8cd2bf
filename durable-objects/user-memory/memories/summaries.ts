import type { IntentLog } from "./intent-log.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import { rowOf, type StoredRow } from "../../../src/platform/d1/memory-rows.ts";
import { columnOf } from "../core/sql-condition.ts";

type Log = Pick<IntentLog, "summarised">;

/**
 * Which episodes have which summary, in the stored memories and in pending writes. A forgotten episode takes its summary along, and
 * the other episodes of a summary that is gone are to be revived.
 */
export class Summaries {
  readonly #sql: SqlStorage;
  readonly #log: Log;
  /** Episodes of forgotten summaries. A start of the object forgets them, and the next consolidation finds them. */
  readonly #noted = new Set<string>();

  constructor(sql: SqlStorage, log: Log) {
    this.#sql = sql;
    this.#log = log;
  }

  /** Ids of the summaries of these episodes. */
  of(ids: readonly string[]): string[] {
    const among = new Set(ids);
    const pending = this.#log.summarised().filter(({ id }) => among.has(id));
    return [...this.#summariesOf(ids), ...pending.map(({ summary }) => summary)];
  }

  /** Notes the episodes of the summaries among these memories, which are about to be forgotten. */
  forgetting(ids: readonly string[]): void {
    const among = new Set(ids);
    const pending = this.#log.summarised().filter(({ summary }) => among.has(summary));
    for (const episode of [...this.#summarisedBy(ids), ...pending.map((one) => one.id)])
      this.#noted.add(episode);
  }

  /** Notes the episodes whose summary is gone. */
  findGone(limit: number): void {
    const gone = columnOf<string>(
      this.#sql,
      `SELECT DISTINCT id FROM memories INDEXED BY memories_by_summary
       WHERE ${IS_SUMMARISED} AND ${SUMMARY} NOT IN (SELECT id FROM memories) LIMIT ?`,
      limit,
    );
    for (const id of gone) this.#noted.add(id);
  }

  /** The noted episodes, which are noted no more. Some may be gone themselves. */
  takeNoted(): string[] {
    const ids = [...this.#noted];
    this.#noted.clear();
    return ids;
  }

  /** The live episodes from before a time that a model extracted, those that changed least recently first. */
  extractedEpisodes(before: number, limit: number): MemoryRow[] {
    return this.#sql
      .exec<StoredRow>(
        `SELECT * FROM memories INDEXED BY memories_by_kind
         WHERE kind = 'episode' AND created_at < ?1 AND status = 'active' AND corrected_at IS NULL
           AND superseded_at IS NULL AND valid_to IS NULL AND expires_at IS NULL
           AND provenance ->> '$.writtenBy.prompt' LIKE 'extract/%'
         ORDER BY updated_at, version LIMIT ?2`,
        before,
        limit,
      )
      .toArray()
      .map(rowOf);
  }

  /** Ids of the summaries of these episodes. */
  #summariesOf(ids: readonly string[]): string[] {
    return columnOf(
      this.#sql,
      `SELECT DISTINCT ${SUMMARY} FROM memories INDEXED BY memories_by_id
       WHERE id IN (SELECT value FROM json_each(?)) AND ${IS_SUMMARISED}`,
      JSON.stringify(ids),
    );
  }

  /** Ids of the episodes of these summaries. */
  #summarisedBy(ids: readonly string[]): string[] {
    return columnOf(
      this.#sql,
      `SELECT DISTINCT id FROM memories INDEXED BY memories_by_summary
       WHERE ${SUMMARY} IN (SELECT value FROM json_each(?)) AND ${IS_SUMMARISED}`,
      JSON.stringify(ids),
    );
  }
}

/** The id of the summary of an episode. Index `memories_by_summary`. */
const SUMMARY = "(provenance ->> '$.summarisedBy')";

const IS_SUMMARISED = `${SUMMARY} IS NOT NULL AND corrected_at IS NULL`;
