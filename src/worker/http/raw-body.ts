import type { Context } from "hono";
import { fail, invalidField } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { depth, hasInexactNumber, INEXACT, rawElements, rawField } from "../../domain/raw-values.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const encoder = new TextEncoder();

/** The body's messages, in the bytes that the caller sent. The schema has checked them. */
export function rawMessages(c: Context<AppEnv>): Uint8Array[] {
  return rawElements(c.get("bodyText"), "messages").map((message, i) =>
    encodeMessage(message, `body.messages[${i}]`),
  );
}

/** The body's summary: a message, or a text that becomes the content of a system message. */
export function rawSummary(c: Context<AppEnv>, given: unknown): Uint8Array {
  const path = "body.summary";
  const message =
    typeof given === "string"
      ? JSON.stringify({ role: "system", content: given })
      : (rawField(c.get("bodyText"), "summary") ?? "");
  const bytes = encodeMessage(message, path);
  if (bytes.byteLength > limits.summary) throw tooLarge(path);
  return bytes;
}

/** The values of a batch's operations, in the bytes that the caller sent; undefined for operations without one. */
export function rawOperationValues(c: Context<AppEnv>): (Uint8Array | undefined)[] {
  return rawElements(c.get("bodyText"), "operations").map((operation, i) => {
    const value = rawField(operation, "value");
    if (value === undefined) return undefined;
    const bytes = encoder.encode(value);
    if (bytes.byteLength > limits.value) throw tooLarge(`body.operations[${i}].value`);
    return bytes;
  });
}

/** The messages of a batch's operations, likewise; none of an operation without them. */
export function rawOperationMessages(c: Context<AppEnv>): Uint8Array[][] {
  return rawElements(c.get("bodyText"), "operations").map((operation, i) =>
    rawElements(operation, "messages").map((message, j) =>
      encodeMessage(message, `body.operations[${i}].messages[${j}]`),
    ),
  );
}

/** Refuses numbers that a double does not hold: parsed, two different ones would be equal. */
export function requireExactNumbers(c: Context<AppEnv>, field: string): void {
  const index = rawElements(c.get("bodyText"), field).findIndex(hasInexactNumber);
  if (index !== -1) throw inexact(`body.${field}[${index}]`);
}

/**
 * The same for metadata, which are stored and compared as parsed values: a 64-bit id would come back changed, and its
 * filter would match other memories. `fields` lead to the object that has the metadata.
 */
export function requireExactMetadata(c: Context<AppEnv>, ...fields: string[]): void {
  const text = c.get("bodyText");
  if (!MAYBE_INEXACT.test(text)) return;
  const object = fields.reduce<string | undefined>((json, field) => json && rawField(json, field), text);
  if (object !== undefined) requireExactMetadataIn(object, ["body", ...fields].join("."));
}

/** The same for the metadata of every memory of a batch. */
export function requireExactMetadataOfMany(c: Context<AppEnv>, field: string): void {
  const text = c.get("bodyText");
  if (!MAYBE_INEXACT.test(text)) return;
  for (const [i, memory] of rawElements(text, field).entries())
    requireExactMetadataIn(memory, `body.${field}[${i}]`);
}

function requireExactMetadataIn(object: string, path: string): void {
  const metadata = object === "" ? undefined : rawField(object, "metadata");
  if (metadata !== undefined && hasInexactNumber(metadata)) throw inexact(`${path}.metadata`);
}

/** Every number that a parse changes matches this; most bodies do not, and need no closer look. */
const MAYBE_INEXACT = /\d{16}|\d[eE]\+?\d{3}/;

const inexact = (path: string): Refusal => new Refusal(invalidField(path, INEXACT));

function encodeMessage(message: string, path: string): Uint8Array {
  if (depth(message) > limits.messageDepth)
    throw new Refusal(invalidField(path, `is nested more than ${limits.messageDepth} levels deep`));
  const bytes = encoder.encode(message);
  if (bytes.byteLength > limits.message) throw tooLarge(path);
  return bytes;
}

const tooLarge = (path: string): Refusal =>
  new Refusal(fail("value_too_large", { details: [{ path, message: "is too large" }] }));
