// The OpenAPI document as a generator of clients reads it.
import { expect, it } from "vitest";
import { call } from "../call.ts";

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
