// A reader who meets the name of a type knows which one it is.
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("gives no two exported types of the core one name", () => {
  const files = globSync("{src,durable-objects}/**/*.ts");
  const declared = files.flatMap((file) =>
    Array.from(
      readFileSync(file, "utf8").matchAll(/^export (?:abstract )?(?:type|interface|class) (\w+)/gm),
      ([, name = ""]) => ({ name, file }),
    ),
  );
  expect(declared.length).toBeGreaterThan(500);
  const twice = [...Map.groupBy(declared, ({ name }) => name)].filter(([, places]) => places.length > 1);
  expect(Object.fromEntries(twice)).toEqual({});
});
