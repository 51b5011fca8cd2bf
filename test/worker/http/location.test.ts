import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { locations } from "../../../src/domain/location.ts";
import { createApp } from "../../../src/worker/app.ts";
import { realPorts } from "../../doubles/ports.ts";
import { call, newUser, token } from "../../call.ts";

/** Notes the options that objects are asked for with. */
function noting() {
  const asked: unknown[] = [];
  const objects = new Proxy(env.USER_MEMORY, {
    get(target, key) {
      if (key !== "getByName") return Reflect.get(target, key);
      return (name: string, options: unknown) => {
        asked.push(options);
        return target.getByName(name);
      };
    },
  });
  const app = createApp(realPorts);
  const get = async (path: string, headers: Record<string, string>, more: object = {}) => {
    const all = { Authorization: `Bearer ${await token("*")}`, ...headers };
    return app.request(path, { headers: all }, { ...env, USER_MEMORY: objects, ...more });
  };
  return { asked, get };
}

it("asks for a user's object near the place that the header names, and near the call without one", async () => {
  const { asked, get } = noting();
  const path = `/v1/users/${newUser()}/kv`;
  for (const location of locations)
    expect((await get(path, { "Cairn-Location": location })).status).toBe(200);
  expect(asked).toEqual(locations.map((locationHint) => ({ locationHint })));
  asked.length = 0;
  expect((await get(path, {})).status).toBe(200);
  expect(asked).toEqual([undefined]);
});

it("stores and finds a memory all the same, wherever later calls name", async () => {
  const user = newUser();
  const at = (location: string) => ({ headers: { "Cairn-Location": location } });
  const made = await call(`/v1/users/${user}/memories`, { json: { text: "A" }, ...at("weur") });
  expect(made.status).toBe(201);
  const { body } = await call(`/v1/users/${user}/memories`, at("apac"));
  expect(body).toMatchObject({ items: [{ text: "A" }] });
});

it.each(["moon", "WEUR", ""])("refuses the place '%s' with the field, on every route", async (location) => {
  for (const path of [`/v1/users/${newUser()}/kv`, "/v1/threads"]) {
    const { status, body } = await call(path, { headers: { "Cairn-Location": location } });
    expect([status, body]).toMatchObject([400, { error: { code: "invalid_request" } }]);
    expect(JSON.stringify(body)).toContain("header.Cairn-Location");
  }
});

it("names the header and its places in the API's description", async () => {
  const { description } = (await call("/openapi.json")).body.info;
  for (const word of ["Cairn-Location", ...locations]) expect(description).toContain(word);
});
