import { sha256Hex } from "../hash.ts";
import { type MessageText, searchableText } from "../memory/message-text.ts";

/** The characters of a message that count; `limits.searchableText`. */
const CHARACTERS = 32 * 1024;

/** SHA-256 (hex) of the text of a user's message, without the white space around it. */
export const messageHash = (text: string): Promise<string> =>
  sha256Hex(text.slice(0, CHARACTERS).toWellFormed().trim());

/**
 * The names that a prompt counts, by the hashes of the user's messages in their order; `before` is that of the message before them.
 * Each is of the message, the one before it (empty for none), and how often the two came before: each "yes" is a turn of its own.
 */
export function turnNames(hashes: readonly string[], before = ""): Promise<string[]> {
  const times = new Map<string, number>();
  return Promise.all(
    hashes.map((hash, i) => {
      const last = hashes[i - 1] ?? before;
      const time = times.get(last + hash) ?? 0;
      times.set(last + hash, time + 1);
      return sha256Hex([last, hash, ...(time === 0 ? [] : [time])].join("\n"));
    }),
  );
}

/** The text of a user's message, which names its turn; empty for the results of tools that some SDKs put into one. */
export const userText = ({ content, parts }: MessageText): string => searchableText({ content, parts }).text;
