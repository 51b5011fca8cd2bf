// Random histories of a thread, as a program lives them that keeps its own messages: which bytes of its prompts may change.
import fc from "fast-check";
import { expect, it } from "vitest";
import { messageHash } from "../../../../src/domain/context/message-hash.ts";
import { call, newUser } from "../../../call.ts";
import { evict } from "../../../evict.ts";
import { forget, patch, remembered } from "../../../memory-calls.ts";
import { append, create, read, say } from "../../../thread-calls.ts";

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("turn" as const), about: fc.nat({ max: 5 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("learn" as const), about: fc.nat({ max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("correct" as const), about: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), about: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("evict" as const), about: fc.constant(0) }) },
);
const budget = fc.constantFrom(200, 600, 2_000);
const things = ["boat", "bicycle", "garden", "violin", "kettle", "lantern"];

type Prompt = { stable: string; blocks: string[] };

it("a prompt begins with the one before, unless the answer says that the prefix changed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), budget, async (steps, most) => {
      const user = newUser();
      const { id: threadId } = await create(user);
      const known = new Map<number, { id: string; texts: string[] }>();
      const gone: string[] = [];
      const said: string[] = [];
      let before: Prompt | undefined;
      let n = 0;
      for (const { do: what, about } of steps) {
        const memory = known.get(about);
        const text = `The ${things[about]} is worth ${++n} coins`;
        if (what === "learn" && memory === undefined)
          known.set(about, { id: (await remembered(user, { text })).id, texts: [text] });
        if (what === "correct" && memory !== undefined) {
          await patch(user, memory.id, { text });
          memory.texts.push(text);
        }
        if (what === "forget" && memory !== undefined) {
          await forget(user, memory.id);
          gone.push(...memory.texts);
          known.delete(about);
        }
        if (what === "evict") await evict(user);
        if (what !== "turn") continue;
        const query = `What is the ${things[about]} worth? ${n}`;
        const messages = await Promise.all([...said, query].map(messageHash));
        const json = { query, threadId, budget: most, messages };
        const { body } = await call(`/v1/users/${user}/context`, { json });
        const { body: again } = await call(`/v1/users/${user}/context`, { json });
        expect([again.stable, again.recalled, again.pinned]).toEqual([
          body.stable,
          body.recalled,
          body.pinned,
        ]);
        expect(body.tokens).toBeLessThanOrEqual(most);
        for (const one of gone) expect(JSON.stringify(body)).not.toContain(one);
        const blocks = [...said, query].map(
          (_, i) => body.pinned.find(({ index }: { index: number }) => index === i)?.text ?? "",
        );
        blocks[said.length] = body.recalled.text;
        const prompt: Prompt = { stable: body.stable.text, blocks };
        const isKept = before !== undefined && body.prefixChanged === undefined;
        expect(prompt).toEqual(
          isKept
            ? { stable: before?.stable, blocks: [...(before?.blocks ?? []), body.recalled.text] }
            : prompt,
        );
        before = prompt;
        said.push(query);
        await append(threadId, [say(query), say("So much.", "assistant")]);
      }
      // The thread shows the blocks as the prompts had them, but for what was forgotten since.
      const items = (await read(threadId, "view=prompted")).items;
      const shown = items.flatMap(({ message }) => (message.role === "user" ? message.content : []));
      for (const one of gone) expect(JSON.stringify(shown)).not.toContain(one);
      const sent = said.map((query, i) => (before?.blocks[i] ? `${before.blocks[i]}\n\n${query}` : query));
      expect(shown).toEqual(gone.length === 0 ? sent : shown);
    }),
    { numRuns: 20 },
  );
});
