// The texts that a call may hold, as the OpenAPI document describes them: tests that are made from it forget none.
import type { Schema } from "./shaped.ts";

type Described = {
  parameters?: { in: string; name: string; schema: Schema }[];
  requestBody?: { content: { "application/json"?: { schema: Schema } } };
};
export type Document = {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};
/** A place of a body: names of fields, `[]` for an item, `|0` for the first of several shapes, `{}` and `{key}` of free JSON. */
type Place = readonly string[];
/** A text of a call, by its place or by the name of its parameter. */
export type TextField = { in: "body"; place: Place } | { in: string; name: string };
export type Call = {
  operation: string;
  method: string;
  path: string;
  body: Schema | null;
  texts: TextField[];
};

/** No body of the API is deeper. */
const DEEPEST = 10;

/** Every operation with its texts. */
export const callsOf = (document: Document): Call[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([lower, { parameters = [], requestBody }]) => {
      const body = requestBody?.content["application/json"]?.schema ?? null;
      const texts: TextField[] = [
        ...parameters
          .filter(({ schema }) => schema.type === "string" || schema.type === "array")
          .map(({ name, in: where }) => ({ in: where, name })),
        ...(body === null ? [] : placesIn(document, body)).map((place) => ({ in: "body" as const, place })),
      ];
      const method = lower.toUpperCase();
      return { operation: `${method} ${path}`, method, path, body, texts };
    }),
  );

export const nameOf = (field: TextField): string =>
  "place" in field ? ["body", ...field.place].join(".") : `${field.in}.${field.name}`;

const found = ({ components }: Document, { $ref, ...schema }: Schema): Schema =>
  $ref === undefined ? schema : (components.schemas[$ref.replace("#/components/schemas/", "")] ?? {});
const shapesOf = ({ anyOf, oneOf, allOf }: Schema) => anyOf ?? oneOf ?? allOf;
const typeOf = ({ type }: Schema) => (Array.isArray(type) ? type[0] : type);

function placesIn(document: Document, given: Schema, at: Place = []): Place[] {
  const schema = found(document, given);
  if (at.length > DEEPEST || "const" in schema || schema.enum !== undefined) return [];
  const shapes = shapesOf(schema);
  if (shapes !== undefined) return shapes.flatMap((shape, i) => placesIn(document, shape, [...at, `|${i}`]));
  switch (typeOf(schema)) {
    case "object": {
      const fields = Object.entries(schema.properties ?? {});
      // A message and metadata have fields of the caller's own.
      if (fields.length === 0)
        return [
          [...at, "{}"],
          [...at, "{key}"],
        ];
      return fields.flatMap(([name, field]) => placesIn(document, field, [...at, name]));
    }
    case "array":
      return placesIn(document, schema.items ?? {}, [...at, "[]"]);
    case "string":
    case undefined:
      return [at];
    default:
      return [];
  }
}

/** A body with these texts, and what it needs besides. `plain`: the other texts, by the names of their fields. */
export function bodyWith(
  document: Document,
  given: Schema,
  {
    texts,
    plain,
    at = [],
  }: { texts: readonly (readonly [Place, string])[]; plain: (name: string) => string; at?: Place },
): unknown {
  const schema = found(document, given);
  const inner = (field: Schema, name: string) =>
    bodyWith(document, field, { texts, plain, at: [...at, name] });
  const leadsTo = (name: string) =>
    texts.some(([place]) => [...at, name].every((part, i) => place[i] === part));
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const shapes = shapesOf(schema);
  if (shapes !== undefined && schema.allOf !== undefined)
    return Object.assign({}, ...shapes.map((shape, i) => inner(shape, `|${i}`))) as unknown;
  if (shapes !== undefined) {
    const chosen = Math.max(
      0,
      shapes.findIndex((_, i) => leadsTo(`|${i}`)),
    );
    return inner(shapes[chosen] ?? {}, `|${chosen}`);
  }
  const own = texts.find(([place]) => place.join() === at.join())?.[1];
  switch (typeOf(schema)) {
    case "object": {
      const { properties = {}, required = [] } = schema;
      const names = Object.keys(properties).filter((name) => required.includes(name) || leadsTo(name));
      const free = texts.filter(([place]) => place.length === at.length + 1 && leadsTo(place.at(-1) ?? ""));
      return Object.fromEntries([
        ...names.map((name) => [name, inner(properties[name] ?? {}, name)]),
        ...free.flatMap(([place, text]) => {
          if (place.at(-1) === "{}") return [["note", text]];
          return place.at(-1) === "{key}" ? [[text, 1]] : [];
        }),
      ]) as unknown;
    }
    case "array":
      return [inner(schema.items ?? {}, "[]")];
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return own ?? plain(at.findLast((part) => /^[a-z]/i.test(part)) ?? "");
  }
}
