// The OpenAPI document as a generator of clients reads it.
import { expect, it } from "vitest";
import { call } from "../../call.ts";
import { operations } from "../../operations.ts";

type Schema = { $ref?: string; allOf?: Schema[]; additionalProperties?: unknown; [key: string]: unknown };

/** Every schema within a part of the document. */
const schemasIn = (part: unknown): Schema[] =>
  typeof part !== "object" || part === null
    ? []
    : [part as Schema, ...Object.values(part).flatMap(schemasIn)];

it("names every operation once, as a method of a generated client", async () => {
  const ids = (await operations()).map(({ operationId }) => operationId);
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id ?? ""))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

it("says of each operation whether it needs a token, and of the public ones that they need none", async () => {
  const { paths } = (await call("/openapi.json", { token: null })).body;
  for (const { method, path } of await operations()) {
    const { security } = paths[path][method.toLowerCase()];
    const { status } = await call(path.replaceAll(/{\w+}/g, "x"), { method, token: null });
    expect([path, security?.length]).toEqual([path, status === 401 ? 1 : 0]);
  }
});

it("extends no schema that lets no further field pass, as nothing would fit both", async () => {
  const { components } = (await call("/openapi.json")).body;
  const closed = (schema: Schema): boolean =>
    schema.$ref === undefined
      ? schema.additionalProperties === false
      : closed(components.schemas[schema.$ref.replace("#/components/schemas/", "")]);
  const extended = schemasIn(components.schemas).filter(
    ({ allOf = [] }) => allOf.some(closed) && allOf.some(({ properties }) => properties !== undefined),
  );
  expect(extended).toEqual([]);
});

it("lets a change take metadata away", async () => {
  const { schemas } = (await call("/openapi.json")).body.components;
  for (const name of ["PatchThread", "PatchMemory"])
    expect(schemas[name].properties.metadata.type).toEqual(["object", "null"]);
});

it("defines every schema that it refers to, and gives every field a type", async () => {
  const { body, text } = await call("/openapi.json");
  const named = Object.keys(body.components.schemas).map((name) => `#/components/schemas/${name}`);
  const used = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref);
  expect(named).toEqual(expect.arrayContaining([...new Set(used)]));
  const untyped: string[] = [];
  for (const [name, schema] of Object.entries<{ properties?: Record<string, object> }>(
    body.components.schemas,
  ))
    for (const [field, given] of Object.entries(schema.properties ?? {}))
      if (!["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"].some((key) => key in given))
        untyped.push(`${name}.${field}`);
  expect(untyped).toEqual([]);
});
