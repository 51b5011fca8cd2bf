import type { Hit, RememberBody } from "../../shapes.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import type { ExecutionContext, ItemLog } from "./interfaces.ts";
import { type LoggedTurn, type Turn, turnsIn } from "./turns.ts";

/** Bytes of a memory's text (src/domain/limits.ts). */
const LONGEST_TEXT = 32 * 1024;

/** A turn of a run, identified by the execution and its fixed place in the log. */
export const turnOf = ({ at, ...said }: LoggedTurn, { executionId, threadId }: ExecutionContext): Turn => ({
  ...said,
  id: `${startOfIds(executionId)}${at}`,
  threadId,
});

/** The default memory of a turn. */
export const episodeOf = (turn: Turn): RememberBody => ({
  kind: "episode",
  type: "turn",
  text: textOf(turn),
  externalId: turn.id,
  source: sourceOf(turn),
});

/** The source of a memory; an empty thread id means none. */
export const sourceOf = ({ threadId }: Pick<ExecutionContext, "threadId">) =>
  threadId === "" ? undefined : { thread: threadId };

/** Excludes hits that the model sees anyway: those of this execution, or with the log's own words. */
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
