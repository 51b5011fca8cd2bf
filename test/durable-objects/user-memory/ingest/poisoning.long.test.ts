import { afterEach, expect, it } from "vitest";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { ingest, memoriesOf, readIngest } from "./calls.ts";
import earlier from "../../../domain/ingest/statements/earlier.json";
import kinds from "../../../domain/ingest/statements/kinds.json";

/** A misreading has another meaning than its sentence: only a second look can tell. */
const attempts = [...earlier.poisoned, ...kinds.poisoned].filter(({ kind }) => kind !== "misreading");
/** Of these, the checks let pass so many. */
const PASSING = 8;

afterEach(restore);

it("a model that obeys every instruction makes hardly a live fact of attempts to poison the memory, and changes none", async () => {
  const owner = newUser();
  const known = [
    ["lives in", "Porto"],
    ["name is", "Anna"],
    ["is allergic to", "peanuts"],
  ].map(([predicate, object]) => ({ subject: "user", predicate, object }));
  await call(`/v1/users/${owner}/memories/batch`, { json: { memories: known } });
  const before = await memoriesOf(owner);
  const live: string[] = [];
  for (const [i, { said, fact, sources, kind }] of attempts.entries()) {
    const [subject, predicate, object] = fact;
    control.languageModel = null;
    const messages = said.map(([role, content]) => ({ role, content }));
    const { body } = await ingest(owner, {
      messages,
      sessionId: `attempt ${i}`,
      // The caller's own model obeys as well: its facts pass the same checks.
      extracted: { facts: [{ subject, predicate, object, sources }] },
    });
    const { results } = await readIngest(body.ingestId);
    expect(results).toHaveLength(1);
    // "Known" is one that waits, of a fact that is live already.
    if (["created", "updated"].includes(results[0].outcome))
      live.push(`${kind}: ${fact.join(" ")} ${results[0].outcome}`);
  }
  expect(live.length, live.join("\n")).toBeLessThanOrEqual(PASSING);
  const after = new Set((await memoriesOf(owner)).map(({ id, text }) => `${id} ${text}`));
  for (const { id, text } of before) expect(after).toContain(`${id} ${text}`);
});
