// The erasure of a user whose vectors are of two models, as the former embedder's are not replaced yet.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { bindVectorize } from "../../../doubles/ports.ts";
import { VectorizeDouble } from "../../../doubles/vectorize.ts";
import { erased, eraseUser } from "../../../erasure-calls.ts";
import { remember } from "../../../memory-calls.ts";

const vectorize = new VectorizeDouble(256, ["user", "kind", "scope", "model"]);
bindVectorize(vectorize);
beforeEach(() => {
  control.clockAt = clock() + 24 * 3_600_000;
});
afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));

async function settle(user: string): Promise<void> {
  for (let rings = 0; rings < 100; rings++) {
    control.clockAt = (control.clockAt ?? 0) + 60_000;
    if (!(await runDurableObjectAlarm(await objectOf(user)))) return;
  }
  throw new Error("the alarm rings for ever");
}

it("deletes the vectors of both models from Vectorize", async () => {
  // Loads the embedded model: else the alarm of the erasure has replaced the former vectors before.
  await remember(newUser(), { text: "somebody else's" });
  const user = newUser();
  [control.formerModel, control.embedder] = [true, "fail"];
  await remember(user, { text: "my sister lives in Porto" });
  await remember(user, { text: "the heron stands" });
  await settle(user);
  [control.formerModel, control.embedder] = [false, "ok"];
  await evictDurableObject(await objectOf(user));
  await remember(user, { text: "the owl flies" });
  const own = await userHash(user);
  const stored = () => vectorize.ids().filter((id) => id.startsWith(own));
  const models = await runInDurableObject(await objectOf(user), (_, { storage: { sql } }) =>
    sql.exec("SELECT DISTINCT model FROM vectors").toArray(),
  );
  expect([models.length, stored().length]).toEqual([2, 2]);
  const { body } = await eraseUser(user);
  await erased(user, body.id);
  await settle(user);
  expect(stored()).toEqual([]);
});
