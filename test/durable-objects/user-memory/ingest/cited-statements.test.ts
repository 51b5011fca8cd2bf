// The messages that the facts of one call cite, and what is read for them.
import { expect, it } from "vitest";
import { CitedStatements } from "../../../../durable-objects/user-memory/ingest/cited-statements.ts";
import type { StoredThread } from "../../../../durable-objects/user-memory/threads/thread-row.ts";

const AT = 1_780_000_000_000;
const MIB = 1024 * 1024;

/** A thread of 60 users' messages of so many bytes each; `read`: the messages that were read of it. */
function thread(bytes: number) {
  const said = JSON.stringify({ role: "user", id: "m7", content: "I live in Lisbon." });
  const body = new TextEncoder().encode(said.padEnd(bytes));
  const seqs = Array.from({ length: 60 }, (_, i) => i + 1);
  const read: number[] = [];
  const stores = {
    // Of a thread, only its id and its speakers are looked at.
    threads: { get: (id: string) => ({ id, n: 1, speakers: null }) as unknown as StoredThread },
    lineage: { position: (_: StoredThread, seq: number) => seq },
    messages: { saidByPersonAt: () => AT },
    reader: {
      *walk(_: StoredThread, { order, from }: { order: "newest" | "oldest"; from?: number }) {
        const newest = order === "newest";
        const some = seqs.filter((seq) => (newest ? seq < (from ?? Infinity) : seq > (from ?? 0)));
        for (const seq of newest ? some.toReversed() : some) {
          read.push(seq);
          yield { seq, body, createdAt: AT };
        }
      },
    },
  };
  // A double of the reads alone: the classes have private parts.
  return { read, citations: new CitedStatements({ stores: stores as never, now: () => AT }) };
}
const citing = (message: string | number) => ({
  kind: "fact" as const,
  subject: "user",
  predicate: "lives in",
  object: "Lisbon",
  source: { thread: "t", message },
});

it("is read once, however many facts of a call cite it", () => {
  const { citations, read } = thread(100);
  const statedAt = citations.ofCall();
  const cite = () => [citing("m7"), citing(60)].map((body) => statedAt(body));
  expect(cite()).toEqual([AT, AT]);
  const once = read.length;
  for (let i = 0; i < 30; i++) expect(cite()).toEqual([AT, AT]);
  expect(read.length).toBe(once);
});

it("looks for an id once in a thread, and behind 16 MiB for nothing", () => {
  const { citations, read } = thread(MIB);
  const statedAt = citations.ofCall();
  for (let i = 0; i < 30; i++) expect(statedAt(citing(`unknown ${i}`))).toBeNull();
  expect(read.length).toBe(17);
  expect(statedAt(citing(60))).toBeNull();
});
