import { withBlock } from "../../domain/context/prompted-message.ts";
import type { ReadMessage } from "../../domain/page-json.ts";
import type { Message } from "../../domain/schema/thread.ts";

/** A stored message as its prompt had it. */
export function promptedMessage({ body, block }: Pick<ReadMessage, "body" | "block">): Message {
  const message = JSON.parse(decoder.decode(body)) as Message;
  return block === undefined ? message : withBlock(message, block);
}

const decoder = new TextDecoder();
