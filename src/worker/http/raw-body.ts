import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { depth, hasInexactNumber, INEXACT, rawElements, rawField } from "../../domain/raw-values.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const encoder = new TextEncoder();

/** The body's messages, each in the bytes that it was sent in, once the schema has found them to be messages. */
export function rawMessages(c: Context<AppEnv>): Uint8Array[] {
  return rawElements(c.get("bodyText"), "messages").map((message, i) =>
    encodedMessage(message, `body.messages[${i}]`),
  );
}

/** A summary in the body: a whole message, or a text that becomes the content of a system message. */
export function rawSummary(c: Context<AppEnv>, given: unknown): Uint8Array {
  const path = "body.summary";
  const message =
    typeof given === "string"
      ? JSON.stringify({ role: "system", content: given })
      : (rawField(c.get("bodyText"), "summary") ?? "");
  const bytes = encodedMessage(message, path);
  if (bytes.byteLength > limits.summary) throw tooLarge("summary_too_large", path);
  return bytes;
}

/** The values of a batch's operations, each in the bytes that it was sent in; undefined for those without one. */
export function rawOperationValues(c: Context<AppEnv>): (Uint8Array | undefined)[] {
  return rawElements(c.get("bodyText"), "operations").map((operation, i) => {
    const value = rawField(operation, "value");
    if (value === undefined) return undefined;
    const bytes = encoder.encode(value);
    if (bytes.byteLength > limits.value) throw tooLarge("value_too_large", `body.operations[${i}].value`);
    return bytes;
  });
}

/** Refuses numbers that a double does not hold: what differs in them only would count as the same. */
export function requireExactNumbers(c: Context<AppEnv>, field: string): void {
  const index = rawElements(c.get("bodyText"), field).findIndex(hasInexactNumber);
  if (index !== -1) throw inexact(`body.${field}[${index}]`);
}

/**
 * The same of metadata, which are kept, and compared, as the values that they are, and not as they were written: a 64-bit
 * id would come back as another one, and a filter by it would fit other memories. `fields` lead to the object that has
 * the metadata.
 */
export function requireExactMetadata(c: Context<AppEnv>, ...fields: string[]): void {
  const text = c.get("bodyText");
  if (!MAYBE_INEXACT.test(text)) return;
  const object = fields.reduce<string | undefined>((json, field) => json && rawField(json, field), text);
  if (object !== undefined) requireExactMetadataIn(object, ["body", ...fields].join("."));
}

/** The same of the metadata of every memory of a batch. */
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

/** Every number that a parse changes has one of these; most bodies have neither, and are not taken apart. */
const MAYBE_INEXACT = /\d{16}|\d[eE]\+?\d{3}/;

const inexact = (path: string): Refusal =>
  new Refusal(
    fail("invalid_request", {
      details: [{ path, message: INEXACT }],
    }),
  );

function encodedMessage(message: string, path: string): Uint8Array {
  if (depth(message) > limits.messageDepth) {
    const details = [{ path, message: `is nested more than ${limits.messageDepth} levels deep` }];
    throw new Refusal(fail("invalid_request", { details }));
  }
  const bytes = encoder.encode(message);
  if (bytes.byteLength > limits.message) throw tooLarge("message_too_large", path);
  return bytes;
}

const tooLarge = (
  code: "message_too_large" | "summary_too_large" | "value_too_large",
  path: string,
): Refusal => new Refusal(fail(code, { details: [{ path, message: "is too large" }] }));
