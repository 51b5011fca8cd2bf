import { inert, oneLine, quoted } from "../../../../src/domain/conversation/stored-text.ts";
import { relativeTime } from "./relative-time.ts";
import type { DexEpisode, DexFact, DexProcedure } from "./types.ts";

/** Characters of one line. */
const LINE = 600;

export type Remembered = { episodes: DexEpisode[]; facts: DexFact[]; procedures: DexProcedure[] };

/** Formats memories for a model; null if there are none. */
export function blockOf({ episodes, facts, procedures }: Remembered, now: number): string | null {
  const sections = [
    [
      "Recent context:",
      episodes.map(({ text, createdAt }) => `- ${relativeTime(now - createdAt)}: ${oneLine(text, LINE)}`),
    ],
    ["Relevant facts:", facts.map(({ text }) => `- ${oneLine(text, LINE)}`)],
    ["Relevant procedures (use memory_get_procedure to fetch details):", procedures.map(announcement)],
  ] as const;
  const lines = sections.flatMap(([heading, items]) => (items.length === 0 ? [] : [heading, ...items]));
  return lines.length === 0 ? null : ["<memory>", inert(lines.join("\n")), "</memory>"].join("\n");
}

const announcement = ({ id, title, similarity }: DexProcedure): string =>
  `- [${named(title)}] (id: ${id}, similarity: ${similarity.toFixed(2)})`;

/** Quotes a title that could be confused with the text around it. */
const named = (title: string): string =>
  /["[\]()\s]/.test(title.replaceAll(" ", "")) ? quoted(title) : title;
