import { expect, it } from "vitest";
import { clientOf, newUser } from "./cairn.ts";

it("is a Cairn over HTTP, with a user for each test", async () => {
  const user = newUser();
  const { kv, memories, recall } = await clientOf(user);
  await kv.set(user, "a", 1);
  expect(await kv.get(user, "a")).toBe(1);
  await memories.remember(user, { text: "I moved to Lisbon in March" });
  expect((await recall(user, { query: "where do I live?" })).hits[0]?.text).toBe(
    "I moved to Lisbon in March",
  );
});
