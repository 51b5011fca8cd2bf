import * as fc from "fast-check";

/** The part of JSON Schema that the OpenAPI document uses. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  minItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
};
type Given = { schemas: Record<string, Schema>; words: readonly string[] };

/** The depth to which optional fields go on. */
const DEEP = 3;

/** JSON of this shape, whose texts are of these words: mostly valid, since not every rule is in a schema. */
export function shaped(schema: Schema, given: Given, depth = 0): fc.Arbitrary<unknown> {
  const within = (inner: Schema) => shaped(inner, given, depth + 1);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace("#/components/schemas/", "");
    return shaped(given.schemas[name] ?? {}, given, depth);
  }
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choice = schema.anyOf ?? schema.oneOf;
  if (choice !== undefined) return fc.oneof(...choice.map(within));
  if (schema.allOf !== undefined)
    return fc.tuple(...schema.allOf.map(within)).map((parts) => Object.assign({}, ...parts) as unknown);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object") return object(schema, given, depth);
  if (type === "array")
    return fc.array(within(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 });
  if (type === "string") return fc.constantFrom(...given.words);
  if (type === "integer") return fc.integer({ min: schema.minimum ?? 0, max: (schema.minimum ?? 0) + 3 });
  if (type === "number") return fc.double({ min: 0, max: 1, noNaN: true });
  if (type === "boolean") return fc.boolean();
  if (type === "null") return fc.constant(null);
  return fc.constantFrom(...given.words).map((word) => ({ note: word }));
}

function object({ properties = {}, required = [] }: Schema, given: Given, depth: number) {
  const fields = Object.entries(properties).filter(([name]) => required.includes(name) || depth < DEEP);
  return fc.record(
    Object.fromEntries(fields.map(([name, schema]) => [name, shaped(schema, given, depth + 1)])),
    { requiredKeys: fields.map(([name]) => name).filter((name) => required.includes(name)) },
  );
}
