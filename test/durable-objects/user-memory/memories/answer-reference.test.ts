import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { newUser } from "../../../call.ts";
import { remember, rememberMany } from "../../../memory-calls.ts";

const headers = { "Idempotency-Key": "the-same" };

/** Stores the answers of a user as the version of before did. */
async function asBefore(user: string, form: "many"): Promise<void> {
  const object = env.USER_MEMORY.getByName(await userHash(user));
  await runInDurableObject(object, (_, { storage: { sql } }) => {
    const answer =
      form === "many" ? "json(answer)" : "json_remove(answer -> '$[0]', '$.created', '$.superseded')";
    const { rowsWritten } = sql.exec(`UPDATE answers SET answer = json_object('${form}', ${answer})`);
    expect(rowsWritten).toBeGreaterThan(0);
  });
}

it("repeats the answer that the version of before saved for a memory", async () => {
  const user = newUser();
  const first = await remember(user, { text: "Ann likes tea." }, headers);
  await asBefore(user, "many");
  const again = await remember(user, { text: "Ann likes tea." }, headers);
  expect([again.status, again.body.id, again.body.text]).toEqual([
    first.status,
    first.body.id,
    "Ann likes tea.",
  ]);
});

it("repeats the answer that the version of before saved for a batch", async () => {
  const user = newUser();
  const texts = [{ text: "Ann likes tea." }, { text: "Ann lives in Ghent." }];
  const first = await rememberMany(user, texts, headers);
  await asBefore(user, "many");
  expect((await rememberMany(user, texts, headers)).body).toEqual(first.body);
});
