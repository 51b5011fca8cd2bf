import { sha256Hex } from "../hash.ts";
import { type MessageText, searchableText } from "../memory/message-text.ts";

/** The characters of a message that count; `limits.searchableText`. */
const CHARACTERS = 32 * 1024;

/** SHA-256 (hex) of the text of a user's message, without the white space around it. */
export const messageHash = (text: string): Promise<string> =>
  sha256Hex(text.slice(0, CHARACTERS).toWellFormed().trim());

/** The name of a turn: the user's message and the one before it, so that a second "yes" is another turn. */
export const turnName = (before: string | undefined, hash: string): Promise<string> =>
  sha256Hex(`${before ?? ""}\n${hash}`);

/** The text of a user's message, which names its turn; empty for the results of tools that some SDKs put into one. */
export const userText = ({ content, parts }: MessageText): string => searchableText({ content, parts }).text;
