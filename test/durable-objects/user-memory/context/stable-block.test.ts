// The stable block of a thread: which bytes stay over its turns, what is told once, and when it is made anew.
import { afterEach, describe, expect, it } from "vitest";
import { messageHash } from "../../../../src/domain/context/message-hash.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { forget, patch, remember, remembered } from "../../../memory-calls.ts";
import { append, create, read, say } from "../../../thread-calls.ts";
import { context, lines, lives, MINUTE, turn } from "./calls.ts";

afterEach(restore);

describe("the stable block of a thread", () => {
  it("keeps its bytes while facts are learned and corrected, and the next turn tells each once", async () => {
    const user = newUser();
    const { id } = await create(user);
    await lives(user, "Porto");
    const first = await turn(user, id, "Good morning, what a day");
    expect(lines(first.stable.text)).toEqual(["- Ann: lives in Porto"]);
    await lives(user, "Braga");
    await remember(user, { text: "Ann is allergic to hazelnuts" });
    const second = await turn(user, id, "thanks!");
    expect(second.stable).toEqual(first.stable);
    expect(lines(second.recalled.text)).toEqual([
      expect.stringMatching(/^- Ann lives in Braga \(.*\) \(before: Ann lives in Porto\)$/),
      expect.stringMatching(/^- Ann is allergic to hazelnuts/),
    ]);
    const third = await turn(user, id, "thanks again!");
    expect(third.stable).toEqual(first.stable);
    expect(third.recalled.text).toBe("");
    expect(third.prefixChanged).toBeUndefined();
  });

  it("dates a line whose fact took the place of an earlier one, in the same bytes at each turn", async () => {
    const user = newUser();
    const [spring, autumn] = [Date.UTC(2026, 2, 1), Date.UTC(2026, 8, 15)];
    const ann = { subject: "Ann", predicate: "lives in" };
    await remembered(user, { ...ann, object: "Porto", validFrom: spring });
    await remembered(user, { ...ann, object: "Braga", validFrom: autumn });
    await remembered(user, { subject: "Ann", predicate: "works as", object: "a vet", validFrom: spring });
    await remembered(user, { key: "car", text: "Ann drives a van", validFrom: spring });
    await remembered(user, { key: "car", text: "Ann drives a bus", validFrom: autumn });
    const { id } = await create(user);
    const first = await turn(user, id, "hello");
    expect(lines(first.stable.text)).toEqual([
      "- Ann: works as a vet; lives in Braga (since 2026-09-15)",
      "- Ann drives a bus (since 2026-09-15)",
    ]);
    control.clockAhead += 20 * MINUTE;
    const second = await turn(user, id, "thanks!");
    expect([second.stable, second.prefixChanged]).toEqual([first.stable, undefined]);
  });

  it("says what is not true any more", async () => {
    const user = newUser();
    const { id } = await create(user);
    await remembered(user, { text: "Ann is on holiday", validTo: clock() + 2 * MINUTE });
    await turn(user, id, "hello");
    control.clockAhead += 3 * MINUTE;
    expect(lines((await turn(user, id, "thanks!")).recalled.text)).toEqual([
      expect.stringMatching(/^- no longer true: Ann is on holiday/),
    ]);
  });

  it("is renewed once the provider's cache has lapsed", async () => {
    const user = newUser();
    const { id } = await create(user);
    await lives(user, "Porto");
    const first = await turn(user, id, "hello");
    await lives(user, "Braga");
    control.clockAhead += 6 * MINUTE;
    for (const longer of [{ cacheTtl: "1h" }, { provider: "openai" }]) {
      const { stable } = await context(user, { query: "hello again", threadId: id, ...longer });
      expect(stable).toEqual(first.stable);
    }
    control.clockAhead += 6 * MINUTE;
    const later = await turn(user, id, "thanks!");
    expect(lines(later.stable.text)).toEqual([expect.stringMatching(/^- Ann: lives in Braga \(since .*\)$/)]);
    expect(later.recalled.text).toBe("");
    expect(later.prefixChanged).toBeUndefined();
  });

  it("is renewed if the thread was compacted, or the changes weigh too much, and says so", async () => {
    const user = newUser();
    const { id } = await create(user);
    await lives(user, "Porto");
    await turn(user, id, "hello");
    const summary = { role: "system", content: "They said hello." };
    await call(`/v1/threads/${id}/compactions`, { json: { to: 2, summary } });
    const compacted = await turn(user, id, "thanks!");
    expect(compacted.stable.text).toContain("They said hello.");
    expect(compacted.prefixChanged).toBe(true);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        remember(user, { text: `Ann owns thing ${i} ${"of a kind ".repeat(8)}` }),
      ),
    );
    const heavy = await turn(user, id, "thanks again!");
    expect(heavy.stable.text).toContain("Ann owns thing 7");
    expect(heavy.prefixChanged).toBe(true);
  });

  it("stays with another budget, as long as it is within it", async () => {
    const user = newUser();
    const { id } = await create(user);
    for (let i = 0; i < 5; i++)
      await remember(user, { text: `Ann owns thing ${i} ${"of a kind ".repeat(9)}` });
    const first = await turn(user, id, "hello");
    expect(lines(first.stable.text)).toHaveLength(5);
    const second = await turn(user, id, "thanks!", { budget: 5_000 });
    expect([second.stable, second.prefixChanged]).toEqual([first.stable, undefined]);
    const third = await turn(user, id, "thanks again!", { budget: 150 });
    expect(third.prefixChanged).toBe(true);
    expect(third.tokens).toBeLessThanOrEqual(150);
  });

  it("loses what was forgotten or expired at once, and says so", async () => {
    const user = newUser();
    const { id } = await create(user);
    const { id: home } = await lives(user, "Porto");
    await remembered(user, { text: "Ann has a cold", expiresAt: clock() + MINUTE });
    expect((await turn(user, id, "hello")).stable.text).toContain("Ann has a cold");
    await forget(user, home);
    control.clockAhead += 2 * MINUTE;
    const later = await turn(user, id, "thanks!");
    expect(later.stable.text).toBe("");
    expect(later.prefixChanged).toBe(true);
  });

  it("loses what expires, though it loses nothing else, as do a turn's block and a snapshot", async () => {
    const user = newUser();
    const { id } = await create(user);
    const { createdAt } = await lives(user, "Porto");
    await remembered(user, { text: "Ann has a cold", expiresAt: Number(createdAt) + MINUTE });
    const run = { query: "hello", layers: [{ type: "facts" }], snapshot: "run" };
    const query = "Does Ann have a cold?";
    const made = await turn(user, id, query, { layers: [{ type: "recalled" }] });
    await turn(user, id, "hello");
    for (const { text } of [made.recalled, (await context(user, run)).stable])
      expect(text).toContain("Ann has a cold");
    control.clockAhead += 2 * MINUTE;
    const later = await turn(user, id, "thanks!");
    expect(later.prefixChanged).toBe(true);
    const { text } = (await context(user, run)).stable;
    for (const block of [later.stable.text, text]) {
      expect(block).toContain("Porto");
      expect(block).not.toContain("Ann has a cold");
    }
    const { items } = await read(id, "view=prompted");
    expect(JSON.stringify(items)).not.toContain("Ann has a cold");
  });

  it("puts pinned memories first, then the important ones, and shows none of quarantine", async () => {
    const user = newUser();
    for (const [text, more] of [
      ["usual", {}],
      ["important", { importance: 0.9 }],
      ["pinned", { tags: ["pinned"], importance: 0.1 }],
      ["unsure", { status: "quarantined" }],
    ] as const)
      await remember(user, { text: `Ann is ${text}`, ...more });
    const { stable } = await context(user, {});
    expect(lines(stable.text).map((line) => line.split(" ")[3])).toEqual(["pinned", "important", "usual"]);
    expect((await context(user, { layers: [{ type: "facts", tags: ["pinned"] }] })).stable.text).toContain(
      "pinned",
    );
    expect((await context(user, { scope: "elsewhere" })).stable.text).toBe("");
  });
});

it("shows as many facts as it is asked for, besides those of the profile", async () => {
  const user = newUser();
  for (let i = 0; i < 5; i++) await remember(user, { text: `Ann said ${i}` });
  for (let i = 0; i < 5; i++)
    await remembered(user, { subject: "Ann", predicate: `likes ${i}`, object: "tea" });
  const layers = [{ type: "profile" }, { type: "facts", n: 3 }];
  const { sections } = await context(user, { layers });
  expect(sections.map(({ layer, items }: { layer: string; items: number }) => [layer, items])).toEqual([
    ["profile", 5],
    ["facts", 3],
  ]);
});

it("tells a change in a turn, and not in a call without a query", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await lives(user, "Porto");
  await turn(user, threadId, "hello");
  await lives(user, "Braga");
  await context(user, { threadId });
  expect(lines((await turn(user, threadId, "thanks!")).recalled.text)).toEqual([
    expect.stringContaining("Ann lives in Braga"),
  ]);
});

it("tells no change where only tags changed", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  const { id } = await lives(user, "Porto");
  await turn(user, threadId, "hello");
  await patch(user, id, { tags: ["home"] });
  expect((await turn(user, threadId, "thanks!")).recalled.text).toBe("");
});

it("makes the stable block anew where the turn that told a change has left the prompt", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await lives(user, "Porto");
  await turn(user, threadId, "hello");
  await lives(user, "Braga");
  await turn(user, threadId, "thanks!");
  const said = await Promise.all(["hello", "thanks!", "ok"].map(messageHash));
  const all = await context(user, { query: "ok", threadId, messages: said });
  expect(lines(all.stable.text)).toEqual(["- Ann: lives in Porto"]);
  await append(threadId, [say("ok"), say("Fine.", "assistant")]);
  const messages = await Promise.all(["ok", "bye"].map(messageHash));
  const later = await context(user, { query: "bye", threadId, messages });
  expect([lines(later.stable.text), later.prefixChanged]).toEqual([
    [expect.stringMatching(/^- Ann: lives in Braga \(since .*\)$/)],
    true,
  ]);
});

it("says that the prefix changed where the format or the sources did", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  await lives(user, "Porto");
  await turn(user, threadId, "hello");
  for (const other of [{ format: "markdown" }, { sources: true }])
    expect(await context(user, { threadId, ...other })).toMatchObject({ prefixChanged: true });
});

it("makes the stable block anew where a change has no room beside it", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  for (let i = 0; i < 8; i++) await remember(user, { text: `Ann said number ${i}` });
  const layers = [{ type: "facts", tokens: { max: 120 } }];
  const first = await turn(user, threadId, "hello", { layers, budget: 120 });
  await remember(user, { text: "Ann is allergic to hazelnuts", importance: 1 });
  const second = await turn(user, threadId, "thanks!", { layers, budget: 120 });
  expect([first.prefixChanged, second.prefixChanged]).toEqual([undefined, true]);
  expect(second.stable.text).toContain("hazelnuts");
});

it("shows no memory that a later version let expire", async () => {
  const user = newUser();
  const { id: threadId } = await create(user);
  const { id } = await lives(user, "Porto");
  await turn(user, threadId, "hello");
  await patch(user, id, { object: "Braga", expiresAt: clock() + MINUTE });
  control.clockAhead += 2 * MINUTE;
  const later = await context(user, { query: "thanks!", threadId });
  expect([later.prefixChanged, JSON.stringify(later).includes("lives in")]).toEqual([true, false]);
});

it("keeps its blocks while D1 does not answer", async () => {
  const user = newUser();
  const { id } = await create(user);
  await lives(user, "Porto");
  const first = await turn(user, id, "Where does Ann live?");
  control.d1Reads = "fail";
  control.d1Writes = "before";
  const again = await context(user, { query: "And where does Ben live?", threadId: id });
  expect(again.stable).toEqual(first.stable);
});
