// A fact that is stated again in other letters, as lists and prompts show it.
import { afterEach, expect, it } from "vitest";
import { newUser } from "../../../call.ts";
import { restore } from "../../../doubles/control.ts";
import { get, list, remember, remembered } from "../../../memory-calls.ts";
import { create } from "../../../thread-calls.ts";
import { turn } from "./calls.ts";

afterEach(restore);

it.each([
  [
    "a fact of one",
    { subject: "Ann", predicate: "lives in", object: "Porto" },
    { subject: "ANN ", predicate: "Lives  in", object: "ＰＯＲＴＯ" },
  ],
  [
    "a fact of many",
    { subject: "Ann", predicate: "likes", object: "green tea" },
    { subject: "ann", predicate: "LIKES", object: "Green  Tea" },
  ],
  [
    "a triple with its own text",
    { subject: "Ann", predicate: "likes", object: "tea", text: "Tea is her drink" },
    { subject: "Ann", predicate: "likes", object: "Tea", text: "tea is her DRINK" },
  ],
  ["a text", { text: "Ann likes tea" }, { text: " ann  LIKES tea" }],
  ["a topic", { key: "diet", text: "Vegan" }, { key: "DIET", text: "VEGAN" }],
])("%s keeps the spelling stored first, and the stable block its bytes", async (_, fact, again) => {
  const user = newUser();
  const stored = await remembered(user, { ...fact, importance: 0.9 });
  const before = await turn(user, (await create(user)).id, "Good morning");
  expect(before.stable.text).not.toBe("");
  const { status, body } = await remember(user, again);
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: stored.id, version: stored.version, text: stored.text });
  expect(body).not.toHaveProperty("superseded");
  const tagged = await remembered(user, { ...again, tags: ["t"] });
  expect(tagged).toMatchObject({ id: stored.id, text: stored.text, tags: ["t"] });
  expect((await get(user, stored.id)).body.object).toBe(stored.object);
  const after = await turn(user, (await create(user)).id, "Good morning");
  expect(after.stable.text).toBe(before.stable.text);
});

it("letters with other marks are other letters", async () => {
  const user = newUser();
  for (const object of ["Müller", "Muller", "MÜLLER"])
    await remember(user, { subject: "Ann", predicate: "knows", object });
  expect((await list(user, "order=asc")).map(({ object }) => object)).toEqual(["Müller", "Muller"]);
  const lives = (object: string) => remember(user, { subject: "Ann", predicate: "lives in", object });
  await lives("Malaga");
  expect((await lives("Málaga")).body).toMatchObject({
    object: "Málaga",
    superseded: [{ text: "Ann lives in Malaga" }],
  });
});
