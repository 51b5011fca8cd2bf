import type { Hit, RememberBody } from "../../shapes.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import type { ExecutionContext, ItemLog } from "./interfaces.ts";
import { type LoggedTurn, type Turn, turnsIn } from "./turns.ts";

/** Bytes of a memory's text (src/domain/limits.ts). */
const LONGEST_TEXT = 32 * 1024;

/** A turn of a run. Its place in the log does not change, nor does the execution's id. */
export const turnOf = ({ at, ...said }: LoggedTurn, { executionId, threadId }: ExecutionContext): Turn => ({
  ...said,
  id: `${startOfIds(executionId)}${at}`,
  threadId,
});

/** What is remembered of a turn unless something else is made of it. */
export const episodeOf = (turn: Turn): RememberBody => ({
  kind: "episode",
  type: "turn",
  text: textOf(turn),
  externalId: turn.id,
  source: sourceOf(turn),
});

/** Where a memory comes from: no name is empty. */
export const sourceOf = ({ threadId }: Pick<ExecutionContext, "threadId">) =>
  threadId === "" ? undefined : { thread: threadId };

/** Whether a hit is no turn that the model has before it anyway: of this execution, or as the log says it. */
export function notIn(log: ItemLog, { executionId }: ExecutionContext): (hit: Hit) => boolean {
  const own = startOfIds(executionId);
  const said = new Set(turnsIn(log.items).map(textOf));
  return ({ externalId, text }) => externalId?.startsWith(own) !== true && !said.has(text);
}

const startOfIds = (executionId: string): string => `noetic:${executionId}:`;

function textOf({ user, assistant }: Pick<Turn, "user" | "assistant">): string {
  return truncateUtf8(
    (user === "" ? assistant : `User: ${user}\nAssistant: ${assistant}`).replaceAll("\0", "\ufffd"),
    LONGEST_TEXT,
  );
}
