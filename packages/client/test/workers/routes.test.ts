// Every route of the API has a method of the client.
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { methods } from "../methods.ts";
import { faked } from "../core/faked.ts";

const VERBS = ["get", "put", "post", "patch", "delete"];

const document = async (): Promise<{ paths: Record<string, object> }> =>
  (await exports.default.fetch("https://cairn.test/openapi.json")).json();

it("has a method for every route that the API describes, and for no other", async () => {
  const { paths } = await document();
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((verb) => VERBS.includes(verb))
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  expect(Object.keys(methods).toSorted()).toEqual(described.toSorted());
});

it.each(Object.entries(methods))("calls %s", async (route, call) => {
  const { client, requests } = faked([Response.json({ items: [] })]);
  const at = {
    user: "u",
    id: "i",
    key: "k",
    seq: "1",
    compaction: "c",
    profile: "p",
    predicate: "p",
    tokenId: "t",
  };
  await call(client, at);
  const [{ method, url } = { method: "", url: "" }] = requests;
  const path = route.replace(/^\w+ /, "").replaceAll(/{\w+}/g, "[^/]+");
  expect(requests).toHaveLength(1);
  expect(`${method} ${new URL(url).pathname}`).toMatch(new RegExp(`^${route.split(" ")[0]} ${path}$`));
});
