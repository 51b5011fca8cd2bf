import type { MemoryRow } from "./table.ts";

type Embedded = Pick<MemoryRow, "text" | "title" | "key">;
type Searched = Embedded & Pick<MemoryRow, "subject" | "predicate" | "object" | "tags">;

/** The text to embed: with the title, which is a procedure's purpose, or the key, which is a fact's topic. */
export function embeddedText({ title, key, text }: Embedded): string {
  if (title !== null) return `${title}\n${text}`;
  return key === null ? text : `${key}: ${text}`;
}

/** The text for lexical search: also the tags, and the words of the triple that the text lacks. */
export function searchedText(memory: Searched): string {
  const text = embeddedText(memory);
  const more = [memory.subject, memory.predicate, memory.object].filter(
    (part): part is string => part !== null && !text.includes(part),
  );
  return [text, ...more, ...memory.tags].join("\n");
}
