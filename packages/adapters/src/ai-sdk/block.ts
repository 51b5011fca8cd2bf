import { day, inert, oneLine, quoted } from "../../../../src/domain/conversation/stored-text.ts";
import type { Hit, Memory } from "../../../client/src/shapes.ts";

export const tagged = (note: string, lines: readonly string[]): string =>
  `<memory>\n${note}\n${inert(lines.join("\n"))}\n</memory>`;

/** One line for each memory or message: kind, date, text. */
export function hitLines(hits: readonly Hit[]): string[] {
  const dated = datesOf(hits.map(timeOf));
  return hits.map((hit) => {
    const what = hit.kind === "message" ? `${quoted(hit.role ?? "")} said` : named(hit);
    return line([what, ...dated(timeOf(hit)), ...endOf(hit)], hit.text);
  });
}

/** Memories with the ids that tools take, and with the owner if it is another one than the user. */
export function memoryLines(memories: readonly (Memory | Hit)[], user: string): string[] {
  const dated = datesOf(memories.map(timeOf));
  return memories.map((memory) => {
    const { id, userId, text } = memory;
    const owner = userId === undefined || userId === user ? [] : [`owner ${quoted(userId)}`];
    return line([`id ${id}`, named(memory), ...dated(timeOf(memory)), ...endOf(memory), ...owner], text);
  });
}

const named = ({ kind, title }: Pick<Hit, "kind" | "title">): string =>
  title === undefined ? kind : `${kind} ${quoted(title)}`;

type Dated = { kind: string; validFrom?: number | undefined; createdAt?: number | undefined };

/** The start of a memory's validity, or the time a message was stored. */
const timeOf = ({ kind, validFrom, createdAt }: Dated): number | undefined =>
  kind === "message" ? createdAt : (validFrom ?? createdAt);

/** The end of a memory's validity: a query about a past time also finds what was true then. */
const endOf = ({ validTo }: { validTo?: number | undefined }): string[] =>
  validTo === undefined ? [] : [`until ${day(validTo)}`];

/** Dates in UTC; with the time where several share a day, to show which is newer. */
function datesOf(times: readonly (number | undefined)[]): (time: number | undefined) => string[] {
  const days = times.map((time) => (time === undefined ? "" : day(time)));
  return (time) => {
    if (time === undefined) return [];
    const shared = days.filter((one) => one === day(time)).length > 1;
    return [shared ? `${day(time)} ${new Date(time).toISOString().slice(11, 19)}` : day(time)];
  };
}

const line = (signs: readonly string[], text: string): string => `- [${signs.join(" | ")}] ${oneLine(text)}`;
