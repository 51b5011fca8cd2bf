// The order of what many writers append to one thread at once.
import fc from "fast-check";
import { expect, it } from "vitest";
import { newUser } from "../../../call.ts";
import { append, create, read, say } from "../../../thread-calls.ts";

const WRITERS = 50;
/** For each writer, how many messages each of its appends holds. */
const writers = fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }), {
  minLength: WRITERS,
  maxLength: WRITERS,
});
type Sent = { texts: string[]; firstSeq: number; lastSeq: number };

/** One append after another, each when the one before has been answered. */
async function write(id: string, writer: number, sizes: readonly number[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (const [i, size] of sizes.entries()) {
    const texts = Array.from({ length: size }, (_, n) => `${writer}/${i}/${n}`);
    const { status, body } = await append(
      id,
      texts.map((text) => say(text)),
    );
    expect(status).toBe(201);
    sent.push({ texts, firstSeq: body.firstSeq, lastSeq: body.lastSeq });
  }
  return sent;
}

it("is each writer's own, with no gap, nothing twice, and nothing between the messages of one append", async () => {
  await fc.assert(
    fc.asyncProperty(writers, async (all) => {
      const { id } = await create(newUser());
      const sent = await Promise.all(all.map((sizes, writer) => write(id, writer, sizes)));
      const { items } = await read(id);
      const total = all.flat().reduce((sum, size) => sum + size, 0);
      expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
      const at = (from: number, to: number) =>
        items.slice(from - 1, to).map(({ message }) => message.content);
      for (const one of sent) {
        for (const { texts, firstSeq, lastSeq } of one) expect(at(firstSeq, lastSeq)).toEqual(texts);
        const firsts = one.map(({ firstSeq }) => firstSeq);
        expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 3 },
  );
});
