import type { Schema } from "ai";

/** The part of JSON Schema that these tools use. */
type Field = { description: string } & (
  | { type: "string"; minLength?: number }
  | { type: "boolean" }
  | { type: "integer"; minimum: number; maximum: number }
  | { type: "array"; items: { type: "string"; enum?: readonly string[] } }
);

type Issue = { message: string; path: string[] };

/**
 * A schema of an object with exactly these fields. `jsonSchema()` of the AI SDK 5 to 7 makes the same. It is a Standard
 * Schema as well, which version 5 does not accept.
 */
export function inputSchema<Input extends object>(
  properties: { [Name in keyof Input]-?: Field },
  required: readonly (keyof Input & string)[],
): Schema<Input> {
  const jsonSchema = { type: "object", properties, required, additionalProperties: false };
  const fields = new Map<string, Field>(Object.entries(properties));
  const issuesOf = (value: unknown): Issue[] => {
    if (typeof value !== "object" || value === null) return [{ message: "is no object", path: [] }];
    const given = new Map<string, unknown>(Object.entries(value));
    const missing = required.filter((name) => given.get(name) === undefined);
    return [
      ...missing.map((name) => ({ message: `${name} is required`, path: [name] })),
      ...[...given].flatMap(([name, one]) => wrong(name, one, fields.get(name))),
    ];
  };
  const schema = {
    // The SDK marks its schemas with this symbol, which it does not export.
    [Symbol.for("vercel.ai.schema")]: true,
    jsonSchema,
    validate: (value: unknown) => {
      const issues = issuesOf(value);
      if (issues.length === 0) return { success: true, value };
      return { success: false, error: new TypeError(issues.map(({ message }) => message).join("; ")) };
    },
    "~standard": {
      version: 1,
      vendor: "cairn",
      validate: (value: unknown) => {
        const issues = issuesOf(value);
        return issues.length > 0 ? { issues } : { value };
      },
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  };
  return schema as unknown as Schema<Input>;
}

function wrong(name: string, value: unknown, field: Field | undefined): Issue[] {
  const message = value === undefined ? undefined : fault(value, field);
  return message === undefined ? [] : [{ message: `${name} ${message}`, path: [name] }];
}

function fault(value: unknown, field: Field | undefined): string | undefined {
  if (field === undefined) return "is not known";
  switch (field.type) {
    case "string":
      if (typeof value !== "string") return "is no string";
      return value.length < (field.minLength ?? 0) ? "is empty" : undefined;
    case "boolean":
      return typeof value === "boolean" ? undefined : "is neither true nor false";
    case "integer": {
      const fits = typeof value === "number" && value >= field.minimum && value <= field.maximum;
      return Number.isInteger(value) && fits
        ? undefined
        : `is no whole number from ${field.minimum} to ${field.maximum}`;
    }
    default: {
      const { enum: known } = field.items;
      const fits = (item: unknown) => typeof item === "string" && (known?.includes(item) ?? true);
      return Array.isArray(value) && value.every(fits)
        ? undefined
        : `is no list of ${known === undefined ? "strings" : known.join(", ")}`;
    }
  }
}
