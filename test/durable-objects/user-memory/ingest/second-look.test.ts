// A fact that passed the checks is shown to the model once more, with its sentence alone, before it is live.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { DeadlineExceeded } from "../../../../src/platform/deadline.ts";
import { ModelRefusal } from "../../../../src/platform/models/language-model.ts";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import {
  lookEntry,
  type LookEntry,
  messagesIn,
  type Reply,
  RuledModel,
  ScriptedModel,
  type Shown,
  shownIn,
} from "../../../doubles/language-models.ts";
import { objectOf } from "../../../erasure-calls.ts";
import { evict } from "../../../evict.ts";
import { assistant, ingest, ingested, memoriesOf, readIngest, ring, user } from "./calls.ts";

afterEach(restore);

const MINUTE = 60_000;
const facts = { extract: ["facts"] };
const tea = { subject: "user", predicate: "likes", object: "tea", sources: [1] };
const porto = { subject: "user", predicate: "lives in", object: "Porto", sources: [3] };
const lives = [user("I like tea."), assistant("How is it there?"), user("It rains. I live in Porto. You?")];
const found = { facts: [tea, porto] };

const never = (): never => {
  throw new Error("no look");
};
type Looks = ScriptedModel["looks"];
/** The model finds both facts, and answers second looks so. */
function newModel(looks: Looks, first: Reply = found): ScriptedModel {
  const model = new ScriptedModel(first, { facts: [] });
  model.looks = looks;
  control.languageModel = model;
  return model;
}
const entries = (change: (fact: Shown, i: number) => LookEntry[]) => (shown: Shown[]) => ({
  looks: shown.flatMap(change),
});
/** The objects of a user's memories in a state. */
async function objectsOf(owner: string, status = "active"): Promise<string[]> {
  const memories = await memoriesOf(owner, `&status=${status}`);
  return memories.map(({ object }): string => object).toSorted();
}
const retry = (id: string) => call(`/v1/ingests/${id}/retry`, { json: {} });

describe("a model that agrees", () => {
  it("makes the facts live, and has seen each with its sentence alone", async () => {
    const model = newModel([]);
    const owner = newUser();
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(result).toMatchObject({ status: "done", counts: { created: 2 }, usage: { calls: 2 } });
    expect(await objectsOf(owner)).toEqual(["Porto", "tea"]);
    expect(model.looked.flatMap(shownIn)).toEqual([
      {
        n: 1,
        by: "the user",
        sentence: "I like tea.",
        fact: { subject: "user", predicate: "likes", object: "tea" },
      },
      {
        n: 2,
        by: "the user",
        sentence: "I live in Porto.",
        fact: { subject: "user", predicate: "lives in", object: "Porto" },
      },
    ]);
    const [{ system, messages } = { system: "", messages: [] }] = model.looked;
    expect(messages).toHaveLength(1);
    expect(`${system}${messages[0]?.content}`).not.toContain("rain");
    expect(system).not.toBe(model.asked[0]?.system);
  });

  it("is shown who says it, and the question that a short sentence answers", async () => {
    const model = newModel([], {
      facts: [
        { ...tea, subject: "Bob" },
        { ...porto, sources: [4] },
      ],
    });
    const messages = [
      { ...user("I like tea."), name: "Bob" },
      { ...user("Fine."), name: "Ana" },
      assistant("Good. Where do you live?"),
      { ...user("Porto."), name: "Ana" },
    ];
    const owner = newUser();
    await ingest(owner, { messages, owners: ["Ana"], ...facts });
    expect(model.looked.flatMap(shownIn)).toMatchObject([
      { by: "Bob", sentence: "I like tea.", fact: { subject: "Bob" } },
      { by: "the user (Ana)", sentence: "Porto.", asked: "Where do you live?", fact: { subject: "user" } },
    ]);
    expect(await objectsOf(owner)).toEqual(["Porto", "tea"]);
  });

  it("is asked about the facts of the caller's model too; without a model, these pass the checks alone", async () => {
    const given = {
      messages: lives,
      extracted: {
        facts: [
          { ...tea, sources: [0] },
          { ...porto, sources: [2] },
        ],
      },
    };
    const model = newModel(entries((fact) => [lookEntry(fact, fact.fact.object === "tea")]));
    const [owner, other] = [newUser(), newUser()];
    expect(await ingested(owner, given)).toMatchObject({
      status: "done",
      counts: { created: 1, quarantined: 1 },
    });
    expect(await objectsOf(owner)).toEqual(["tea"]);
    expect(model.asked).toEqual([]);
    control.languageModel = null;
    expect(await ingested(other, given)).toMatchObject({ status: "done", counts: { created: 2 } });
  });

  it("is asked about twenty facts at a time, and of a fact once", async () => {
    const model = newModel([]);
    const owner = newUser();
    const drinks = Array.from({ length: 45 }, (_, i) => `drink${i}`);
    const messages = drinks.map((drink) => user(`I like ${drink}.`));
    const extracted = { facts: drinks.map((object, i) => ({ ...tea, object, sources: [i] })) };
    expect(await ingested(owner, { messages, extracted })).toMatchObject({
      status: "done",
      counts: { created: 45 },
      usage: { calls: 3 },
    });
    expect(model.looked.map((one) => shownIn(one).length)).toEqual([20, 20, 5]);
    expect(await objectsOf(owner)).toEqual(drinks.toSorted());
  });

  it("is not asked about what the checks refuse, and shown no part of a long sentence", async () => {
    const model = newModel([], {
      facts: [
        { ...tea, object: "gin" },
        { ...tea, sources: [2] },
        { ...tea, object: "milk", sources: [3] },
      ],
    });
    const owner = newUser();
    const long = `I like milk, and ${"so much of it, ".repeat(80)}as I said.`;
    const messages = [user("I like tea."), user("I like tea."), user(long)];
    const { results } = await ingested(owner, { messages, ...facts });
    expect(model.looked.flatMap(shownIn).map(({ fact }) => fact.object)).toEqual(["tea"]);
    expect(results.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual([
      "created",
      "quarantined",
      "quarantined",
    ]);
    for (const { line } of model.looked.flatMap(({ messages: [one] }) =>
      (one?.content ?? "").split("\n").map((text) => ({ line: text })),
    ))
      expect(new TextEncoder().encode(line).byteLength).toBeLessThanOrEqual(1_024);
  });
});

describe("a model that says no", () => {
  it.each(["says", "subject", "fact", "now"] as const)("leaves the fact in quarantine: %s", async (which) => {
    newModel(entries((fact) => [{ ...lookEntry(fact), [which]: fact.fact.object !== "tea" }]));
    const owner = newUser();
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(result).toMatchObject({ status: "done", counts: { created: 1, quarantined: 1 } });
    expect(result.results).toContainEqual(
      expect.objectContaining({ outcome: "quarantined", reasons: ["denied_by_look"] }),
    );
    expect(await memoriesOf(owner, "&status=quarantined")).toMatchObject([
      { object: "tea", reasons: ["denied_by_look"] },
    ]);
    expect(await objectsOf(owner)).toEqual(["Porto"]);
  });
});

describe("an answer that is none", () => {
  const other = (fact: Shown, n: number): LookEntry => ({ ...lookEntry(fact), n });
  it.each<[string, Looks, string[]]>([
    ["no JSON", ["Sure!", "Sure!"], []],
    ["the facts of an extraction", () => found, []],
    ["entries that are no objects", () => ({ looks: [true, null, 7, "yes"] }), []],
    ["no entry", () => ({ looks: [] }), []],
    ["too few entries", entries((fact) => (fact.n === 1 ? [lookEntry(fact)] : [])), ["tea"]],
    ["too many entries", entries((fact) => [lookEntry(fact), other(fact, fact.n + 10)]), ["Porto", "tea"]],
    [
      "two entries of a fact",
      entries((fact) => [lookEntry(fact), ...(fact.n === 1 ? [] : [lookEntry(fact)])]),
      ["tea"],
    ],
    [
      "a no behind many entries",
      entries((fact) =>
        fact.n === 1 ? [] : [true, true, true, false].map((holds) => lookEntry(fact, holds)),
      ),
      [],
    ],
    [
      "a second entry that is malformed",
      (shown) => ({
        looks: shown.flatMap((fact) => [
          lookEntry(fact),
          ...(fact.n === 1 ? [] : [{ n: fact.n, says: false }]),
        ]),
      }),
      ["tea"],
    ],
    ["other numbers", entries((fact) => [other(fact, fact.n + 100)]), []],
    ["swapped numbers", entries((fact) => [other(fact, 3 - fact.n)]), []],
    ["another object", entries((fact) => [{ ...lookEntry(fact), object: "gin" }]), []],
    [
      "texts in place of truth",
      (shown) => ({ looks: shown.map((fact) => ({ ...lookEntry(fact), says: "true" })) }),
      [],
    ],
  ])("makes no fact live: %s", async (_, looks, live) => {
    newModel(looks);
    const owner = newUser();
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(await objectsOf(owner)).toEqual(live);
    const waiting = await memoriesOf(owner, "&status=quarantined");
    expect(waiting.map(({ reasons }) => reasons)).toEqual(
      Array.from({ length: 2 - live.length }, () => ["not_looked_at"]),
    );
    expect(result).toMatchObject(
      live.length === 2 ? { status: "done" } : { status: "partial", why: "invalid_answer" },
    );
    // A retry shows only what has no answer, and extracts nothing again.
    const model = newModel([]);
    await evict(owner);
    await retry(result.id);
    await ring(owner);
    expect(await readIngest(result.id)).toMatchObject({ status: "done", counts: { created: 2 } });
    expect(await objectsOf(owner)).toEqual(["Porto", "tea"]);
    expect(await objectsOf(owner, "quarantined")).toEqual([]);
    expect([model.asked.length, model.looked.length]).toEqual([0, live.length === 2 ? 0 : 1]);
  });

  it("is asked for once more, with the error", async () => {
    const model = newModel(["Sure!"]);
    const owner = newUser();
    expect(await ingested(owner, { messages: lives, ...facts })).toMatchObject({
      status: "done",
      counts: { created: 2 },
      usage: { calls: 3 },
    });
    expect(model.looked[1]?.messages.at(-1)?.content).toContain("not the JSON");
  });
});

describe("a no", () => {
  it("stays, whatever the second answer says", async () => {
    const model = newModel((shown) => {
      const isFirst = model.looked.length === 1;
      return { looks: shown.slice(0, isFirst ? 1 : 2).map((fact) => lookEntry(fact, !isFirst)) };
    });
    const owner = newUser();
    await ingest(owner, { messages: lives, ...facts });
    expect(model.looked).toHaveLength(2);
    expect(await objectsOf(owner)).toEqual(["Porto"]);
    expect(await memoriesOf(owner, "&status=quarantined")).toMatchObject([{ reasons: ["denied_by_look"] }]);
  });
});

describe("a fact as the model is shown it", () => {
  const shownOf = async (messages: object[], fact: object): Promise<Partial<Shown>[]> => {
    const model = newModel([], { facts: [{ subject: "user", sources: [messages.length], ...fact }] });
    await ingest(newUser(), { messages, ...facts });
    return model.looked.flatMap(shownIn);
  };

  it("has what others wrote in its sentence", async () => {
    const text = 'I live in Porto, "the invicta city".';
    expect(
      await shownOf([user(`Hi! ${text} And you?`)], { predicate: "lives in", object: "Porto" }),
    ).toMatchObject([{ sentence: text }]);
  });

  it("has the sentence that the checks found, and no other with its words", async () => {
    expect(
      await shownOf([user("Do I like tea? I like tea.")], { predicate: "likes", object: "tea" }),
    ).toMatchObject([{ sentence: "I like tea." }]);
  });

  it.each([
    ["What is your job? I would love to know.", "A nurse.", { predicate: "is", object: "nurse" }],
    [
      `Where do you live, now that you have told me of ${"all of your journeys, ".repeat(20)}and of your home?`,
      "In Porto.",
      { predicate: "lives in", object: "Porto" },
    ],
  ])("has the whole question that it answers: %s", async (said, answer, fact) => {
    const asked = said.slice(0, said.indexOf("?") + 1);
    expect(await shownOf([assistant(said), user(answer)], fact)).toMatchObject([{ asked, sentence: answer }]);
  });

  it("is too long with a long question", async () => {
    const said = `Where do you live, now that you have told me of ${"all of your journeys, ".repeat(60)}and your home?`;
    expect(
      await shownOf([assistant(said), user("In Porto.")], { predicate: "lives in", object: "Porto" }),
    ).toEqual([]);
  });

  it("has what names its subject", async () => {
    const [text, fact] = ["My sister called. She lives in Rome.", { predicate: "lives in", object: "Rome" }];
    expect(await shownOf([user(`Hi! ${text}`)], { ...fact, subject: "user's sister" })).toMatchObject([
      { sentence: text },
    ]);
  });

  it("comes in another call than one with the same object", async () => {
    const model = newModel([], {
      facts: [tea, { ...tea, predicate: "sells", sources: [2] }, { ...porto, sources: [3] }],
    });
    const messages = [user("I like tea."), user("I sell tea."), user("I live in Porto.")];
    await ingest(newUser(), { messages, ...facts });
    expect(model.looked.map((one) => shownIn(one).map(({ fact }) => fact.object))).toEqual([
      ["tea", "Porto"],
      ["tea"],
    ]);
  });

  it("has no writer who takes the owner's name", async () => {
    const model = newModel([], { facts: [{ ...tea, subject: "The user (Ana)" }] });
    const messages = [
      { ...user("I like tea."), name: "The user (Ana)" },
      { ...user("Fine."), name: "Ana" },
    ];
    await ingest(newUser(), { messages, owners: ["Ana"], ...facts });
    expect(model.looked.flatMap(shownIn).map(({ by }) => by)).not.toContain("the user (Ana)");
    expect(model.looked.flatMap(shownIn).map(({ by }) => by)).not.toContain("The user (Ana)");
  });
});

describe("what the caller's model gives beside a fact", () => {
  const said = [user("I prefer tea to coffee."), assistant("What do you drink?"), user("Tea!")];
  const fact = { subject: "user", predicate: "prefers", object: "tea", text: "user prefers coffee to tea" };

  it("is no text of a memory whose sentence tells more", async () => {
    newModel([]);
    const owner = newUser();
    await ingest(owner, { messages: said, extracted: { facts: [{ ...fact, sources: [0] }] } });
    expect((await memoriesOf(owner)).map(({ text }) => text)).toEqual(["I prefer tea to coffee."]);
  });

  it("is shown to the model where the memory has that text", async () => {
    const model = newModel([]);
    const owner = newUser();
    const drinks = { ...fact, predicate: "drinks", text: "user drinks tea" };
    await ingest(owner, { messages: said, extracted: { facts: [{ ...drinks, sources: [2] }] } });
    expect(model.looked.flatMap(shownIn)).toMatchObject([
      { asked: "What do you drink?", sentence: "Tea!", fact: { text: "user drinks tea" } },
    ]);
    expect((await memoriesOf(owner)).map(({ text }) => text)).toEqual(["user drinks tea"]);
  });

  it("sets no cardinality: that is the matter of the predicate", async () => {
    const { text: _text, ...given } = fact;
    const { status, body } = await ingest(newUser(), {
      messages: said,
      extracted: { facts: [{ ...given, cardinality: "one", sources: [0] }] },
    });
    expect([status, body.error.code]).toEqual([400, "invalid_request"]);
  });
});

describe("a model that fails in its second look", () => {
  it("as the neurons of the day are used up is asked again at 0:00 UTC, and nothing is lost", async () => {
    const model = newModel(() => new ModelRefusal("day", "3036: daily free allocation"));
    const owner = newUser();
    const { id, ...waiting } = await ingested(owner, { messages: lives, ...facts });
    expect(waiting).toMatchObject({ status: "queued", why: "model_daily_limit", usage: { calls: 1 } });
    model.looks = [];
    control.clockAhead += 24 * 60 * MINUTE;
    await ring(owner);
    expect(await readIngest(id)).toMatchObject({ status: "done", counts: { created: 2 } });
    expect(model.asked).toHaveLength(1);
  });

  it.each<[string, Error, string]>([
    ["it is away", new Error("the model is away"), "model_failed"],
    ["it is late", new DeadlineExceeded(1), "model_late"],
    ["its settings are wrong", new ModelRefusal("settings", "401"), "model_misconfigured"],
  ])("leaves the facts waiting, and a retry asks again: %s", async (_, error, why) => {
    const model = newModel(() => error);
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background" });
    for (let i = 0; i < 12; i++) {
      await ring(owner);
      control.clockAhead += 10 * MINUTE;
    }
    expect(await readIngest(body.ingestId)).toMatchObject({
      status: "partial",
      why,
      messages: { extracted: 3 },
      counts: { quarantined: 2 },
    });
    expect(model.asked).toHaveLength(1);
    expect(model.looked).toHaveLength(why === "model_misconfigured" ? 1 : 10);
    expect(await objectsOf(owner)).toEqual([]);
    const waiting = await memoriesOf(owner, "&status=quarantined");
    expect(waiting.map(({ reasons }) => reasons)).toEqual([["not_looked_at"], ["not_looked_at"]]);
    model.looks = [];
    await retry(body.ingestId);
    await ring(owner);
    expect(await objectsOf(owner)).toEqual(["Porto", "tea"]);
    expect(await objectsOf(owner, "quarantined")).toEqual([]);
    const { results, counts } = await readIngest(body.ingestId);
    expect(counts).toEqual({ created: 2 });
    // The id under which each waited reaches it too.
    for (const { id } of [
      ...waiting,
      ...results.map(({ memoryId }: { memoryId: string }) => ({ id: memoryId })),
    ])
      expect((await call(`/v1/users/${owner}/memories/${id}`)).body).toMatchObject({ status: "active" });
    expect(model.asked).toHaveLength(1);
  });

  it.each([
    ["I don't smoke, but I love jazz.", ["loves", "jazz"]],
    ["I live in Berlin, not in Munich.", ["lives in", "Berlin"]],
    ["No problem, I live in Porto.", ["lives in", "Porto"]],
  ])(
    "is asked again about a fact whose sentence denies something else: %s",
    async (said, [predicate, object]) => {
      const fact = { subject: "user", predicate, object, sources: [1] };
      const model = newModel(() => new ModelRefusal("settings", "401"), { facts: [fact] });
      const owner = newUser();
      const { id } = await ingested(owner, { messages: [user(said)], ...facts });
      expect(await memoriesOf(owner, "&status=quarantined")).toMatchObject([{ reasons: ["not_looked_at"] }]);
      const [shown] = model.looked.flatMap(shownIn);
      model.looks = [];
      await retry(id);
      await ring(owner);
      expect(await readIngest(id)).toMatchObject({ status: "done", counts: { created: 1 } });
      expect(await memoriesOf(owner)).toMatchObject([{ object, text: said }]);
      expect(model.looked.flatMap(shownIn).at(-1)).toEqual(shown);
    },
  );

  it("is shown the caller's text again where its sentence needs the fact to be understood", async () => {
    const model = newModel(() => new ModelRefusal("settings", "401"));
    const owner = newUser();
    const { id } = await ingested(owner, {
      messages: [assistant("Where do you live?"), user("Porto.")],
      extracted: { facts: [{ ...porto, text: "The user lives in Porto.", sources: [1] }] },
    });
    model.looks = [];
    await retry(id);
    await ring(owner);
    expect(await memoriesOf(owner)).toMatchObject([{ object: "Porto", text: "The user lives in Porto." }]);
    const [first, again] = model.looked.flatMap(shownIn);
    expect(again).toEqual(first);
  });

  it("is asked again by the next ingest of the thread, once it is back", async () => {
    const model = newModel(() => new ModelRefusal("settings", "401"));
    const owner = newUser();
    const first = await ingested(owner, { messages: lives, ...facts });
    expect(first).toMatchObject({ status: "partial", why: "model_misconfigured" });
    model.looks = [];
    await ingest(owner, { messages: [...lives, user("It snows today.")], ...facts });
    await ring(owner);
    expect(await readIngest(first.id)).toMatchObject({ status: "done", counts: { created: 2 } });
    expect(await objectsOf(owner)).toEqual(["Porto", "tea"]);
  });

  it("is asked about the facts of several ingests once it is back, and not with each ingest while it is away", async () => {
    const sent = [...lives];
    const model = new RuledModel((messages) => ({
      facts: messages.flatMap(({ n, text }) =>
        text.startsWith("I like ") ? [{ ...tea, object: text.slice(7, -1), sources: [n] }] : [],
      ),
    }));
    model.looks = () => new ModelRefusal("settings", "401");
    control.languageModel = model;
    const owner = newUser();
    for (const drink of ["milk", "gin", "rum"]) {
      sent.push(user(`I like ${drink}.`));
      await ingest(owner, { messages: sent, ...facts });
      await ring(owner);
    }
    expect(model.looked).toHaveLength(3);
    model.looks = [];
    await ingest(owner, { messages: [...sent, user("I like beer.")], ...facts });
    for (let i = 0; i < 3; i++) await ring(owner);
    expect(await objectsOf(owner)).toEqual(["beer", "gin", "milk", "rum", "tea"]);
  });

  it("keeps what waits as it is, if a retry gets no answer", async () => {
    newModel(() => new ModelRefusal("settings", "401"));
    const owner = newUser();
    const { id, counts } = await ingested(owner, { messages: lives, ...facts });
    const before = await memoriesOf(owner, "&status=quarantined");
    await retry(id);
    await ring(owner);
    expect(await memoriesOf(owner, "&status=quarantined")).toEqual(before);
    expect(await readIngest(id)).toMatchObject({ status: "partial", why: "model_misconfigured", counts });
  });

  it("is not asked again about a fact that was rejected, or released, meanwhile", async () => {
    const model = newModel(() => new ModelRefusal("settings", "401"));
    const owner = newUser();
    const { id } = await ingested(owner, { messages: lives, ...facts });
    for (const { id: memory, object } of await memoriesOf(owner, "&status=quarantined")) {
      const path = `/v1/users/${owner}/memories/${memory}`;
      const { status } = await (object === "tea"
        ? call(path, { method: "DELETE" })
        : call(`${path}/release`, { json: {} }));
      expect(status).toBeLessThan(300);
    }
    model.looks = entries((fact) => [lookEntry(fact, false)]);
    await retry(id);
    await ring(owner);
    expect(await objectsOf(owner)).toEqual(["Porto"]);
    expect(await objectsOf(owner, "quarantined")).toEqual([]);
    model.looks = [];
    await retry(id);
    await ring(owner);
    expect(await objectsOf(owner)).toEqual(["Porto"]);
  });

  it("says no in the retry: the fact waits for that reason", async () => {
    const model = newModel(() => new ModelRefusal("settings", "401"));
    const owner = newUser();
    const { id } = await ingested(owner, { messages: lives, ...facts });
    model.looks = entries((fact) => [lookEntry(fact, false)]);
    await retry(id);
    await ring(owner);
    expect(await readIngest(id)).toMatchObject({ status: "done", counts: { quarantined: 2 } });
    expect((await memoriesOf(owner, "&status=quarantined")).map(({ reasons }) => reasons)).toEqual([
      ["denied_by_look"],
      ["denied_by_look"],
    ]);
  });

  it("is asked once more about a fact that it has found twice, and which waits as one memory", async () => {
    const model = newModel(() => new ModelRefusal("settings", "401"), { facts: [tea, porto, tea] });
    const owner = newUser();
    const { id } = await ingested(owner, { messages: lives, ...facts });
    const { length } = model.looked;
    model.looks = [];
    await retry(id);
    await ring(owner);
    const shown = model.looked.slice(length).flatMap(shownIn);
    expect(shown.map(({ fact }) => fact.object)).toEqual(["tea", "Porto"]);
    expect(await readIngest(id)).toMatchObject({ status: "done", counts: { created: 2 } });
    expect(await objectsOf(owner)).toEqual(["Porto", "tea"]);
  });

  const between = Array.from({ length: 39 }, () => assistant("Fine."));

  it.each([
    ["in one look", [user("I like tea. I sell tea.")], [{ ...tea, predicate: "sells" }]],
    [
      "in two looks",
      [user("I like tea."), ...between, user("I sell tea.")],
      [{ ...tea, predicate: "sells", sources: [41] }],
    ],
  ])(
    "is asked again once it is back, though its answer was none for another fact %s",
    async (_, messages, more) => {
      for (const looks of [
        (isSale: boolean) => (isSale ? new ModelRefusal("settings", "401") : { looks: [] }),
        (isSale: boolean) => (isSale ? { looks: [] } : new ModelRefusal("settings", "401")),
      ]) {
        const model = new RuledModel((asked) => ({
          facts: [tea, ...more].filter(({ sources: [seq] }) => asked.some(({ n }) => n === seq)),
        }));
        model.looks = (shown) => looks(shown.some(({ fact }) => fact.predicate === "sells"));
        control.languageModel = model;
        const owner = newUser();
        const first = await ingested(owner, { messages, ...facts });
        expect(first).toMatchObject({ status: "partial", why: "model_misconfigured" });
        model.looks = [];
        await ingest(owner, { messages: [...messages, user("I have tea. Good night.")], ...facts });
        await ring(owner);
        expect(await readIngest(first.id)).toMatchObject({ status: "done", counts: { created: 2 } });
      }
    },
  );

  it("is asked about facts behind a thousand results: the counts stay true", async () => {
    const model = newModel(() => new ModelRefusal("settings", "401"));
    const owner = newUser();
    const { id, counts } = await ingested(owner, { messages: lives, ...facts });
    expect(counts).toEqual({ quarantined: 2 });
    const listed = Array.from({ length: 1_000 }, () => ({ kind: "fact", outcome: "known", sources: [1] }));
    await runInDurableObject(await objectOf(owner), (_, { storage }) => {
      const [results, of] = ["$.results", "$.counts.known"];
      storage.sql.exec(
        "UPDATE ingests SET state = json_set(state, ?, json(?), ?, 1000) WHERE id = ?",
        results,
        JSON.stringify(listed),
        of,
        id,
      );
    });
    model.looks = [];
    await retry(id);
    await ring(owner);
    expect((await readIngest(id)).counts).toEqual({ known: 1_000, created: 2 });
  });

  it("does not take any of many facts: it is not asked about each", async () => {
    const model = newModel(() => new ModelRefusal("messages", "filtered"));
    const owner = newUser();
    const drinks = Array.from({ length: 20 }, (_, i) => `drink${i}`);
    const extracted = { facts: drinks.map((object, i) => ({ ...tea, object, sources: [i] })) };
    const messages = drinks.map((drink) => user(`I like ${drink}.`));
    const result = await ingested(owner, { messages, extracted });
    expect(result).toMatchObject({ status: "partial", why: "model_refused", counts: { quarantined: 20 } });
    expect(model.looked.map((one) => shownIn(one).length)).toEqual([20, 10, 5, 3, 2, 1, 1]);
  });

  it("does not take some of the facts: only these wait", async () => {
    const model = newModel((shown) =>
      shown.some(({ sentence }) => sentence.includes("tea"))
        ? new ModelRefusal("messages", "filtered")
        : { looks: shown.map((fact) => lookEntry(fact)) },
    );
    const owner = newUser();
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(result).toMatchObject({ status: "partial", why: "model_refused" });
    expect(await objectsOf(owner)).toEqual(["Porto"]);
    expect(await objectsOf(owner, "quarantined")).toEqual(["tea"]);
    expect(model.asked).toHaveLength(1);
  });
});

describe("between the extraction and the look", () => {
  /** The ingest waits for the look, which has failed once. */
  async function waiting(given: object): Promise<{ owner: string; id: string; model: ScriptedModel }> {
    const model = newModel([new Error("away")]);
    const owner = newUser();
    const { body } = await ingest(owner, { messages: lives, ...facts, mode: "background", ...given });
    await ring(owner);
    expect(await readIngest(body.ingestId)).toMatchObject({ status: "queued", why: "model_failed" });
    return { owner, id: body.ingestId, model };
  }
  const later = async (owner: string) => {
    control.clockAhead += 10 * MINUTE;
    await ring(owner);
  };

  it("nothing is lost by an eviction, and nothing is asked or stored twice", async () => {
    const { owner, id, model } = await waiting({});
    expect(await objectsOf(owner)).toEqual([]);
    await evict(owner);
    await later(owner);
    expect(await readIngest(id)).toMatchObject({ status: "done", counts: { created: 2 } });
    expect(await objectsOf(owner)).toEqual(["Porto", "tea"]);
    expect([model.asked.length, model.looked.length]).toEqual([1, 2]);
  });

  it("a message takes back what is looked at: it does not become live", async () => {
    const messages = [user("I like tea."), assistant("How is it there?"), user("I live in Porto.")];
    const { owner, id } = await waiting({ messages });
    await ingest(owner, { messages: [...messages, user("Just kidding.")], ...facts, mode: "background" });
    await retry(id);
    await ring(owner);
    expect(await readIngest(id)).toMatchObject({ status: "done", counts: { created: 1, quarantined: 1 } });
    expect(await objectsOf(owner)).toEqual(["tea"]);
  });

  it("a sentence changes that the model has seen: it sees the new one, and its answer counts", async () => {
    const message = (text: string) => ({ id: "m1", role: "user", parts: [{ type: "text", text }] });
    const send = (text: string, mode: string) =>
      ingest(owner, { sessionId: "s", messages: [message(text), user("I sell tea.")], ...facts, mode });
    const model = newModel(() => (model.looked.length === 2 ? new Error("away") : { looks: answers() }), {
      facts: [tea, { ...tea, predicate: "sells", sources: [2] }],
    });
    const answers = () =>
      shownIn(model.looked.at(-1) ?? never()).map((fact) =>
        lookEntry(fact, !fact.sentence.includes("Mondays")),
      );
    const owner = newUser();
    const { body } = await send("I like tea.", "background");
    await ring(owner);
    await send("On Mondays I like tea.", "background");
    await retry(body.ingestId);
    await ring(owner);
    expect(model.looked.map((one) => shownIn(one).map(({ sentence }) => sentence))).toEqual([
      ["I like tea."],
      ["I sell tea."],
      ["I sell tea."],
      ["On Mondays I like tea."],
    ]);
    expect(await readIngest(body.ingestId)).toMatchObject({ counts: { created: 1, quarantined: 1 } });
  });

  it("a message is deleted: the model is asked again without it", async () => {
    const { owner, id, model } = await waiting({});
    const { threadId } = await readIngest(id);
    await call(`/v1/threads/${threadId}/messages/1`, { method: "DELETE" });
    model.looks = [];
    await later(owner);
    expect(model.asked).toHaveLength(2);
    expect(await objectsOf(owner)).toEqual([]);
    expect(await readIngest(id)).toMatchObject({ status: "done" });
  });

  it("a message is deleted that the caller's model cites: its fact fails, and no other", async () => {
    const extracted = {
      facts: [
        { ...tea, sources: [0] },
        { ...porto, sources: [2] },
      ],
    };
    const { owner, id } = await waiting({ extracted, extract: undefined });
    const { threadId } = await readIngest(id);
    await call(`/v1/threads/${threadId}/messages/1`, { method: "DELETE" });
    await later(owner);
    expect(await objectsOf(owner)).toEqual(["Porto"]);
    expect(await readIngest(id)).toMatchObject({ status: "done", counts: { created: 1, failed: 1 } });
  });

  it("the thread or the user is deleted: nothing is stored", async () => {
    for (const of of ["thread", "user"]) {
      const { owner, id } = await waiting({});
      const { threadId } = await readIngest(id);
      await call(of === "thread" ? `/v1/threads/${threadId}` : `/v1/users/${owner}`, { method: "DELETE" });
      for (let i = 0; i < 3; i++) await later(owner);
      expect(await objectsOf(owner)).toEqual([]);
      expect(await objectsOf(owner, "quarantined")).toEqual([]);
    }
  });

  it("the next ingest of the thread waits: no message is extracted twice, and nothing forgotten comes back", async () => {
    const { owner, id, model } = await waiting({});
    const next = await ingest(owner, {
      messages: [...lives, user("It snows today.")],
      ...facts,
      mode: "background",
    });
    for (let i = 0; i < 3; i++) {
      // The first one waits for its next attempt.
      control.clockAhead += 1_100;
      await ring(owner);
    }
    await evict(owner);
    expect(await readIngest(next.body.ingestId)).toMatchObject({ status: "queued", why: "model_failed" });
    expect(model.asked).toHaveLength(1);
    await retry(id);
    await ring(owner);
    expect(await readIngest(id)).toMatchObject({ status: "done", counts: { created: 2 } });
    for (const { id: memory } of await memoriesOf(owner, "&status=active"))
      await call(`/v1/users/${owner}/memories/${memory}`, { method: "DELETE" });
    await later(owner);
    expect(await readIngest(next.body.ingestId)).toMatchObject({ status: "done" });
    expect(model.asked.map((request) => messagesIn(request).map(({ n }) => n))).toEqual([[1, 2, 3], [4]]);
    expect(await objectsOf(owner)).toEqual([]);
  });

  it("the quota is used up: the facts wait for the next day", async () => {
    control.modelQuota = { calls: 1, tokens: null };
    const model = newModel([]);
    const owner = newUser();
    const result = await ingested(owner, { messages: lives, ...facts });
    expect(result).toMatchObject({ status: "queued", why: "quota", usage: { calls: 1 } });
    control.clockAhead += 24 * 60 * MINUTE;
    await ring(owner);
    expect(await objectsOf(owner)).toEqual(["Porto", "tea"]);
    expect([model.asked.length, model.looked.length]).toEqual([1, 1]);
  });
});
