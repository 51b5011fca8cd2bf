// Memories with an end: alive while now ≤ expiresAt, then gone with their history.
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser } from "../../call.ts";
import { databaseOf } from "../../databases.ts";
import { control, restore } from "../../doubles/control.ts";
import {
  get,
  history,
  historyPage,
  list,
  listTexts,
  patch,
  recall,
  remember,
  remembered,
  restoreVersion,
} from "../../memory-calls.ts";

// No alarm of this time rings by itself.
const T = 4_100_000_000_000;
const END = T + 60_000;
beforeEach(() => {
  control.clockAt = T;
});
afterEach(restore);
const ring = async (user: string) => runDurableObjectAlarm(env.USER_MEMORY.getByName(await userHash(user)));
const rowsInD1 = async (user: string): Promise<number | null> =>
  (await databaseOf(user))
    .prepare("SELECT COUNT(*) AS n FROM memories WHERE user_id = ?")
    .bind(user)
    .first<number>("n");
/** The traces of a memory that one can still see. */
async function seen(user: string, id: string) {
  const statuses = [];
  for (const query of ["", `asOf=${T + 1000}`, `validAt=${T + 1000}`])
    statuses.push((await get(user, id, query)).status);
  statuses.push((await historyPage(user, id)).status);
  for (const query of ["", `asOf=${T + 1000}`, `validAt=${T + 1000}`])
    statuses.push((await list(user, query)).length);
  for (const at of [{}, { asOf: T + 1000 }, { validAt: T + 1000 }])
    statuses.push((await recall(user, { query: "boat", ...at })).length);
  statuses.push((await patch(user, id, { score: 1 })).status);
  return statuses;
}

it("is alive while now ≤ expiresAt, and then gone from get, list, recall and history, at any time", async () => {
  const user = newUser();
  const { id } = await remembered(user, { text: "boat", expiresAt: END });
  control.clockAt = END;
  expect(await seen(user, id)).toEqual([200, 200, 200, 200, 1, 1, 1, 1, 1, 1, 200]);
  control.clockAt = END + 1;
  expect(await seen(user, id)).toEqual([404, 404, 404, 404, 0, 0, 0, 0, 0, 0, 404]);
});

it("is swept from D1 by the alarm, with its history", async () => {
  const user = newUser();
  const { id } = await remembered(user, { text: "boat", externalId: "e", expiresAt: END });
  await remembered(user, { text: "red boat", externalId: "e", expiresAt: END });
  await remembered(user, { text: "stays" });
  control.clockAt = END;
  await ring(user);
  expect(await rowsInD1(user)).toBe(3);
  control.clockAt = END + 1;
  await ring(user);
  expect(await rowsInD1(user)).toBe(1);
  expect((await get(user, id)).status).toBe(404);
  expect(await listTexts(user)).toEqual(["stays"]);
});

it("takes the history of a fact along, before and after the sweep", async () => {
  const user = newUser();
  const lives = { subject: "Alice", predicate: "has a boat in", cardinality: "one" };
  await remembered(user, { ...lives, object: "Lisbon" });
  control.clockAt = T + 2000;
  const { id } = await remembered(user, { ...lives, object: "Porto", expiresAt: END });
  expect((await get(user, id, `validAt=${T + 1000}`)).body.object).toBe("Lisbon");
  control.clockAt = END + 1;
  expect(await seen(user, id)).toEqual([404, 404, 404, 404, 0, 0, 0, 0, 0, 0, 404]);
  await ring(user);
  expect(await rowsInD1(user)).toBe(0);
});

it.each([
  ["text", { text: "boat" }],
  ["triple", { subject: "s", predicate: "p", object: "boat" }],
  ["title", { kind: "procedure", title: "t", text: "boat" }],
  ["externalId", { text: "boat", externalId: "e" }],
])("that has expired is not what a new one of the same %s becomes", async (_, memory) => {
  const user = newUser();
  await remembered(user, { ...memory, tags: ["old"], expiresAt: END });
  control.clockAt = END + 1;
  const { status, body } = await remember(user, { ...memory, tags: ["new"] });
  expect(status).toBe(201);
  expect(body).toMatchObject({ tags: ["new"] });
  expect(body).not.toHaveProperty("expiresAt");
  expect(await history(user, body.id)).toHaveLength(1);
  await ring(user);
  expect((await get(user, body.id)).status).toBe(200);
});

it("is put off, taken back and set by PATCH", async () => {
  const user = newUser();
  const { id } = await remembered(user, { text: "boat", expiresAt: END });
  await patch(user, id, { expiresAt: END + 10 });
  control.clockAt = END + 10;
  await ring(user);
  expect((await get(user, id)).body.expiresAt).toBe(END + 10);
  await patch(user, id, { expiresAt: null });
  control.clockAt = END + 1_000_000;
  await ring(user);
  expect((await get(user, id)).body).not.toHaveProperty("expiresAt");
});

it("is refused unless it is in the future, and nothing is lost to it", async () => {
  const user = newUser();
  const lives = { subject: "Alice", predicate: "has a boat in", cardinality: "one" };
  const { id } = await remembered(user, { ...lives, object: "Lisbon" });
  const seconds = Math.floor(END / 1000);
  for (const expiresAt of [seconds, 0, T - 1, T]) {
    const refusals = [
      [await remember(user, { ...lives, object: "Porto", expiresAt }), "body.expiresAt"],
      [await patch(user, id, { expiresAt }), "body.expiresAt"],
      [
        await call(`/v1/users/${user}/memories/batch`, {
          json: { memories: [{ text: "boat" }, { text: "ship", expiresAt }] },
        }),
        "body.memories[1].expiresAt",
      ],
    ] as const;
    for (const [{ status, body }, path] of refusals) {
      expect(status).toBe(400);
      expect(body.error).toMatchObject({
        code: "invalid_request",
        details: [{ path, message: "is not in the future" }],
      });
    }
  }
  expect(await listTexts(user)).toEqual(["Alice has a boat in Lisbon"]);
  expect(await history(user, id)).toHaveLength(1);
});

it("that a version of the history had does not end the memory that it is restored to", async () => {
  const user = newUser();
  const first = await remembered(user, { text: "boat", expiresAt: END });
  await patch(user, first.id, { text: "a red boat", expiresAt: null });
  control.clockAt = END + 1;
  const { body } = await restoreVersion(user, first.id, first.version);
  expect(body.text).toBe("boat");
  expect(body).not.toHaveProperty("expiresAt");
  await ring(user);
  expect((await get(user, first.id)).status).toBe(200);
});
