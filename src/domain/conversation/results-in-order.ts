import { type AnyMessage, listField, textField } from "./message.ts";
import {
  answeredCall,
  approvalRequests,
  awaitedCalls,
  isApprovalResponse,
  isResultPart,
  resultPartId,
  roleOf,
} from "./tool-calls.ts";

// Anthropic refuses a user's words before the results; the AI SDK has approvals answered before they are acted on.
const AFTER_RESULTS = Number.MAX_SAFE_INTEGER;
const BEFORE_RESULTS = -1;

/** A message with its place in the turn, or one part of it. Without a place, it has no call and goes. */
type Piece<M> = { rank: number | undefined; from: M; part?: unknown };

/**
 * The results of the calls of `head`, in the order of the calls, the first of each call only; undefined if a call has
 * none. Messages whose results interleave are split, so that the order can be had. Of a message that `speaks`, what
 * is no result comes after all results.
 */
export function resultsInOrder<M extends AnyMessage>(
  head: M,
  results: readonly M[],
  speaks: (message: M) => boolean,
): M[] | undefined {
  const ranks = new Map(awaitedCalls(head).map((id, rank) => [id, rank]));
  const approvals = approvalRequests(head);
  const take = (id: string | undefined): number | undefined => {
    const rank = id === undefined ? undefined : ranks.get(id);
    if (rank !== undefined) ranks.delete(id);
    return rank;
  };
  const pieces = results.flatMap((from): Piece<M>[] => {
    const whole = answeredCall(from);
    if (whole !== undefined) return [{ rank: take(whole), from }];
    const taken = listField(from, "content").map((part) => ({
      part,
      rank: isResultPart(part) ? take(resultPartId(part)) : undefined,
    }));
    // With the first result, which sorting changes, sanitising twice would move these parts twice.
    const last = taken.flatMap(({ rank }) => rank ?? []).toSorted((a, b) => b - a)[0];
    const besides = speaks(from) ? AFTER_RESULTS : last;
    return taken.map(({ part, rank }) => {
      if (isResultPart(part)) return { rank, from, part };
      if (roleOf(from) !== "tool" || !isApprovalResponse(part)) return { rank: besides, from, part };
      const known = approvals.has(textField(part, "approvalId"));
      return { rank: known ? BEFORE_RESULTS : undefined, from, part };
    });
  });
  return ranks.size > 0 ? undefined : messagesOf(pieces);
}

function messagesOf<M extends AnyMessage>(pieces: readonly Piece<M>[]): M[] {
  const placed = pieces
    .flatMap(({ rank, ...piece }) => (rank === undefined ? [] : [{ rank, ...piece }]))
    .toSorted((a, b) => a.rank - b.rank);
  const runs: { from: M; parts: unknown[] | undefined }[] = [];
  for (const { from, ...piece } of placed) {
    const last = runs.at(-1);
    if (last?.from === from) last.parts?.push(piece.part);
    else runs.push({ from, parts: "part" in piece ? [piece.part] : undefined });
  }
  return runs.map(({ from, parts }) => (parts === undefined ? from : withContent(from, parts)));
}

/** The same message with these parts only; the very same object if it has no others. */
export function withContent<M extends AnyMessage>(message: M, parts: readonly unknown[]): M {
  const content = listField(message, "content");
  const same = parts.length === content.length && parts.every((part, i) => part === content[i]);
  return same ? message : { ...message, content: parts };
}
