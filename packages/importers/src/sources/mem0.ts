// mem0: `get_all` of the platform and of the open-source package, memory exports with its fields, and `history`.
import { z } from "@hono/zod-openapi";
import {
  type Found,
  type FoundMemory,
  id,
  inShort,
  isObject,
  optionalObject,
  optionalText,
  optionalTexts,
  present,
  type Reader,
  type Shape,
  type Source,
  text,
  time,
} from "../source.ts";

const Memory = z.object({
  id,
  memory: text,
  user_id: optionalText,
  userId: optionalText,
  agent_id: optionalText,
  app_id: optionalText,
  run_id: optionalText,
  actor_id: optionalText,
  role: optionalText,
  metadata: optionalObject,
  categories: optionalTexts,
  created_at: time,
  createdAt: time,
  updated_at: time,
  updatedAt: time,
  expiration_date: optionalText,
});
const Change = z.object({
  memory_id: id,
  new_memory: optionalText,
  event: optionalText,
  is_deleted: z.unknown().optional(),
  created_at: time,
  updated_at: time,
});
type Change = z.infer<typeof Change>;
const Relation = z.object({
  source: text,
  relationship: optionalText,
  relation: optionalText,
  target: optionalText,
  destination: optionalText,
  user_id: optionalText,
});

export const mem0: Source = {
  lists: new Set(["results", "memories", "relations", "history"]),
  files: /\.jsonl?$/,
  open: () => new Mem0Reader(),
};

class Mem0Reader implements Reader {
  /** The last change of each memory, and the number of changes before it. */
  readonly #history = new Map<string, { last: Change; earlier: number }>();
  /** The memories that are there as such. */
  readonly #ids = new Set<string>();

  read(value: unknown, shape: Shape): readonly Found[] {
    if (isObject(value) && "memory_id" in value) return this.#change(shape(Change, value));
    if (isObject(value) && ("relationship" in value || "relation" in value))
      return [relationOf(shape(Relation, value))];
    const row = shape(Memory, value);
    this.#ids.add(row.id);
    return [memoryOf(row, expiryOf(row.expiration_date, shape))];
  }

  #change(change: Change): Found[] {
    const known = this.#history.get(change.memory_id);
    const isNewer = known === undefined || isAfter(change, known.last);
    this.#history.set(change.memory_id, {
      last: isNewer ? change : known.last,
      earlier: known === undefined ? 0 : known.earlier + 1,
    });
    return [];
  }

  end(): readonly Found[] {
    return [...this.#history].flatMap(([memoryId, { last, earlier }]): Found[] => {
      if (this.#ids.has(memoryId))
        return [{ type: "skipped", reason: "former versions", example: memoryId, count: earlier + 1 }];
      const before: Found[] =
        earlier === 0
          ? []
          : [{ type: "skipped", reason: "former versions", example: memoryId, count: earlier }];
      if (isDeletion(last))
        return [...before, { type: "skipped", reason: "deleted in mem0", example: memoryId }];
      const memory: FoundMemory = {
        type: "memory",
        id: memoryId,
        text: last.new_memory ?? "",
        createdAt: last.created_at,
        updatedAt: last.updated_at,
      };
      return [...before, memory];
    });
  }
}

/** Nothing follows a deletion, which may have no time. At equal times an addition is first; else as in the file. */
function isAfter(change: Change, other: Change): boolean {
  if (isDeletion(change) !== isDeletion(other)) return isDeletion(change);
  const [at, otherAt] = [timeOf(change), timeOf(other)];
  return at > otherAt || (at === otherAt && change.event !== "ADD");
}

const isDeletion = ({ event, is_deleted }: Change): boolean =>
  event === "DELETE" || is_deleted === true || is_deleted === 1;

const timeOf = ({ created_at, updated_at }: Change): number => updated_at ?? created_at ?? 0;

const memoryOf = (row: z.infer<typeof Memory>, expiresAt: number | undefined): FoundMemory => ({
  type: "memory",
  id: row.id,
  user: row.user_id ?? row.userId ?? undefined,
  text: row.memory,
  tags: row.categories ?? [],
  metadata: row.metadata ?? undefined,
  more: present({
    agentId: row.agent_id,
    appId: row.app_id,
    runId: row.run_id,
    actorId: row.actor_id,
    role: row.role,
  }),
  createdAt: row.created_at ?? row.createdAt,
  updatedAt: row.updated_at ?? row.updatedAt,
  expiresAt,
});

/** A memory of mem0 lives through the day of its `expiration_date`. */
function expiryOf(date: string | null | undefined, shape: Shape): number | undefined {
  const { expiration_date } = shape(z.object({ expiration_date: time }), { expiration_date: date });
  if (expiration_date === undefined) return undefined;
  return /^\d{4}-\d\d-\d\d$/.test(date?.trim() ?? "") ? expiration_date + DAY_MS - 1 : expiration_date;
}

const DAY_MS = 24 * 60 * 60 * 1000;

function relationOf({
  source,
  relationship,
  relation,
  target,
  destination,
  user_id,
}: z.infer<typeof Relation>): Found {
  const parts = [source, relationship ?? relation ?? "", target ?? destination ?? ""];
  const words = parts
    .map((part) => part.replaceAll("_", " "))
    .join(" ")
    .trim();
  if (parts.includes(""))
    return { type: "skipped", reason: "relations without both ends", example: inShort(words) };
  return {
    type: "memory",
    id: `relation:${parts.map(encodeURIComponent).join("/")}`,
    user: user_id ?? undefined,
    text: words,
    tags: ["relation"],
    more: { source: parts[0], relationship: parts[1], target: parts[2] },
  };
}
