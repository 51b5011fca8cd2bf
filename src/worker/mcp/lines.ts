import type { Memory, PastMemory } from "../../domain/schema/memory.ts";
import type { Hit } from "../../domain/schema/recall.ts";
import { day, oneLine, quoted } from "../../domain/conversation/stored-text.ts";

/** Characters of a neighbour of a hit. */
const BESIDE = 300;

type Shown = Pick<Memory, "id" | "text"> &
  Partial<Pick<Memory, "title" | "tags" | "scope" | "userId" | "validFrom" | "validTo" | "createdAt">> & {
    kind: string;
    score?: number;
  };

/** One memory on one line: its properties, then its text. Names the owner unless it is `user`. */
export function memoryLine(memory: Shown, user: string): string {
  const { id, kind, title, tags, scope, userId, score, validFrom, createdAt, validTo } = memory;
  const since = validFrom ?? createdAt;
  const about = [
    `id ${id}`,
    title === undefined ? kind : `${kind} ${quoted(title)}`,
    ...(since === undefined ? [] : [`since ${day(since)}`]),
    ...(validTo === undefined ? [] : [`until ${day(validTo)}`]),
    ...(score === undefined ? [] : [`score ${score.toFixed(2)}`]),
    ...labels({ tags, scope, userId }, user),
  ];
  return `- [${about.join(" | ")}] ${oneLine(memory.text)}`;
}

/** The tags, scope and owner of a memory. Names the owner unless it is `user`. */
export const labels = (
  {
    tags = [],
    scope,
    userId,
  }: { tags?: string[] | undefined; scope?: string | undefined; userId?: string | undefined },
  user: string,
): string[] => [
  ...(tags.length === 0 ? [] : [`tags ${tags.map(quoted).join(" ")}`]),
  ...(scope === undefined ? [] : [`scope ${quoted(scope)}`]),
  ...(userId === undefined || userId === user ? [] : [`owner ${quoted(userId)}`]),
];

/** A message that was found and its neighbours, one line each. */
export function messageLines(hit: Hit, user: string): string {
  const { threadId = "", seq = 0, role = "", window = [], userId } = hit;
  const said = [
    `message ${seq}`,
    `thread ${threadId}`,
    day(hit.createdAt ?? 0),
    `score ${hit.score.toFixed(2)}`,
    ...labels({ userId }, user),
  ];
  const beside = window.map(
    (message) => `    ${message.seq} ${quoted(message.role)}: ${oneLine(message.text, BESIDE)}`,
  );
  return [`- [${said.join(" | ")}] ${quoted(role)}: ${oneLine(hit.text)}`, ...beside].join("\n");
}

export const hitLine = (hit: Hit, user: string): string =>
  hit.kind === "message" ? messageLines(hit, user) : memoryLine(hit, user);

/** One version of a memory on one line: when it was true, and whether it was corrected. */
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
