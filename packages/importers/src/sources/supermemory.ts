// supermemory: documents (`/v3/documents/list` with `includeContent`, `/v3/documents/{id}`) and memory entries.
import { z } from "@hono/zod-openapi";
import {
  type Found,
  id,
  isObject,
  optionalList,
  optionalText,
  optionalTexts,
  present,
  type Shape,
  type Source,
  text,
  time,
} from "../source.ts";

const times = { createdAt: time, updatedAt: time };
const Entry = z.object({
  id,
  memory: text,
  containerTag: optionalText,
  spaceContainerTag: optionalText,
  containerTags: optionalTexts,
  isForgotten: z.boolean("is no boolean").nullish(),
  isLatest: z.boolean("is no boolean").nullish(),
  isStatic: z.boolean("is no boolean").nullish(),
  forgetAfter: time,
  metadata: z.unknown().optional(),
  ...times,
});
const Document = z.object({
  id,
  content: optionalText,
  summary: optionalText,
  title: optionalText,
  type: optionalText,
  url: optionalText,
  customId: optionalText,
  containerTags: optionalTexts,
  metadata: z.unknown().optional(),
  memoryEntries: optionalList,
  ...times,
});

export const supermemory: Source = {
  lists: new Set(["memories", "documents", "results"]),
  files: /\.jsonl?$/,
  open: () => ({ read }),
};

function read(value: unknown, shape: Shape): Found[] {
  if (isObject(value) && "memory" in value) return [entryOf(shape(Entry, value), undefined)];
  const document = shape(Document, value);
  const user = userOf(document);
  const entries = (document.memoryEntries ?? []).flatMap((given, i) => {
    const readOne = () => entryOf(shape(Entry, given, `.memoryEntries[${i}]`), user);
    return shape.entry(readOne, { entries: "memory entries", example: document.id }) ?? [];
  });
  return [documentOf(document, user), ...entries];
}

/** The one container tag, which supermemory recommends to be the user. */
function userOf({
  containerTags,
  ...one
}: { containerTags?: string[] | null | undefined } & Container): string | undefined {
  const single = containerTags?.length === 1 ? containerTags[0] : undefined;
  return one.containerTag ?? one.spaceContainerTag ?? single;
}
type Container = { containerTag?: string | null | undefined; spaceContainerTag?: string | null | undefined };

function entryOf(entry: z.infer<typeof Entry>, ofDocument: string | undefined): Found {
  const skip = (reason: string): Found => ({ type: "skipped", reason, example: entry.id });
  if (entry.isForgotten === true) return skip("forgotten in supermemory");
  if (entry.isLatest === false) return skip("former versions");
  return {
    type: "memory",
    id: entry.id,
    user: userOf(entry) ?? ofDocument,
    text: entry.memory,
    metadata: objectOf(entry.metadata),
    more: present({ containerTags: entry.containerTags, isStatic: entry.isStatic }),
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    expiresAt: entry.forgetAfter,
  };
}

function documentOf(document: z.infer<typeof Document>, user: string | undefined): Found {
  const { content, summary, title } = document;
  const body = [content, summary].find((one) => (one ?? "").trim() !== "") ?? "";
  if (body === "")
    return {
      type: "skipped",
      reason: "documents without content: list them with includeContent",
      example: document.id,
    };
  return {
    type: "memory",
    id: document.id,
    user,
    text:
      title === null || title === undefined || title === "" || body.startsWith(title)
        ? body
        : `${title}\n\n${body}`,
    tags: ["document"],
    metadata: objectOf(document.metadata),
    more: present({
      title,
      type: document.type,
      url: document.url,
      customId: document.customId,
      containerTags: document.containerTags,
      // The text is the content then.
      summary: body === content ? summary : undefined,
    }),
    createdAt: document.createdAt,
    updatedAt: document.updatedAt,
  };
}

const objectOf = (metadata: unknown): Record<string, unknown> | undefined => {
  if (metadata === null || metadata === undefined) return undefined;
  return isObject(metadata) ? metadata : { metadata };
};
