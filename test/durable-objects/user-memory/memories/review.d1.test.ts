// A review of many memories in quarantine while D1 fails.
import { afterEach, expect, it } from "vitest";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { list, listTexts, remembered, rememberMany } from "../../../memory-calls.ts";

afterEach(restore);

const review = (user: string, json: object) => call(`/v1/users/${user}/memories/review`, { json });
const outcomes = (items: { outcome: string; error?: { code: string } }[]) =>
  items.map(({ outcome, error }) => error?.code ?? outcome);
const fill = async (user: string, count: number): Promise<string[]> => {
  const memories = Array.from({ length: count }, (_, i) => ({ text: `fact ${i}`, status: "quarantined" }));
  const { items } = (await rememberMany(user, memories)).body;
  return items.map(({ memory }: { memory: { id: string } }) => memory.id);
};

it("says of a release that is carried out later that it is one", async () => {
  const user = newUser();
  const ids = await fill(user, 60);
  control.d1NextWrites = ["ok", "before"];
  const { body } = await review(user, { decision: "release", memories: ids.map((id) => ({ id })) });
  expect(new Set(outcomes(body.items))).toEqual(new Set(["released"]));
  await remembered(user, { text: "I have a cat" });
  expect(await list(user, "status=quarantined")).toEqual([]);
});

it("fails as a whole, and changes nothing, while the database is away", async () => {
  const user = newUser();
  const ids = await fill(user, 2);
  const memories = ids.map((id) => ({ id }));
  control.d1Writes = "before";
  const { status, body } = await review(user, { decision: "release", memories });
  expect([status, body.error.code]).toEqual([503, "storage_unavailable"]);
  restore();
  expect(outcomes((await review(user, { decision: "release", memories })).body.items)).toEqual([
    "released",
    "released",
  ]);
  expect(await listTexts(user)).toEqual(["fact 0", "fact 1"]);
});
