import { recallId } from "./usage.ts";
import { z } from "@hono/zod-openapi";
import { layers as layerList } from "../context/layers/index.ts";
import { blocks } from "../context/layers/layer.ts";
import { layerNames, rulesOf } from "../context/layers/rules.ts";
import { tokenizers } from "../context/tokens.ts";
import { DURATION, durationMs } from "../prompt-cache/duration.ts";
import { limits } from "../limits.ts";
import { isTimeZone } from "../ranking/time-span.ts";
import { excludes, goesWith, plainObject, text, timestamp } from "./bounds.ts";
import { boolean, integer, mark, optional, shape, string } from "./described.ts";
import { provider } from "./prompt-cache.ts";
import { name, share } from "./memory-fields.ts";
import { answerable, ownersField } from "./recall.ts";
import { MessageList, type Message } from "./thread.ts";

/** The formats of a block. */
export const contextFormats = ["xml", "markdown", "json", "messages"] as const;
export type ContextFormat = (typeof contextFormats)[number];

/** The shapes of these layers' options. */
const shapesOf = <const List extends readonly { options: unknown }[]>(list: List) =>
  // `map` forgets which one is where.
  list.map(({ options }) => options) as { [I in keyof List]: List[I]["options"] };
export const ContextLayer = z.discriminatedUnion("type", shapesOf(layerList)).openapi("ContextLayer");
export type ContextLayer = z.infer<typeof ContextLayer>;

export const layers = z
  .array(ContextLayer)
  .min(1)
  .max(20)
  .superRefine((list, context) => {
    for (const [i, { type }] of list.entries())
      if (rulesOf({ type }).isRepeated !== true && list.findIndex((one) => one.type === type) < i)
        context.addIssue({ code: "custom", path: [i, "type"], message: `is a second layer ${type}` });
  });

/** A stored list of layers. */
export const ContextProfile = z.object({ name, layers }).openapi("ContextProfile");
export type ContextProfile = z.infer<typeof ContextProfile>;
export const ContextProfileBody = z.strictObject({ layers }).openapi("PutContextProfile");
export const ContextProfileList = z.object({ items: z.array(ContextProfile) }).openapi("ContextProfileList");

const messageHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "is no SHA-256 in hex")
  .openapi({ example: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" });

export const ContextBody = z
  .strictObject({
    query: text(limits.query)
      .refine((query) => query.trim() !== "", "holds only white space")
      .optional()
      .openapi({ description: "The user's message. Without it, layers that search are empty." }),
    threadId: string(
      "The user's thread. The stable block holds for it, and the turn's block is kept with the message that it was given for.",
    ).optional(),
    thread: z.strictObject({ agent: name }).optional().openapi({
      description:
        "In place of `threadId`: the user's latest thread with this agent. It begins if there is none, so the token needs the scope `write`.",
    }),
    history: z.int().min(1).max(limits.page).optional().openapi({
      description:
        "The answer has so many of the thread's last messages; of a longer thread half as many at least, so that the first one changes seldom. `messages` are then the ones behind them.",
    }),
    scope: name.optional().openapi({ description: "Only memories of this scope." }),
    owners: ownersField.describe(
      "Shared owners (`shared:…`) that the layers which search have too, as far as the token may read them.",
    ),
    budget: optional(
      z.int().min(limits.contextTokensMin).max(limits.contextTokens),
      "Maximum number of tokens of both blocks together; 2,000 unless set.",
    ),
    layers: layers.optional().openapi({ description: "The parts of the blocks; the usual ones unless set." }),
    profile: name.optional().openapi({ description: "A stored list of layers, in place of `layers`." }),
    format: z.enum(contextFormats).optional().openapi({ description: "`xml` unless set." }),
    sources: boolean(
      "Each item ends with where it is from: the id of its memory, `<threadId>:<seq>` of its message, or the key of its entry.",
    ).optional(),
    snapshot: text(limits.name).optional().openapi({
      description:
        "The first answer under this name is given again for an hour, whatever is written meanwhile.",
      example: "run-7",
    }),
    snapshotTtl: z
      .string()
      .regex(DURATION, "is no duration as in `30m` or `1h`")
      .refine((ttl) => (durationMs(ttl) ?? 0) <= limits.snapshotMs, "is longer than a day")
      .optional(),
    messages: z.array(messageHash).max(limits.page).optional().openapi({
      description:
        "SHA-256 (hex) of the text of each of the user's messages in the prompt, in order, the last one that of `query`. `pinned` of the answer has the blocks that the earlier ones were sent with; without `query`, all of them.",
    }),
    provider: provider.optional().openapi({
      description:
        "The provider that caches the prompt: it sets how long a cache lives after its last use. `anthropic` unless set.",
    }),
    cacheTtl: z.string().regex(DURATION, "is no duration as in `5m` or `1h`").optional().openapi({
      description:
        "The lifetime that the provider is asked for. The stable block is renewed in a thread that was idle for longer. The provider's default unless set: `5m` for anthropic, `1h` for openai and google.",
    }),
    tokenizer: z.enum(tokenizers).optional().openapi({
      description:
        "How tokens are counted. `characters` unless set: four characters each. `o200k_base`: as OpenAI's models do since GPT-4o.",
    }),
    answerable: answerable.optional().openapi({
      description: "`auto` unless set: nothing is recalled for a query that nothing answers.",
    }),
    referenceDate: timestamp.optional(),
    timeZone: z.string().refine(isTimeZone, "is no IANA time zone").optional(),
    explain: boolean("The answer tells of each candidate why it is in or out.").optional(),
  })
  .refine(...excludes("profile", "layers", "takes the place of `layers`: give one of them"))
  .refine(...excludes("thread", "threadId", "takes the place of `threadId`: give one of them"))
  .refine(({ messages, threadId, thread }) => messages === undefined || (threadId ?? thread) !== undefined, {
    path: ["messages"],
    error: "goes with threadId or thread, whose blocks it asks for",
  })
  .refine(({ history, threadId, thread }) => history === undefined || (threadId ?? thread) !== undefined, {
    path: ["history"],
    error: "goes with threadId or thread, whose messages it asks for",
  })
  .refine(({ history, format }) => history === undefined || format !== "messages", {
    path: ["history"],
    error: "goes with the formats of text; with `messages`, a layer `history` has the number",
  })
  .refine(...goesWith("snapshotTtl", "snapshot", "goes with snapshot"))
  .openapi("ContextRequest", {
    example: { query: "Where should I eat tonight?", threadId: "…", budget: 1000 },
  });
export type ContextBody = z.infer<typeof ContextBody>;

const anyObject = plainObject<Message>().openapi({ type: "object", additionalProperties: true });

const block = z.object({
  text: string("For the prompt; empty if there is nothing."),
  tokens: z.int(),
});

const Section = z.object({
  layer: z.enum(layerNames),
  slot: z.int(),
  block: z.enum(blocks),
  tokens: z.int(),
  items: z.int(),
  dropped: integer("Items that were left out for the budget."),
  ms: integer("Duration by the platform's clock, which advances only during I/O."),
  status: z.enum(["ok", "late", "failed"]),
});
export type ContextSection = z.infer<typeof Section>;

const Candidate = z.object({
  layer: Section.shape.layer,
  id: string("Of the memory or the message; the key of an entry."),
  text: z.string(),
  score: z.number().optional(),
  why: z.enum(["fits", "budget", "known"]).openapi({
    description: "`known`: another layer, the prompt or an earlier turn has it.",
  }),
});
export type ContextCandidate = z.infer<typeof Candidate>;

export const ContextAnswer = shape("Context", {
  stable: block.extend({ etag: string("Changes with the text of the block.") }).openapi({
    description:
      "What does not depend on the query. Put it first: its bytes stay the same from turn to turn.",
  }),
  recalled: block.openapi({ description: "What belongs to this turn. Put it before the user's message." }),
  messages: z.array(anyObject).optional().openapi({
    description: "With the format `messages`: the prompt, from the stable block to the user's message.",
  }),
  pinned: z
    .array(z.object({ index: z.int(), text: z.string() }))
    .optional()
    .describe("With `messages`: the blocks of earlier messages, by their index in the list."),
  threadId: string("With `thread`: the thread's id.").optional(),
  history: z
    .array(
      MessageList.shape.items.element.extend({
        block: string(
          "The block that the message was sent with. Put it before the message's text.",
        ).optional(),
      }),
    )
    .optional()
    .describe("With `history`: the thread's last messages, with summaries in place of what they cover."),
  sections: z.array(Section),
  tokens: z.int(),
  etag: z.string(),
  pin: string("Names the block that is kept with the user's message.").optional(),
  prefixChanged: mark(
    "Something that the provider has cached is different now: the stable block, or an earlier turn's.",
  ),
  recallId,
  confidence: share.optional().openapi({ description: "Of the recall." }),
  abstained: mark("Nothing that is stored answers the query."),
  candidates: optional(z.array(Candidate), "With `explain`, unless the turn's block was kept before."),
});
export type ContextAnswer = z.infer<typeof ContextAnswer>;
