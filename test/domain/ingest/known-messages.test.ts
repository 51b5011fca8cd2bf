import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { continues, keyOf, knownSeqs, type KnownThread } from "../../../src/domain/ingest/known-messages.ts";

/** A thread of these messages. "-": one that was deleted. */
function threadOf(texts: readonly string[]): KnownThread {
  const stored = texts.map((text, i) => ({ seq: i + 1, text })).filter(({ text }) => text !== "-");
  return { oldest: () => stored, newest: () => stored.toReversed() };
}

/** The thread after an ingest of these messages. */
function ingest(thread: readonly string[], given: readonly string[]): string[] {
  const known = knownSeqs(given, threadOf(thread));
  return [...thread, ...given.filter((_, i) => known[i] === null)];
}

const letters = (text: string): string[] => text.split("");

describe("knownSeqs", () => {
  it.each([
    ["a new conversation", "", "abc", "abc"],
    ["the same conversation", "abc", "abc", "abc"],
    ["one that is longer by a turn", "abc", "abcde", "abcde"],
    ["its beginning", "abcd", "ab", "abcd"],
    ["only the new turn", "abc", "de", "abcde"],
    ["a window over the last messages", "abcd", "cdef", "abcdef"],
    ["the last messages again", "abcd", "cd", "abcd"],
    ["a text that was said before", "aok", "o", "aoko"],
    ["another answer to the same beginning", "abc", "abd", "abcd"],
    ["that other answer again", "abcd", "abd", "abcd"],
    ["the first answer again", "abcd", "abc", "abcd"],
    ["a long run from the middle", "abcdefghijkl", "cdefghij", "abcdefghijkl"],
    ["a short run from the middle", "abcdef", "cd", "abcdefcd"],
    ["one of which a message was deleted", "a-cd", "abcd", "a-cd"],
    ["a longer one of which messages were deleted", "-bc--f", "abcdefg", "-bc--fg"],
    ["one without the deleted message", "a-cd", "acde", "a-cde"],
    ["one that repeats the message behind deleted ones", "--kb", "kakbc", "--kbc"],
    ["one without a deleted message, which repeats the one behind", "a-k", "akkx", "a-kkx"],
    ["another answer in place of a deleted last one", "ab-", "abxd", "ab-xd"],
    ["one that still has some of the messages deleted in a row", "ab--g", "abgLg", "ab--gLg"],
    ["one in which only the first of a gap is left", "a--d", "abdX", "a--dX"],
    ["a window over a deleted message", "abc-ef", "bcdefg", "abc-efg"],
    ["a window without the deleted message", "abc-ef", "bcefg", "abc-efg"],
    ["a window that begins with a deleted message", "ab-de", "cdef", "ab-decdef"],
    ["a new turn that ends like the first one, which was deleted", "-ncd", "xn", "-ncdxn"],
    ["a thread of which only the last message is left", "-b", "abc", "-bc"],
    ["another message in a deleted one's place, and another answer", "a-cd", "abxy", "a-cdbxy"],
  ])("%s", (_, thread, given, after) => {
    expect(ingest(letters(thread), letters(given)).join("")).toBe(after);
  });

  it("answers the seqs of the known messages", () => {
    expect(knownSeqs(letters("abx"), threadOf(letters("abc")))).toEqual([1, 2, null]);
    expect(knownSeqs(letters("cx"), threadOf(letters("abc")))).toEqual([3, null]);
  });
});

describe("keyOf", () => {
  const parts = [{ type: "text", text: "hi" }];
  const ui = (id: string, role = "user") => keyOf({ id, role, parts }, "any text");
  const thread = threadOf([ui("1"), ui("2"), "plain", ui("3")]);

  it("is the same for a UI message while it has its id and its role", () => {
    expect(keyOf({ id: "1", role: "user", parts: [] }, "other text")).toBe(ui("1"));
    expect(ui("1")).not.toBe(ui("2"));
    expect(ui("1")).not.toBe(ui("1", "assistant"));
  });

  it("is the text of a message without an id, and of one without parts", () => {
    expect(keyOf({ role: "user", parts }, "text")).toBe("text");
    expect(keyOf({ id: "", role: "user", parts }, "text")).toBe("text");
    expect(keyOf({ id: "1", role: "user", content: "hi" }, "text")).toBe("text");
  });

  it("lets a UI message be known from any place of the list", () => {
    expect(knownSeqs([ui("2")], thread)).toEqual([2]);
    expect(knownSeqs([ui("3"), ui("1"), "new", ui("4"), ui("2")], thread)).toEqual([4, 1, null, null, 2]);
    expect(knownSeqs([ui("1"), "plain"], thread)).toEqual([1, 3]);
  });
});

const few = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 12 });

describe("knownSeqs of any conversations", () => {
  it("changes nothing when a call is repeated", () => {
    fc.assert(
      fc.property(fc.array(few, { maxLength: 4 }), few, (calls, last) => {
        const thread = calls.reduce<string[]>(ingest, []);
        const once = ingest(thread, last);
        expect(ingest(ingest(once, last), last)).toEqual(once);
      }),
    );
  });

  it("places all messages in their order, the new ones last", () => {
    fc.assert(
      fc.property(few, few, (thread, given) => {
        const known = knownSeqs(given, threadOf(thread));
        const seqs = known.filter((seq) => seq !== null);
        expect(known.indexOf(null)).toBe(seqs.length === given.length ? -1 : seqs.length);
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
        for (const [i, seq] of seqs.entries()) expect(thread[seq - 1]).toBe(given[i]);
      }),
    );
  });

  it("brings no deleted message back if a later one was kept, and stores no message twice", () => {
    const deletions = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(few, deletions, few, (conversation, isDeleted, turn) => {
        // All texts differ, so there is one way only to match them.
        const texts = conversation.map((text, i) => `${text}${i}`);
        const added = turn.map((text, i) => `new ${text}${i}`);
        const thread = texts.map((text, i) => (isDeleted[i] && i < texts.length - 1 ? "-" : text));
        const left = thread.filter((text) => text !== "-");
        expect(ingest(thread, [...texts, ...added])).toEqual([...thread, ...added]);
        expect(ingest(thread, [...left, ...added])).toEqual([...thread, ...added]);
      }),
    );
  });

  it("keeps a growing conversation as it is, however it is cut", () => {
    fc.assert(
      fc.property(few, fc.nat(), (conversation, at) => {
        const cut = at % (conversation.length + 1);
        const begun = ingest([], conversation.slice(0, cut));
        expect(ingest(begun, conversation)).toEqual(conversation);
      }),
    );
  });
});

describe("continues", () => {
  it.each([
    ["ab", "abc", true],
    ["abc", "ab", true],
    ["abc", "abc", true],
    ["abd", "abc", false],
    ["x", "abc", false],
  ])("%s and %s", (given, thread, expected) => {
    expect(continues(letters(given), threadOf(letters(thread)), thread.length)).toBe(expected);
  });
});
