import type { Memory, PastMemory } from "../../domain/schema/memory.ts";
import type { Hit } from "../../domain/schema/recall.ts";
import { day, oneLine, quoted } from "../../domain/conversation/stored-text.ts";

/** Characters of a message beside a hit. */
const BESIDE = 300;

type Shown = Pick<Memory, "id" | "text"> &
  Partial<Pick<Memory, "title" | "tags" | "scope" | "userId" | "validFrom" | "validTo" | "createdAt">> & {
    kind: string;
    score?: number;
  };

/** One memory on one line: what it is, when, how it is called, then what it says. `user`: whose needs no word. */
export function memoryLine(memory: Shown, user: string): string {
  const { id, kind, title, tags, scope, userId, score, validFrom, createdAt, validTo } = memory;
  const since = validFrom ?? createdAt;
  const about = [
    `id ${id}`,
    title === undefined ? kind : `${kind} ${quoted(title)}`,
    ...(since === undefined ? [] : [`since ${day(since)}`]),
    ...(validTo === undefined ? [] : [`until ${day(validTo)}`]),
    ...(score === undefined ? [] : [`score ${score.toFixed(2)}`]),
    ...(tags === undefined || tags.length === 0 ? [] : [`tags ${tags.map(quoted).join(" ")}`]),
    ...(scope === undefined ? [] : [`scope ${quoted(scope)}`]),
    ...(userId === undefined || userId === user ? [] : [`owner ${quoted(userId)}`]),
  ];
  return `- [${about.join(" | ")}] ${oneLine(memory.text)}`;
}

/** A message that was found, on one line each it and those beside it, in their order. */
export function messageLines(hit: Hit, user: string): string {
  const { threadId = "", seq = 0, role = "", window = [], userId } = hit;
  const said = [
    `message ${seq}`,
    `thread ${threadId}`,
    day(hit.createdAt ?? 0),
    `score ${hit.score.toFixed(2)}`,
  ];
  if (userId !== undefined && userId !== user) said.push(`owner ${quoted(userId)}`);
  const beside = window.map(
    (message) => `    ${message.seq} ${quoted(message.role)}: ${oneLine(message.text, BESIDE)}`,
  );
  return [`- [${said.join(" | ")}] ${quoted(role)}: ${oneLine(hit.text)}`, ...beside].join("\n");
}

export const hitLine = (hit: Hit, user: string): string =>
  hit.kind === "message" ? messageLines(hit, user) : memoryLine(hit, user);

/** One version of a memory on one line: when it was true, and whether it was found to be wrong. */
export function versionLine(version: PastMemory, most: number): string {
  const { validFrom, validTo, supersededBy, correctedAt, status } = version;
  const about = [
    `version ${version.version}`,
    `true from ${day(validFrom)}`,
    ...(validTo === undefined ? [] : [`until ${day(validTo)}`]),
    ...(supersededBy === undefined ? [] : [`then version ${supersededBy}`]),
    ...(correctedAt === undefined ? [] : [`corrected ${day(correctedAt)}`]),
    ...(status === "active" ? [] : ["waits for review"]),
  ];
  return `- [${about.join(" | ")}] ${oneLine(version.text, most)}`;
}
