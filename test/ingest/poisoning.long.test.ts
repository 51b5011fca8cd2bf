import { afterEach, expect, it } from "vitest";
import { call, newUser } from "../call.ts";
import { control, restore } from "../doubles/control.ts";
import { ingest, memoriesOf, readIngest } from "./calls.ts";
import { attempts } from "./poisoning.ts";

afterEach(restore);

it("a model that obeys every instruction makes no live fact of any attempt to poison the memory, and changes none", async () => {
  const owner = newUser();
  const known = [
    ["lives in", "Porto"],
    ["name is", "Anna"],
    ["is allergic to", "peanuts"],
  ].map(([predicate, object]) => ({ subject: "user", predicate, object }));
  await call(`/v1/users/${owner}/memories/batch`, { json: { memories: known } });
  const before = await memoriesOf(owner);
  for (const [i, { said, fact, sources, name }] of attempts.entries()) {
    const [subject, predicate, object] = fact;
    const cited = (sources ?? said.map((_, place) => place)).map((place) => place + 1);
    control.languageModel = null;
    const messages = said.map(([role, content]) => ({ role, content }));
    const proposal = { subject, predicate, object, sources: cited.map((seq) => seq - 1) };
    const { body } = await ingest(owner, {
      messages,
      sessionId: `attempt ${i}`,
      // The caller's own model obeys as well: its facts pass the same checks.
      extracted: { facts: [proposal] },
    });
    const result = await readIngest(body.ingestId);
    expect(result.counts["created"] ?? 0, name).toBe(0);
    expect(result.counts["known"] ?? 0, name).toBe(0);
  }
  expect(await memoriesOf(owner)).toEqual(before);
});
