// Named snapshots of a context.
import { afterEach, describe, expect, it } from "vitest";
import { messageHash } from "../../../../src/domain/context/message-hash.ts";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { forget, remember } from "../../../memory-calls.ts";
import { append, create, say } from "../../../thread-calls.ts";
import { ask, context, lives, MINUTE, turn } from "./calls.ts";

afterEach(restore);

describe("a snapshot", () => {
  it("gives the first answer again for an hour, byte for byte, without what is forgotten", async () => {
    const user = newUser();
    const { id: home } = await lives(user, "Porto");
    await remember(user, { text: "Ann likes tea" });
    const first = await context(user, { query: "Where does Ann live?", snapshot: "run-7" });
    await lives(user, "Braga");
    const again = await context(user, { query: "Something else", snapshot: "run-7", format: "markdown" });
    expect([again.stable, again.recalled, again.etag]).toEqual([first.stable, first.recalled, first.etag]);
    expect((await ask(user, { snapshot: "run-7" }, { "If-None-Match": `"${first.etag}"` })).status).toBe(304);
    await forget(user, home);
    expect((await context(user, { snapshot: "run-7" })).stable.text).not.toContain("Porto");
    control.clockAhead += 61 * MINUTE;
    expect((await context(user, { snapshot: "run-7" })).stable.text).toContain("Ann likes tea");
  });

  it("is one for calls at once", async () => {
    const user = newUser();
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        await remember(user, { text: `Ann owns thing ${i}` });
        return context(user, { snapshot: "run" });
      }),
    );
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1);
  });
});

it("gives the blocks of earlier turns beside a snapshot, and an entry's value of that time", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await append((await create(user)).id, [say("I keep my boat in Setúbal")]);
  const query = "Where is my boat?";
  const { recalled } = await turn(user, threadId, query);
  const messages = await Promise.all([query, "thanks!"].map(messageHash));
  const asked = { query: "thanks!", threadId, messages, snapshot: "run" };
  const first = await context(user, asked);
  expect(first.pinned).toEqual([{ index: 0, text: recalled.text }]);
  expect(await context(user, asked)).toEqual(first);

  const at = `/v1/users/${user}/kv/tone`;
  await call(at, { method: "PUT", json: "dry" });
  const layers = [{ type: "entries", keys: ["tone"] }];
  const before = await context(user, { layers, snapshot: "other" });
  await call(at, { method: "PUT", json: "warm" });
  expect(await context(user, { layers, snapshot: "other" })).toEqual(before);
});
