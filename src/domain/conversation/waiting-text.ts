import { oneLine, quoted } from "./stored-text.ts";

/** The fields that a write tells of a memory, beside that it is stored. */
export type Written = {
  id: string;
  status: string;
  reasons?: readonly string[] | undefined;
  conflictsWith?: string | undefined;
  superseded?: readonly { id: string; text: string }[] | undefined;
};

/** These fields, of a memory that has more. */
export const writtenOf = ({ id, status, reasons, conflictsWith, superseded }: Written): Written => ({
  id,
  status,
  ...(status !== "active" && reasons !== undefined && { reasons }),
  ...(status !== "active" && conflictsWith !== undefined && { conflictsWith }),
  ...(superseded !== undefined && { superseded }),
});

/** Tells a model that a memory waits for review, and why; null if it is live. */
export function waitingText({ status, id, conflictsWith, reasons = [] }: Written): string | null {
  if (status === "active") return null;
  const others = reasons.length === 0 ? "" : ` The reasons: ${reasons.join(", ")}.`;
  const why =
    conflictsWith === undefined
      ? others
      : ` It contradicts the memory ${conflictsWith}, which has a higher trust.`;
  return `Kept for review (id ${id}), and not in use until a person releases it.${why}`;
}

/** Characters of an ended fact. */
const ENDED = 200;

/** Tells a model which facts a write has ended, so that it can object or tell its user; empty without one. */
export const endedText = ({ superseded = [] }: Pick<Written, "superseded">): string =>
  superseded.length === 0
    ? ""
    : ` It ends what was true before: ${superseded.map(({ id, text }) => `${quoted(oneLine(text, ENDED))} (id ${id})`).join(", ")}.`;

/** Tells a model what a write has done: `done` and the facts that it ended, or that it waits. */
export const writtenText = (written: Written, done: string): string =>
  waitingText(written) ?? `${done}${endedText(written)}`;
