import { CairnError } from "../../../client/src/error.ts";
import { schemas } from "./schemas.ts";
import type { DexSchema, DexToolArguments, DexToolName } from "./types.ts";

type Problem = { path: string; message: string };

/**
 * Checks a model's arguments against the tool's schema: a missing title must not mean every title. Throws
 * `invalid_request`, which names each wrong argument.
 */
export function parseToolArguments<Name extends DexToolName>(
  tool: Name,
  given: unknown,
): DexToolArguments[Name] {
  const schema = schemas[tool];
  const args: unknown = given ?? {};
  if (typeof args !== "object" || args === null || Array.isArray(args))
    throw refusal([{ path: "arguments", message: "are no object" }]);
  const values = new Map<string, unknown>(Object.entries(args));
  const problems: Problem[] = [];
  for (const name of values.keys())
    if (!Object.hasOwn(schema.properties, name))
      problems.push({ path: name, message: "is no argument of this tool" });
  for (const [name, property] of Object.entries(schema.properties)) {
    const message = problemOf(property, values.get(name), schema.required?.includes(name) === true);
    if (message !== null) problems.push({ path: name, message });
  }
  if (problems.length > 0) throw refusal(problems);
  // The schema has checked the type.
  return args as DexToolArguments[Name];
}

function problemOf(
  property: DexSchema["properties"][string],
  value: unknown,
  required: boolean,
): string | null {
  if (value === undefined) return required ? "is required" : null;
  if (property.type === "string") return isText(value) ? null : "is no text";
  if (property.type === "boolean") return typeof value === "boolean" ? null : "is neither true nor false";
  if (property.type === "array")
    return Array.isArray(value) && value.every(isText) ? null : "is no list of texts";
  return Number.isInteger(value) && Number(value) >= property.minimum ? null : "is no whole number from 1 on";
}

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

function refusal(details: Problem[]): CairnError {
  const message = details.map(({ path, message: problem }) => `${path} ${problem}`).join("; ");
  return new CairnError({ code: "invalid_request", message, details }, { status: 400 });
}
