import { z } from "@hono/zod-openapi";
import { limits } from "../../limits.ts";
import type { MemoryRow } from "../../memory/table.ts";
import { type MemoryKind, tag } from "../../schema/memory-fields.ts";
import type { RecallKind } from "../../schema/recall.ts";
import type { ContextItem, NumberedPlace, Shown } from "../item.ts";

/** The blocks of a prompt: of the thread, of the turn, and its messages. */
export const blocks = ["stable", "recalled", "messages"] as const;

/** Something that a layer shows: a version of a memory (`replaces`: it took the place of an earlier fact), or a ready item. */
export type Choice = ContextItem | { row: MemoryRow; replaces?: true };

/** The data that a layer chooses from, as it is now. */
export type LayerSource = {
  /** The scope that the call asks for. */
  scope: string | undefined;
  /** Live memories of a kind with all of these tags: the pinned ones, the most important and the newest. */
  memories: (kind: MemoryKind, tags?: readonly string[]) => readonly MemoryRow[];
  /** The versions among these that took the place of an earlier fact. */
  successors: (versions: readonly number[]) => ReadonlySet<number>;
  /** The standing instructions and preferences that hold, the newest first. */
  instructions: () => readonly ContextItem[];
  entries: (wanted: {
    prefix: string | undefined;
    keys: readonly string[];
    n: number;
  }) => readonly ContextItem[];
  /** The thread's compactions, the last first. */
  summaries: () => readonly ContextItem[];
};

/** The search of a layer. `k`: items that it shows at most; without a limit of its own (`isOpen`), the budget is the usual end. */
export type LayerQuery = {
  k: number;
  isOpen?: boolean;
  kinds?: readonly RecallKind[] | undefined;
  roles?: readonly string[] | undefined;
  tags?: readonly string[] | undefined;
  /** A share of the best score unless set. */
  minScore: number | undefined;
  timeoutMs: number | undefined;
  /** Shows whole texts, and not passages. */
  whole?: boolean;
};

/** The rules of a layer, given its options in a request. */
export type Rules<Options> = {
  /** The block that it is in. One of the stable block is in the turn's with the mode `atomic`. */
  block: (typeof blocks)[number];
  /** The share of the budget that it takes at most, if its limit is `auto`. */
  share: number;
  /** Takes the share that others leave, if that is more. */
  takesRest?: true;
  /** A list may have it more than once. */
  isRepeated?: true;
  /** A prompt with the thread's messages has what it shows. */
  isInHistory?: true;
  /** Decides with its search if anything stored answers the query, and shows nothing otherwise. */
  decides?: true;
  /** The tag or heading of its section; its name unless set. */
  tag?: string;
  /** Items that it shows at most. */
  most?(options: Options): number;
  /** The items without a search, the best first. */
  choose?(options: Options, source: LayerSource): readonly Choice[];
  /** The search of its items; null for none. A layer with a search depends on the query. */
  search?(options: Options): LayerQuery | null;
  /** The line of a memory. Only what never changes of a version is in it. Its text unless set. */
  line?(row: MemoryRow, place: NumberedPlace): Shown;
  /** The order in which a budget takes items of these scores and costs; theirs unless set. */
  order?(scores: readonly number[], costs: readonly number[]): number[];
};

/** The options that every layer has. */
export type LayerOptions = z.infer<z.ZodObject<typeof common>> & {
  type: string;
  mode?: z.infer<typeof mode>;
};
/** `options`: their shape in a request, with the layer's name as `type`. */
export type Layer<Schema extends z.ZodType<{ type: string }>> = Rules<z.infer<Schema>> & {
  name: z.infer<Schema>["type"];
  options: Schema;
};

export const defineLayer = <Schema extends z.ZodType<{ type: string }>>(
  layer: Layer<Schema>,
): Layer<Schema> => layer;

const tokens = z.int().min(1).max(limits.contextTokens);
const common = {
  slot: z.int().min(0).max(1000).optional().openapi({
    description: "Order of the layers, the lowest first; the order of the list unless set.",
  }),
  tokens: z
    .union([
      z.literal("auto"),
      z
        .strictObject({ min: tokens.optional(), max: tokens.optional() })
        .refine(({ min = 1, max = min }) => min <= max, { path: ["min"], error: "is larger than max" }),
    ])
    .optional()
    .openapi({
      description:
        "`min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.",
    }),
};

/** The shape of a layer's options. */
export const optionsOf = <const Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({ type: z.literal(name), ...common, ...shape });

/** An option for the number of items. */
export const items = (most: number, otherwise: number, what: string) =>
  z
    .int()
    .min(1)
    .max(most)
    .optional()
    .openapi({ description: `Maximum number of ${what}; ${otherwise} unless set.` });

/** The mode of layers without a query. */
export const mode = z.enum(["eventual", "atomic"]).optional().openapi({
  description:
    "`eventual` unless set: part of the stable block; a change comes as a note of the next turn. `atomic`: part of the turn's block, as it is now.",
});

/** The options of layers of memories. */
export const ofMemories = {
  tags: z
    .array(tag)
    .max(limits.tags)
    .optional()
    .openapi({ description: "Only memories with all of these tags." }),
};

/** The time limit of layers that search by the query. */
export const timeoutMs = z
  .int()
  .min(1)
  .max(limits.recallDeadlineMs)
  .optional()
  .openapi({ description: "The layer is left out if its search takes longer; 2,000 unless set." });
