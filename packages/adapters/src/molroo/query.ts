import type { ListMemoriesQuery } from "../../../client/src/index.ts";
import { LONG_CONTEXT } from "./episode.ts";
import { isName, moment, nameOf, within } from "./fields.ts";
import type { Episode, RecallQuery } from "./types.ts";

/** Items of a page. */
const PAGE = 1000;
/** The most types in one URL; `matches` checks more. */
const MOST_TYPES = 50;
/** Characters of the encoded ids in one URL. */
const URL_ROOM = 4_000;

const typesOf = ({ type }: RecallQuery): string[] | undefined =>
  type === undefined || type === "" ? undefined : Array.isArray(type) ? type : [type];

/**
 * The lists that together hold every episode of a query, each newest first. They hold as few others as the server can
 * exclude; `matches` decides.
 */
export async function questionsOf(
  query: RecallQuery,
  { scope, most }: { scope: string; most: number },
): Promise<ListMemoriesQuery[]> {
  const { sourceEntity, minImportance = 0, timeRange = [], valenceRange = [], context } = query;
  const types = typesOf(query);
  if (types?.length === 0) return [];
  const list: ListMemoriesQuery = {
    kind: ["episode"],
    scope: [scope],
    sourceEntity: await nameOf(sourceEntity),
    type: types && types.length <= MOST_TYPES ? await namesOf(types) : undefined,
    importanceMin: minImportance > 0 ? within(minImportance, 0, 1) : undefined,
    createdAtMin: timeRange[0] === undefined ? undefined : moment(timeRange[0]),
    createdAtMax: timeRange[1] === undefined ? undefined : moment(timeRange[1]),
    valenceMin: within(valenceRange[0], -1, 1),
    valenceMax: within(valenceRange[1], -1, 1),
    limit: Math.min(PAGE, most),
  };
  if (context === undefined || !isName(context)) return [list];
  return [
    { ...list, context },
    { ...list, tag: [LONG_CONTEXT] },
  ];
}

async function namesOf(names: readonly string[]): Promise<string[] | undefined> {
  const all = await Promise.all(names.map(nameOf));
  const some = all.filter((name) => name !== undefined);
  return some.length === 0 ? undefined : some;
}

/** True if the episode matches every condition of the query. */
export function matches(episode: Episode, query: RecallQuery): boolean {
  const { sourceEntity, context, minImportance, timeRange, valenceRange } = query;
  const types = typesOf(query);
  if (sourceEntity && episode.sourceEntity !== sourceEntity) return false;
  if (types && !(episode.type && types.includes(episode.type))) return false;
  if (minImportance !== undefined && !(episode.importance >= minImportance)) return false;
  if (timeRange && !isIn(episode.timestamp, timeRange)) return false;
  if (valenceRange && !isIn(episode.emotionSnapshot.V, valenceRange)) return false;
  return !context || lower(episode.context ?? "").includes(lower(context));
}

const isIn = (value: number, [min, max]: [number, number]): boolean => value >= min && value <= max;

/** Ignores the case of A to Z, as the server does. */
const lower = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

export const newestFirst = <T extends { timestamp: number }>(records: readonly T[]): T[] =>
  records.toSorted((a, b) => b.timestamp - a.timestamp);

/** Groups ids to fit into URLs. */
export function roomy(ids: readonly string[]): string[][] {
  const groups: string[][] = [];
  let room = 0;
  for (const id of ids) {
    const size = encodeURIComponent(id).length + "&externalId=".length;
    if (size > room) {
      groups.push([]);
      room = URL_ROOM;
    }
    groups.at(-1)?.push(id);
    room -= size;
  }
  return groups;
}
