import { withoutAwaitedCalls } from "../../../../src/domain/conversation/tool-calls.ts";
import type { AnswerContent, AssistantMessage, AssistantPart, StreamPart } from "./sdk.ts";

/**
 * What a model answered, as the SDK sends it back with the next step. Undefined if it says nothing: sources and approvals
 * alone are no answer.
 */
export function assistantMessage(content: readonly AnswerContent[]): AssistantMessage | undefined {
  const parts = content.flatMap(partOf);
  return parts.length === 0 ? undefined : { role: "assistant", content: parts };
}

/** The same of an answer that was broken off: without calls, which nobody carries out; undefined if no word was said. */
export function brokenOff(content: readonly AnswerContent[]): AssistantMessage | undefined {
  const message = assistantMessage(content);
  const words = message && withoutAwaitedCalls(message);
  return words?.content.some(({ type }) => type === "text") === true ? words : undefined;
}

function partOf(part: AnswerContent): AssistantPart[] {
  const options = part.providerMetadata === undefined ? {} : { providerOptions: part.providerMetadata };
  switch (part.type) {
    case "text":
      return part.text === "" && part.providerMetadata === undefined
        ? []
        : [{ type: "text", text: part.text, ...options }];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...options }];
    case "custom":
      return [{ type: "custom", kind: part.kind, ...options }];
    case "file":
    case "reasoning-file":
      return [{ type: part.type, data: part.data, mediaType: part.mediaType, ...options }];
    case "tool-call": {
      const { toolCallId, toolName, providerExecuted } = part;
      const who = providerExecuted === undefined ? {} : { providerExecuted };
      return [{ type: "tool-call", toolCallId, toolName, input: parsed(part.input), ...who, ...options }];
    }
    case "tool-result": {
      const { toolCallId, toolName, result, isError, preliminary } = part;
      // Another one follows, with the same call.
      if (preliminary === true) return [];
      const output = { type: isError === true ? ("error-json" as const) : ("json" as const), value: result };
      return [{ type: "tool-result", toolCallId, toolName, output, ...options }];
    }
    default:
      return [];
  }
}

/** A call's arguments, which a model writes as JSON, and sometimes not. */
function parsed(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    return {};
  }
}

/** Gathers the parts of a stream into what `doGenerate` would have answered with. */
export class Gathered {
  readonly content: AnswerContent[] = [];
  /** Whether the model said that it failed, or that it is done. */
  failed = false;
  finished = false;
  readonly #open = new Map<string, Extract<AnswerContent, { type: "text" | "reasoning" }>>();

  add(part: StreamPart): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const block = {
          type: part.type === "text-start" ? ("text" as const) : ("reasoning" as const),
          text: "",
        };
        this.#open.set(blockKey(part), block);
        this.content.push(block);
        this.#note(part);
        return;
      }
      case "text-delta":
      case "reasoning-delta": {
        const block = this.#open.get(blockKey(part));
        if (block !== undefined) block.text += part.delta;
        this.#note(part);
        return;
      }
      case "text-end":
      case "reasoning-end":
        this.#note(part);
        return;
      case "error":
        this.failed = true;
        return;
      case "finish":
        this.finished = true;
        return;
      case "tool-call":
      case "tool-result":
      case "custom":
      case "file":
      case "reasoning-file":
        this.content.push(part);
        return;
      default:
    }
  }

  /** The last metadata of a block are its own, as the SDK has it. */
  #note(
    part: Extract<StreamPart, { id: string; providerMetadata?: unknown; type: `${Kind}-${string}` }>,
  ): void {
    const block = this.#open.get(blockKey(part));
    if (block !== undefined && part.providerMetadata !== undefined)
      block.providerMetadata = part.providerMetadata;
  }
}

type Kind = "text" | "reasoning";

/** A block of text and one of reasoning may have the same id. */
const blockKey = ({ type, id }: { type: `${Kind}-${string}`; id: string }): string =>
  `${type.startsWith("text") ? "text" : "reasoning"} ${id}`;
