import { isRestatement } from "../../../src/domain/memory/restatement.ts";
import { contentOf } from "../../../src/domain/memory/record.ts";
import { embeddedText, searchedText } from "../../../src/domain/memory/search-text.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import { contentWords, matchExpression } from "../../../src/domain/ranking/question.ts";
import type { Similar } from "../../../src/domain/schema/memory.ts";
import type { Prepared } from "../../../src/contract/user-memory.ts";
import { MEMORIES } from "../core/position.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { MemoryTable } from "./memory-table.ts";

/** Memories that have a word of the new one: the newest that are looked at, and the best that are compared. */
const [LOOKED_AT, COMPARED] = [1_000, 64];
/** Similar memories of an answer, and the least cosine of one. */
const [SIMILAR, LEAST] = [5, 0.6];

type Compared = { row: MemoryRow; cosine: number };

/** Finds live memories that say something similar. A similar memory shares words with the new one, so no vector is scanned. */
export class SimilarMemories {
  readonly #index: SearchIndex;
  readonly #table: MemoryTable;

  constructor(index: SearchIndex, table: MemoryTable) {
    this.#index = index;
    this.#table = table;
  }

  /** Live memories of the same kind and scope, the most similar first. */
  similarTo(candidate: Prepared, now: number): Similar[] {
    return this.#compared(candidate, now)
      .filter(({ cosine }) => cosine >= LEAST)
      .slice(0, SIMILAR)
      .map(({ row, cosine }) => ({ id: row.id, text: row.text, score: cosine }));
  }

  /** The live memory that says what a candidate says, and all of it; null without one. */
  restated(candidate: Prepared, now: number): MemoryRow | null {
    const text = embeddedText(contentOf(candidate));
    return (
      this.#compared(candidate, now).find(({ row, cosine }) => isRestatement(text, embeddedText(row), cosine))
        ?.row ?? null
    );
  }

  #compared(candidate: Prepared, now: number): Compared[] {
    const { vector, model, dimensions } = candidate.vector;
    if (vector === null || vector === "failed") return [];
    const content = contentOf(candidate);
    const words = contentWords(searchedText(content));
    if (words.length === 0) return [];
    const last = this.#index.words.last(matchExpression(words), MEMORIES, LOOKED_AT).take(LOOKED_AT);
    const best = [...last].toSorted((a, b) => b.score - a.score).slice(0, COMPARED);
    const rows = this.#table
      .numbered(best.map(({ n }) => n))
      .filter((row) => isLive(row, now) && row.kind === content.kind && row.scope === content.scope);
    const numbers = rows.map(({ version }) => version);
    const cosines = this.#index.vectors.cosines({ model, dimensions, vector }, numbers, { load: false });
    return rows
      .flatMap((row) => {
        const cosine = cosines.get(row.version);
        return cosine === undefined ? [] : [{ row, cosine }];
      })
      .toSorted((a, b) => b.cosine - a.cosine);
  }
}

const isLive = (row: MemoryRow, now: number): boolean =>
  row.status === "active" &&
  row.correctedAt === null &&
  row.validFrom <= now &&
  (row.supersededAt ?? Infinity) > now &&
  (row.validTo ?? Infinity) > now &&
  (row.expiresAt ?? Infinity) >= now;
