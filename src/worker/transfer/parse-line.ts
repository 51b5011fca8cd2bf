import type { z } from "@hono/zod-openapi";
import { fail, ok, type Result, invalidField } from "../../domain/errors.ts";
import { parseInput } from "../parse-input.ts";
import { limits } from "../../domain/limits.ts";
import { depth, hasInexactNumber, INEXACT, rawField } from "../../domain/raw-values.ts";
import { ExportHeader, ExportLine, type MemoryLine, type ObjectLine } from "../../domain/schema/transfer.ts";
import { FORMAT, FORMAT_VERSION } from "../../domain/transfer/format.ts";
import type { ObjectItem } from "../../contract/user-memory.ts";

export type ParsedLine = { item: ObjectItem } | { memory: MemoryLine } | { end: number };

const encoder = new TextEncoder();

/** The first line: the format and the owner. */
export function parseHeader(text: string): Result<ExportHeader> {
  const json = parseJson(text);
  if (!json.ok) return json;
  const header = Object(json.value) as Partial<ExportHeader>;
  if (header.format !== FORMAT)
    return fail("unsupported_format", { details: [{ path: "format", message: `must be \`${FORMAT}\`` }] });
  if (header.version !== FORMAT_VERSION)
    return fail("unsupported_format", {
      details: [{ path: "version", message: `must be ${FORMAT_VERSION}` }],
    });
  return parseShape(ExportHeader, header);
}

/** Any other line. Its value keeps its bytes. */
export function parseLine(text: string): Result<ParsedLine> {
  const json = parseJson(text);
  if (!json.ok) return json;
  const shape = parseShape(ExportLine, json.value);
  if (!shape.ok) return shape;
  const line = shape.value;
  const metadata = "metadata" in line ? rawField(text, "metadata") : undefined;
  if (metadata !== undefined && hasInexactNumber(metadata)) return invalidField("metadata", INEXACT);
  switch (line.type) {
    case "memory":
      return ok({ memory: line });
    case "end":
      return ok({ end: line.lines });
    case "message": {
      const { message: _inline, messageText, ...rest } = line;
      return withValue(rest, { text, field: "message", asText: messageText, max: limits.message });
    }
    case "compaction": {
      const { summary: _inline, summaryText, ...rest } = line;
      return withValue(rest, { text, field: "summary", asText: summaryText, max: limits.summary });
    }
    case "entry": {
      const { value: _inline, valueText, ...rest } = line;
      return withValue(rest, { text, field: "value", asText: valueText, max: limits.value });
    }
    default:
      return ok({ item: { line } });
  }
}

type LineValue = {
  text: string;
  field: "message" | "summary" | "value";
  asText: string | undefined;
  max: number;
};

function withValue(line: ObjectLine, { text, field, asText, max }: LineValue): Result<ParsedLine> {
  const inline = rawField(text, field);
  if ((inline === undefined) === (asText === undefined))
    return invalidField(field, `is required, or \`${field}Text\` instead`);
  const json = inline ?? asText ?? "";
  if (asText !== undefined) {
    const value = parseJson(asText);
    if (!value.ok) return invalidField(`${field}Text`, "is not JSON");
    // In either form, a message has to be valid.
    const shape = parseShape(ExportLine, { ...line, [field]: value.value });
    if (!shape.ok) return shape;
  }
  if (field !== "value" && depth(json) > limits.messageDepth)
    return invalidField(field, `is nested more than ${limits.messageDepth} levels deep`);
  const value = encoder.encode(json);
  if (value.byteLength > max)
    return fail("value_too_large", { details: [{ path: field, message: "is too large" }] });
  return ok({ item: { line, value } });
}

/** As `parseInput`, with paths that begin in the line: the path of the whole line is empty. Names each field once. */
function parseShape<Schema extends z.ZodType>(schema: Schema, value: unknown): Result<z.output<Schema>> {
  const parsedShape = parseInput(schema, value, "line");
  if (parsedShape.ok) return parsedShape;
  const { code, details = [] } = parsedShape;
  const first = details.filter(({ path }, i) => details.findIndex((other) => other.path === path) === i);
  return fail(code, {
    details: first.map((detail) => ({ ...detail, path: detail.path.replace(/^line\.?/, "") })),
  });
}

function parseJson(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text));
  } catch {
    return fail("invalid_json");
  }
}
