import { messageHash } from "../../../../src/domain/context/message-hash.ts";
import type { RememberBody } from "../../../client/src/shapes.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import type { ExecutionContext } from "./interfaces.ts";
import type { LoggedTurn, Turn } from "./turns.ts";

/** Bytes of a memory's text (src/domain/limits.ts). */
const LONGEST_TEXT = 32 * 1024;

/** A turn of a run, identified by the execution and its fixed place in the log. */
export async function turnOf(
  { at, asked, user, assistant }: LoggedTurn,
  { executionId, threadId }: ExecutionContext,
): Promise<Turn> {
  const source = { ...sourceOf({ threadId }), ...(asked !== "" && { message: await messageHash(asked) }) };
  return { id: `noetic:${executionId}:${at}`, user, assistant, threadId, source };
}

/** The default memory of a turn. */
export const episodeOf = (turn: Turn): RememberBody => ({
  kind: "episode",
  type: "turn",
  text: textOf(turn),
  externalId: turn.id,
});

/** The source of a memory; an empty thread id means none. */
export const sourceOf = ({ threadId }: Pick<ExecutionContext, "threadId">): Turn["source"] =>
  threadId === "" ? {} : { thread: threadId };

function textOf({ user, assistant }: Turn): string {
  return truncateUtf8(
    (user === "" ? assistant : `User: ${user}\nAssistant: ${assistant}`).replaceAll("\0", "\ufffd"),
    LONGEST_TEXT,
  );
}
