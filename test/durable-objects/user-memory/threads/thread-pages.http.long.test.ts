// Pages of messages and of threads while others write: what was there all the time is shown, and once.
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { call, newUser, pagesOf } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { append, create, fork, say, threadOf } from "../../../thread-calls.ts";

afterEach(restore);

type Page = { items: { seq?: number; id?: string }[]; cursor?: string };

/** All pages, one after another, with a write between each two. */
async function paged(path: string, between: () => Promise<unknown>): Promise<Page["items"]> {
  const found: Page["items"] = [];
  for await (const { items, cursor } of pagesOf(path)) {
    found.push(...items);
    if (cursor !== undefined) await between();
  }
  return found;
}

const N = 24;
const pick = fc.integer({ min: 1, max: N });
const write = fc.record({ op: fc.constantFrom("append", "delete", "fork", "compact"), at: pick });

it("of messages are complete in both orders, of a fork too, while messages come and go", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { minLength: 12, maxLength: 12 }),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom("newest", "oldest"),
      pick,
      async (writes, limit, order, at) => {
        const user = newUser();
        const texts = Array.from({ length: N }, (_, i) => `${i + 1}`);
        const origin = await threadOf(user, texts.slice(0, at));
        const { id } = (await fork(origin.id)).body;
        await append(
          id,
          texts.slice(at).map((text) => say(text)),
        );
        const gone = new Set<number>();
        const left = [...writes];
        const found = await paged(`/v1/threads/${id}/messages?limit=${limit}&order=${order}`, async () => {
          const one = left.pop();
          if (one?.op === "append") await append(id, [say("new")]);
          if (one?.op === "fork") await fork(id, { at: one.at });
          if (one?.op === "compact")
            await call(`/v1/threads/${id}/compactions`, { json: { summary: "s", to: one.at } });
          if (one?.op !== "delete") return;
          gone.add(one.at);
          await call(`/v1/threads/${id}/messages/${one.at}`, { method: "DELETE" });
        });
        const seqs = found.map(({ seq = 0 }) => seq);
        expect(new Set(seqs).size).toBe(seqs.length);
        const kept = Array.from({ length: N }, (_, i) => i + 1).filter((seq) => !gone.has(seq));
        expect(seqs.filter((seq) => seq <= N && !gone.has(seq)).toSorted((a, b) => a - b)).toEqual(kept);
      },
    ),
    { numRuns: 10 },
  );
});

it("of threads in the order of their creation are complete while threads come, change and go", async () => {
  const user = newUser();
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) ids.push((await create(user)).id);
  const others = (await Promise.all([1, 2, 3].map(() => create(user)))).map(({ id }) => id as string);
  let turn = 0;
  const found = await paged(`/v1/users/${user}/threads?order=created&limit=2`, async () => {
    control.clockAhead += 1_000;
    await create(user);
    await append(ids[turn++ % ids.length] ?? "", [say("hi")]);
    const gone = others.pop();
    if (gone !== undefined) await call(`/v1/threads/${gone}`, { method: "DELETE" });
  });
  const shown = found.map(({ id = "" }) => id);
  expect(new Set(shown).size).toBe(shown.length);
  expect(shown.filter((id) => ids.includes(id))).toEqual(ids.toReversed());
});
