import { type AnyMessage, field, listField, textField } from "./message.ts";
import { invocationIn } from "./tool-call-formats.ts";

/** The lists of parts: of a UI message and of Gemini it is `parts`. */
export const PART_LISTS = ["content", "parts"] as const;
export type PartList = (typeof PART_LISTS)[number];

const REASONING = new Set(["reasoning", "reasoning-file", "thinking", "redacted_thinking"]);
const TEXTS = new Set(["text", "input_text", "output_text"]);
/** Parts of a UI message that no model gets. */
const UNSENT = /^(step-start|source|source-.*|data-.*)$/;

/** The parts that are calls, and the field of their id. */
export const CALL_PARTS = new Map([
  ["tool_use", "id"],
  ["tool-call", "toolCallId"],
]);

export const partType = (part: unknown): string => textField(part, "type") ?? "";
export const isCallPart = (part: unknown): boolean => CALL_PARTS.has(partType(part));

const isReasoning = (part: unknown): boolean => REASONING.has(partType(part));

/** A part that providers refuse: a text of blanks alone, and what is no part. True for a missing field, too. */
export function isBlank(part: unknown): boolean {
  if (typeof part === "string") return part.trim() === "";
  if (typeof part !== "object" || part === null || Object.keys(part).length === 0) return true;
  const isText = TEXTS.has(partType(part)) || isGeminiText(part);
  return isText && (textField(part, "text") ?? "").trim() === "";
}

/** Gemini signs an empty text, which is to be sent back. */
const isGeminiText = (part: object): boolean =>
  !("type" in part) && "text" in part && !("thoughtSignature" in part);

/** True if a list of parts holds something besides reasoning: providers refuse that without what it led to. */
export const partsSpeak = (parts: readonly unknown[]): boolean =>
  parts.some(
    (part) =>
      !isBlank(part) &&
      !isReasoning(part) &&
      field(part, "thought") !== true &&
      !/^(step-start|source.*|data-.*|tool-approval-request)$/.test(partType(part)) &&
      !(field(part, "text") === "" && partType(part) === ""),
  );

/**
 * The message without the parts that leave, without blank parts, and without reasoning that led to a part that left or to
 * nothing. The very same object if nothing leaves.
 */
export function withoutParts<M extends AnyMessage>(
  message: M,
  leaves: (part: unknown, at: { list: PartList; i: number }) => boolean,
): M {
  let copy = message;
  for (const list of PART_LISTS) {
    const parts = field(message, list);
    if (!Array.isArray(parts)) continue;
    const rest = staying(parts, (part, i) => leaves(part, { list, i })).map(withoutBlankOutput);
    const same = rest.length === parts.length && rest.every((part, i) => part === parts[i]);
    if (!same) copy = { ...copy, [list]: rest };
  }
  return copy;
}

function staying(parts: readonly unknown[], leaves: (part: unknown, i: number) => boolean): unknown[] {
  const out = new Set<number>();
  /** Reasoning whose outcome is still to come; and a call that it led to has left. */
  let [reasoning, isCut]: [number[], boolean] = [[], false];
  const end = (stays: boolean) => {
    if (!stays) for (const i of reasoning) out.add(i);
    [reasoning, isCut] = [[], false];
  };
  for (const [i, part] of parts.entries()) {
    if (isReasoning(part)) {
      if (isCut) end(false);
      reasoning.push(i);
    } else if (leaves(part, i)) {
      out.add(i);
      isCut = true;
    } else if (isBlank(part)) out.add(i);
    else if (partType(part) === "step-start") end(false);
    // Calls side by side have their reasoning in common.
    else if (!UNSENT.test(partType(part))) end(!isCut || isCall(part));
  }
  end(false);
  return parts.filter((_, i) => !out.has(i));
}

const isCall = (part: unknown): boolean =>
  isCallPart(part) ||
  isProviderCall(part) ||
  invocationIn(part) !== undefined ||
  "functionCall" in Object(part);

/** A call that the provider carries out itself: Anthropic's, and the AI SDK's of any provider. */
export const isProviderCall = (part: unknown): boolean =>
  /^(server|mcp)_tool_use$/.test(partType(part)) ||
  (partType(part) === "tool-call" && field(part, "providerExecuted") === true);

/** A result in a list of parts has blank texts of its own. */
function withoutBlankOutput(part: unknown): unknown {
  if (partType(part) !== "tool_result") return part;
  const content = listField(part, "content");
  const rest = content.filter((one) => !isBlank(one));
  return rest.length === content.length ? part : { ...Object(part), content: rest };
}
