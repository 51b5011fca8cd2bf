import { z } from "@hono/zod-openapi";
import type { core } from "zod";
import { type Detail, fail, type Result } from "../domain/errors.ts";
import { nearestName } from "../domain/nearest-name.ts";

type Issue = core.$ZodIssue;

/** The input as its schema takes it, or a failure that names each wrong field. Their paths begin with `part`: `body.text`. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  part: string,
): Result<z.output<Schema>> {
  // The input of an issue tells a missing field from a wrong one.
  const { success, data, error } = schema.safeParse(input, { reportInput: true, error: messageOf });
  if (success) return { ok: true, value: data };
  const code = error.issues.some(isOverLimit) ? "limit_exceeded" : "invalid_request";
  let left = HINTS;
  const unknown = (key: string, message: string) => (left-- > 0 ? unknownField(key, message) : message);
  return fail(code, { details: error.issues.flatMap((issue) => detailsOf(part, issue, unknown)) });
}

const isOverLimit = (issue: Issue): boolean => issue.code === "custom" && issue.params?.isOverLimit === true;

function detailsOf(part: string, issue: Issue, unknown: typeof unknownField): Detail[] {
  const path = issue.path.reduce<string>(
    (so, step) => (typeof step === "number" ? `${so}[${step}]` : `${so}.${String(step)}`),
    part,
  );
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: `${path}.${key}`, message: unknown(key, issue.message) }));
  return [{ path, message: isMissing(issue) ? "is required" : issue.message }];
}

const FIELDS_ARE = "; the fields here are ";
/** Unknown fields of an input whose nearest name is looked for: a body may have any number of them. */
const HINTS = 20;

/** The message of an unknown field. It names the field that is probably meant. */
function unknownField(key: string, message: string): string {
  const [, fields] = message.split(FIELDS_ARE);
  const nearest = fields === undefined ? undefined : nearestName(key, fields.split(", "));
  return nearest === undefined ? message : `is unknown; did you mean ${nearest}?`;
}

function isMissing(issue: Issue): boolean {
  if (issue.code !== "invalid_union" || issue.discriminator === undefined) return issue.input === undefined;
  // The input of this issue is the whole object, whose discriminator is missing.
  return !Object.hasOwn(Object(issue.input), issue.discriminator);
}

/** The message of an issue whose schema brings none; undefined leaves it to zod. */
function messageOf(issue: core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] && `must be ${TYPES[issue.expected]}`;
    case "invalid_value":
      return oneOf(issue.values);
    case "invalid_union":
      return issue.options ? oneOf(issue.options) : "has no allowed shape";
    case "invalid_format":
      return issue.pattern && `must match ${issue.pattern}`;
    case "too_small":
      return Number(issue.minimum) === 1 && UNITS[issue.origin]
        ? "must not be empty"
        : bound(issue.origin, "at least", issue.minimum);
    case "too_big":
      return bound(issue.origin, "at most", issue.maximum);
    case "unrecognized_keys": {
      const fields = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
      return fields.length === 0 ? "is unknown" : `is unknown${FIELDS_ARE}${fields.join(", ")}`;
    }
    default:
      return undefined;
  }
}

const TYPES: Partial<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
  null: "null",
};

function oneOf(values: unknown): string {
  const list = JSON.stringify(values).slice(1, -1).replaceAll(",", ", ");
  return `must be ${list.includes(",") ? "one of " : ""}${list}`;
}

const UNITS: Partial<Record<string, string>> = { string: "characters", array: "items" };

function bound(origin: string, direction: "at least" | "at most", limit: number | bigint): string {
  const unit = UNITS[origin];
  const number = limit.toLocaleString("en-US");
  return unit === undefined ? `must be ${direction} ${number}` : `must have ${direction} ${number} ${unit}`;
}
