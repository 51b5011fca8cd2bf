// The format of truth files: small stores, and queries of which nobody would dispute what has to come first, or that nothing may come.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { RememberInBatch } from "#domain/schema/memory.ts";

const ids = z.array(z.string()).min(1);
const texts = z.array(z.string().min(1)).min(1);

/** A query, and what is expected of its answer. It is right if all of it holds. */
const truthQuery = z.strictObject({
  query: z.string().min(1),
  /** Any of these is the first of ten hits. */
  first: ids.optional(),
  /** All of these are among the first three. */
  within3: ids.max(3).optional(),
  /** None of these is above the best of `first` and `within3`. */
  notAbove: ids.optional(),
  /** With `answerable: "auto"` there is no hit. */
  abstain: z.literal(true).optional(),
  /** The text of both blocks of a context has, and has not, these parts, whatever their case. */
  block: z.strictObject({ has: texts.optional(), hasNot: texts.optional() }).optional(),
  /** The list of memories has those that are live, and not those that have ended. */
  list: z.strictObject({ live: ids.optional(), ended: ids.optional() }).optional(),
  needs: z.string().optional(),
});
export type TruthQuery = z.infer<typeof truthQuery>;

const memory = z.strictObject({ id: z.string(), body: RememberInBatch });
const message = z.strictObject({
  id: z.string(),
  role: z.string(),
  name: z.string().optional(),
  content: z.string(),
  createdAt: z.int().optional(),
});

const truthCase = z
  .strictObject({
    id: z.string(),
    kind: z.string(),
    language: z.string().optional(),
    /** The date that "yesterday" of a query refers to, and its time zone. */
    referenceDate: z.int().optional(),
    timeZone: z.string().optional(),
    /** What the offline model lacks, as `multilingual`: such queries are counted apart. */
    needs: z.string().optional(),
    memories: z.array(memory).default([]),
    threads: z.array(z.strictObject({ id: z.string(), messages: z.array(message).min(1) })).default([]),
    queries: z.array(truthQuery).min(1),
  })
  .superRefine((one, context) => {
    for (const fault of faultsOf(one)) context.addIssue({ code: "custom", message: `${one.id}: ${fault}` });
  });
export type TruthCase = z.infer<typeof truthCase>;
export const truthFile = z.array(truthCase).min(1);

export const readTruth = (path: string): TruthCase[] =>
  truthFile.parse(JSON.parse(readFileSync(path, "utf8")));

/** Mistakes of a case's author: a name of nothing, or a query that expects nothing, or too much. */
function faultsOf({ memories, threads, queries }: Omit<TruthCase, "id" | "kind">): string[] {
  const known = [...memories, ...threads.flatMap(({ messages }) => messages)].map(({ id }) => id);
  const twice = known.filter((id, i) => known.indexOf(id) < i).map((id) => `two documents are ${id}`);
  return [
    ...twice,
    ...queries.flatMap(({ query, first, within3, notAbove, abstain, block, list }) => {
      const named = [first, within3, notAbove, list?.live, list?.ended].flatMap((some) => some ?? []);
      const hasAnswer = first !== undefined || within3 !== undefined;
      const wanted = new Set([...(first ?? []), ...(within3 ?? [])]);
      return [
        ...named.filter((id) => !known.includes(id)).map((id) => `no document is ${id}`),
        ...(hasAnswer || abstain || block || list ? [] : [`"${query}" expects nothing`]),
        ...(abstain && hasAnswer ? [`"${query}" expects both an answer and none`] : []),
        ...(notAbove && !hasAnswer ? [`"${query}" has notAbove and no answer`] : []),
        ...(notAbove?.some((id) => wanted.has(id)) ? [`"${query}" both wants a document and does not`] : []),
      ];
    }),
  ];
}

type Memory = TruthCase["memories"][number];
type Message = Omit<TruthCase["threads"][number]["messages"][number], "id" | "createdAt">;
/** A memory, or a message of a thread, with the time at which it was written. */
export type Written = { id: string; at: number | undefined } & (
  | { body: Memory["body"]; thread?: undefined }
  | { thread: string; message: Message }
);

/** Everything of a case in the order in which it was written; what has no time comes first. */
export function writtenIn({ memories, threads }: TruthCase): Written[] {
  const all: Written[] = [
    ...memories.map(({ id, body }) => ({ id, at: body.createdAt, body })),
    ...threads.flatMap(({ id: thread, messages }) =>
      messages.map(({ id, createdAt, ...said }) => ({ id, at: createdAt, thread, message: said })),
    ),
  ];
  return all.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

/** At most so many documents are written by one call. */
const AT_ONCE = 100;

/** The documents by the calls that write them: one holds memories, or messages of one thread, with no other between. */
export function runsOf(written: readonly Written[]): Written[][] {
  const runs: Written[][] = [];
  for (const one of written) {
    const run = runs.at(-1);
    if (run !== undefined && run[0]?.thread === one.thread && run.length < AT_ONCE) run.push(one);
    else runs.push([one]);
  }
  return runs;
}

/** The words of it that a plain search would index. */
export function textOf(one: Written): string {
  if (one.thread !== undefined) return [one.message.name, one.message.content].filter(Boolean).join(" ");
  const { title, key, text, subject, predicate, object } = one.body;
  return [title, key, text ?? [subject, predicate, object].join(" ")].filter(Boolean).join(" ");
}
