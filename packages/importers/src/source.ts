// The items that sources read, and the shapes that sources share.
import { z } from "@hono/zod-openapi";
import type { RememberBody } from "../../../src/domain/schema/memory.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";

export const SOURCES = ["mem0", "zep", "supermemory", "langgraph", "chatgpt", "claude"] as const;
export type SourceName = (typeof SOURCES)[number];

/** A memory as its source has it: texts, tags and metadata of any size. Times in milliseconds since the epoch. */
export type FoundMemory = {
  type: "memory";
  /** The id in the source. Becomes the `externalId` `<source>:<id>`. */
  id: string;
  /** The user that the export names. */
  user?: string | undefined;
  text: string;
  kind?: RememberBody["kind"];
  title?: string;
  tags?: readonly string[];
  /** The caller's metadata. */
  metadata?: Record<string, unknown> | undefined;
  /** Fields of the source that Cairn has no field for, kept in `metadata.importedFrom`. */
  more?: Record<string, unknown>;
  score?: number | undefined;
  /** The conversation of this export that it comes from, and the message's id there. */
  thread?: string;
  message?: string;
  createdAt?: number | undefined;
  updatedAt?: number | undefined;
  validFrom?: number | undefined;
  validTo?: number | undefined;
  expiresAt?: number | undefined;
};
export type FoundMessage = { message: Message; createdAt?: number | undefined };
export type FoundThread = {
  type: "thread";
  id: string;
  user?: string | undefined;
  title?: string | undefined;
  more?: Record<string, unknown>;
  createdAt?: number | undefined;
  updatedAt?: number | undefined;
  messages: readonly FoundMessage[];
};
/** `skipped`: it is not imported. `changed`: it is imported in another form. */
export type Remark = { type: "skipped" | "changed"; reason: string; example: string; count?: number };
export type Found = FoundMemory | FoundThread | Remark;

/** Reads the files of one export, in one pass. */
export type Reader = {
  /** Reads one value of a file. `shape` checks it. A value of a wrong shape is skipped. */
  read(value: unknown, shape: Shape): readonly Found[];
  /** Items that need the whole export. */
  end?(): readonly Found[];
};
export type Source = {
  /** The lists that an object around the values may have. */
  lists: ReadonlySet<string>;
  /** The files of interest in a folder. */
  files: RegExp;
  /** `names`: notes of a pass for the passes after it. */
  open(names: Map<string, string>): Reader;
  /** A pass whose items count needs the notes of a whole pass before it. */
  readsAhead?: boolean;
};

export type Shape = {
  /**
   * Checks the value, and answers what the schema makes of it. `within`: its place in the value that is read, as
   * `.messages[3]`. Throws `WrongShape`.
   */
  <T>(schema: z.ZodType<T>, value: unknown, within?: string): T;
  /** Reads an entry of the value, such as a message. One of a wrong shape is skipped and counted, and null. */
  entry<T>(read: () => T, odd: OddEntry): T | null;
};
/** `entries`: their name in the report, as `messages`. */
export type OddEntry = { entries: string; example: string };

const REASONABLE_MS = 8.64e15;

/** A date as text (UTC unless it has an offset), seconds or milliseconds. Null and an empty text are none. */
export const time = z
  .union([z.string(), z.number(), z.null()], "is no time: a date as text, or seconds since the epoch")
  .optional()
  .transform((given, context) => {
    if (given === undefined || given === null || given === "") return undefined;
    const ms = typeof given === "number" ? inMilliseconds(given) : Date.parse(withOffset(given));
    if (Number.isFinite(ms) && Math.abs(ms) <= REASONABLE_MS) return Math.trunc(ms);
    context.addIssue({ code: "custom", message: `is no time: ${JSON.stringify(given)}` });
    return z.NEVER;
  });

/** Seconds since the epoch reach 100,000,000,000 in the year 5138, milliseconds in 1973. */
const inMilliseconds = (given: number): number => (Math.abs(given) < 1e11 ? given * 1000 : given);

const withOffset = (text: string): string => {
  const trimmed = text.trim();
  return /\d[T ]\d.*(?:[zZ]|[+-]\d\d:?\d\d)$|^[^T:]*$|[A-Za-z]{3}/.test(trimmed) ? trimmed : `${trimmed}Z`;
};

export const id = z.string("is required: a string").min(1, "is empty");
export const text = z.string("is required: a string");
export const optionalText = z.string("is no string").nullish();
export const optionalTexts = z.array(z.string("is no string"), "is no list of strings").nullish();
/** A list whose entries are read one by one. */
export const optionalList = z.array(z.unknown(), "is no list").nullish();
export const optionalObject = z.record(z.string(), z.unknown(), "is no object").nullish();

/** True for an object, which no list and no null is. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The members that have a value. */
export const present = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  );

/** The beginning of a text, for an example. */
export const inShort = (value: string): string => {
  const line = value.replace(/\s+/g, " ").trim();
  return line.length <= 60 ? line : `${line.slice(0, 59).toWellFormed()}…`;
};

/** Roles as Cairn and the model providers name them. */
const ROLES: Readonly<Record<string, string>> = {
  human: "user",
  ai: "assistant",
  norole: "user",
  function: "tool",
};
export const roleOf = (given: string): string => ROLES[given] ?? given;
