import type { MemoryRow } from "./table.ts";

type Said = Pick<MemoryRow, "text" | "title" | "key">;
type Found = Said & Pick<MemoryRow, "subject" | "predicate" | "object" | "tags">;

/** What is embedded of a memory: a procedure's title says what it is for, a fact's key what it is about. */
export function embeddedText({ title, key, text }: Said): string {
  if (title !== null) return `${title}\n${text}`;
  return key === null ? text : `${key}: ${text}`;
}

/** The words that a memory is found by: also its tags, and what its triple says beyond the text. */
export function searchedText(memory: Found): string {
  const text = embeddedText(memory);
  const more = [memory.subject, memory.predicate, memory.object].filter(
    (part): part is string => part !== null && !text.includes(part),
  );
  return [text, ...more, ...memory.tags].join("\n");
}
