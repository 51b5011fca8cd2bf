import { withoutAwaitedCalls } from "../../../../src/domain/conversation/tool-calls.ts";
import type { AnswerContent, AssistantMessage, AssistantPart, StreamPart } from "./sdk.ts";

/** The model's answer as the SDK sends it back with the next step; undefined if it has only sources and approvals. */
export function assistantMessage(content: readonly AnswerContent[]): AssistantMessage | undefined {
  const parts = content.flatMap(partOf);
  return parts.length === 0 ? undefined : { role: "assistant", content: parts };
}

/** An interrupted answer without its calls, which nobody executes; undefined if it has no text. */
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
      // A final result with the same call follows.
      if (preliminary === true) return [];
      const output = { type: isError === true ? ("error-json" as const) : ("json" as const), value: result };
      return [{ type: "tool-result", toolCallId, toolName, output, ...options }];
    }
    default:
      return [];
  }
}

/** A call's arguments. A model writes them as JSON, but not always validly. */
function parsed(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    return {};
  }
}

/** Collects the parts of a stream into the content that `doGenerate` returns. */
export class Gathered {
  readonly content: AnswerContent[] = [];
  /** The model reported an error or the end of its answer. */
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

  /** As in the SDK, the last metadata of a block win. */
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
