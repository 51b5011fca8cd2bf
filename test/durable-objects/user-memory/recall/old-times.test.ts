// Times before 1970 are negative.
import { expect, it } from "vitest";
import { newUser } from "../../../call.ts";
import { recall, remember } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";

it("answers a query without words with memories of before 1970, too", async () => {
  const user = newUser();
  await remember(user, { text: "the heron stands", createdAt: -5, updatedAt: -5 });
  await remember(user, { text: "the owl flies", createdAt: 5, updatedAt: 5 });
  const found = await recall(user, { query: "???" });
  expect(found.map(({ text }) => text)).toEqual(["the owl flies", "the heron stands"]);
});

it("finds a message of before 1970 by an upper end alone", async () => {
  const user = newUser();
  const { id } = await create(user);
  await append(id, [say("the heron stands in the lake")], { createdAt: -1000 });
  const narrowed = { kinds: ["message"], filter: { createdAtMax: 5 } };
  expect(await recall(user, { query: "heron", ...narrowed })).toHaveLength(1);
  expect(await recall(user, { query: "???", ...narrowed })).toHaveLength(1);
});
