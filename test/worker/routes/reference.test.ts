// The reference of the calls, compared with what the Worker says of itself.
import { expect, it } from "vitest";
import reference from "../../../docs/reference/api.md?raw";
import { call } from "../../call.ts";

it("the reference has every call with its scope, and no other", async () => {
  const { paths } = (await call("/openapi.json", { token: null })).body;
  const known = Object.entries<Record<string, { security?: { bearer?: string[] }[] }>>(paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(
        ([method, { security }]) =>
          `${method.toUpperCase()} ${path} ${security?.[0]?.bearer?.join(" ") ?? "none"}`,
      ),
  );
  // A row has the methods of a path, and a scope for each, or one for all.
  const said = Array.from(
    reference.matchAll(/^\| `([A-Z`, ]+) (\/\S+)` +\| ([\w, ]+?) +\|/gm),
    ([, methods = "", path, scopes = ""]) =>
      methods.split("`, `").map((method, i, { length }) => {
        const all = scopes.split(", ");
        return `${method} ${path} ${all.length === length ? all[i] : scopes}`;
      }),
  ).flat();
  expect(said.toSorted()).toEqual(known.toSorted());
});
