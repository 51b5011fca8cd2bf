/** What a tool takes, in JSON Schema, as far as the tools here need it. */
type Field = { description: string } & (
  | { type: "string"; minLength?: number }
  | { type: "integer"; minimum: number; maximum: number }
  | { type: "array"; items: { type: "string"; enum?: readonly string[] } }
);

type Issue = { message: string; path: string[] };

/** A Standard Schema that has its JSON Schema with it: the SDK takes it as it is, and nothing has to be imported. */
export type InputSchema<Input> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: Input };
    readonly validate: (value: unknown) => { value: Input } | { issues: Issue[] };
    readonly jsonSchema: { input: () => Record<string, unknown>; output: () => Record<string, unknown> };
  };
};

/** A schema of an object with these fields, and no others. */
export function inputSchema<Input extends object>(
  properties: { [Name in keyof Input]-?: Field },
  required: readonly (keyof Input & string)[],
): InputSchema<Input> {
  const document = { type: "object", properties, required, additionalProperties: false };
  const fields = new Map<string, Field>(Object.entries(properties));
  return {
    "~standard": {
      version: 1,
      vendor: "cairn",
      validate: (value) => {
        if (typeof value !== "object" || value === null)
          return { issues: [{ message: "is no object", path: [] }] };
        const given = new Map<string, unknown>(Object.entries(value));
        const missing = required.filter((name) => given.get(name) === undefined);
        const issues = [
          ...missing.map((name) => ({ message: `${name} is required`, path: [name] })),
          ...[...given].flatMap(([name, one]) => wrong(name, one, fields.get(name))),
        ];
        return issues.length > 0 ? { issues } : { value: value as Input }; // as every field was looked at
      },
      jsonSchema: { input: () => document, output: () => document },
    },
  };
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
