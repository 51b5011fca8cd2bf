// Queries that name a time: what was true then, though superseded; whose days they are; and the end of it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { forget, history, patch, recall, remember, remembered, rememberMany } from "../../memory-calls.ts";
import { append, create, say } from "../../thread-calls.ts";

const T = Date.UTC(2026, 10, 18, 15);
beforeEach(() => {
  control.clockAt = T;
});
afterEach(restore);

const worksAt = (object: string, more: object = {}) => ({
  subject: "Alice",
  predicate: "works at",
  object,
  ...more,
});
const texts = async (user: string, query: string, more: object = {}) =>
  (await recall(user, { query, ...more })).map(({ text }) => text);
const ask = (user: string, body: object) => call(`/v1/users/${user}/recall`, { json: body });

/** Alice's employers: Initech from 2018, Acme from 2021, Globex from 2024. */
async function withEmployers(): Promise<string> {
  const user = newUser();
  await remembered(user, worksAt("Globex", { validFrom: Date.UTC(2024, 0) }));
  await remembered(user, worksAt("Initech", { validFrom: Date.UTC(2018, 0) }));
  await remembered(user, worksAt("Acme", { validFrom: Date.UTC(2021, 0) }));
  // They contain more words of the question.
  await remembered(user, { text: "Alice asked where the work of March went" });
  return user;
}

describe("a query about a past time", () => {
  it.each([
    ["Where did Alice work in March 2023?", "Acme"],
    ["Alice works at? on 2019-05-04", "Initech"],
    ["Where did Alice work in 2022?", "Acme"],
    ["Where did Alice work before 2020?", "Initech"],
    ["Where did Alice work in the summer of 2020?", "Initech"],
    ["Where did Alice work between May 5 2021 and May 20 2021?", "Acme"],
    ["Where did Alice work last month?", "Globex"],
    ["Where does Alice work?", "Globex"],
  ])("%s %s", async (query, employer) => {
    const user = await withEmployers();
    const found = (await texts(user, query)).filter((text) => text.startsWith("Alice works at"));
    expect(found[0]).toBe(`Alice works at ${employer}`);
    // The current fact is found too, and no other.
    expect(new Set(found)).toEqual(new Set([found[0], "Alice works at Globex"]));
  });

  it("finds each fact of a longer time, with the current one", async () => {
    const user = await withEmployers();
    const found = await texts(user, "Where has Alice worked since 2022 up to now?");
    expect(found).toEqual(expect.arrayContaining(["Alice works at Acme", "Alice works at Globex"]));
    expect(found).not.toContain("Alice works at Initech");
  });

  it("finds the current fact after more versions than an arm finds", async () => {
    const user = newUser();
    const employers = Array.from({ length: 90 }, (_, i) =>
      worksAt(`firm ${i}`, { validFrom: Date.UTC(2015, i) }),
    );
    await rememberMany(user, employers);
    await remembered(user, worksAt("Globex", { text: "Globex pays her", validFrom: Date.UTC(2024, 0) }));
    const hits = await recall(user, { query: "Which firm is it that Alice works at since 2015?", k: 64 });
    expect(hits.map(({ text }) => text)).toContain("Globex pays her");
  });

  it("ranks the fact of that time first, though the current one has the words of the query", async () => {
    const user = newUser();
    const home = (text: string, validFrom: number) => ({ key: "home", text, validFrom });
    await remembered(user, home("Moved into the flat by the harbour", Date.UTC(2020, 0)));
    await remembered(user, home("Alice lives in a house in Lisbon", Date.UTC(2024, 0)));
    expect(await texts(user, "In which house did Alice live in March 2023?")).toEqual([
      "Moved into the flat by the harbour",
      "Alice lives in a house in Lisbon",
    ]);
  });

  it("does not find what was superseded before, or is not true yet", async () => {
    const user = await withEmployers();
    await remembered(user, worksAt("Hooli", { validFrom: T + 1_000 }));
    const found = await texts(user, "Where does Alice work this year?");
    expect(found).toContain("Alice works at Globex");
    expect(found).not.toContain("Alice works at Acme");
    expect(found).not.toContain("Alice works at Hooli");
  });

  it("finds a memory that has ended", async () => {
    const user = newUser();
    const [validFrom, validTo] = [Date.UTC(2023, 0), Date.UTC(2023, 5)];
    await remembered(user, { text: "Alice rents a bike", validFrom, validTo });
    expect(await texts(user, "Does Alice rent a bike?")).toEqual([]);
    expect(await texts(user, "Did Alice rent a bike in May 2023?")).toEqual(["Alice rents a bike"]);
    expect(await texts(user, "Did Alice rent a bike in July 2023?")).toEqual([]);
  });

  it("never finds a corrected, quarantined, expired or forgotten one", async () => {
    const user = newUser();
    const before = { validFrom: Date.UTC(2020, 0) };
    const { id } = await remembered(user, worksAt("Akme", before));
    await patch(user, id, { object: "Acme" });
    await remembered(user, worksAt("Globex", { validFrom: Date.UTC(2024, 0) }));
    await remember(user, { ...worksAt("Umbrella", before), status: "quarantined", scope: "a" });
    await remembered(user, { ...worksAt("Cyberdyne", before), expiresAt: T + 5_000, scope: "b" });
    const gone = await remembered(user, { ...worksAt("Tyrell", before), scope: "c" });
    await forget(user, gone.id);
    control.clockAt = T + 10_000;
    expect(await texts(user, "Where did Alice work in March 2023?")).toEqual([
      "Alice works at Acme",
      "Alice works at Globex",
    ]);
  });

  it("gives way to asOf and validAt of the caller, and to timeMode off", async () => {
    const user = await withEmployers();
    const query = "Where did Alice work in March 2023?";
    const employers = async (more: object) =>
      (await texts(user, query, more)).filter((text) => text.startsWith("Alice works at"));
    expect(await employers({ validAt: Date.UTC(2019, 0) })).toEqual(["Alice works at Initech"]);
    expect(await employers({ asOf: T - 1 })).toEqual([]);
    expect(await employers({ timeMode: "off" })).toEqual(["Alice works at Globex"]);
    const { body } = await ask(user, { query, timeMode: "off" });
    expect(body.arms).toContainEqual(expect.objectContaining({ name: "date", status: "off" }));
  });
});

it("refers to the reference date, and to days of the time zone", async () => {
  const user = newUser();
  const thread = await create(user);
  const told = async (at: number, text: string) => append(thread.id, [say(text)], { createdAt: at });
  // In Tokyo it is the 18th from 15:00 UTC of the 17th on.
  await told(Date.UTC(2026, 10, 17, 14), "the ferry was late");
  await told(Date.UTC(2026, 10, 17, 16), "the ferry was early");
  const best = async (more: object) => (await texts(user, "how was the ferry today?", more))[0];
  const referenceDate = Date.UTC(2026, 10, 17, 16, 30);
  expect(await best({ referenceDate: Date.UTC(2026, 10, 17, 14, 30), timeZone: "Asia/Tokyo" })).toBe(
    "the ferry was late",
  );
  expect(await best({ referenceDate, timeZone: "Asia/Tokyo" })).toBe("the ferry was early");
  const dated = async (more: object) =>
    (await recall(user, { query: "how was the ferry today?", referenceDate, ...more }))
      .filter(({ why }) => (why as { date?: true }).date)
      .map(({ text }) => text)
      .toSorted();
  expect(await dated({ timeZone: "Asia/Tokyo" })).toEqual(["the ferry was early"]);
  expect(await dated({ timeZone: "UTC" })).toEqual(["the ferry was early", "the ferry was late"]);
  expect(await dated({})).toEqual(["the ferry was early", "the ferry was late"]);
});

it("decides by the time zone what was true on a day", async () => {
  const user = newUser();
  await remembered(user, worksAt("Acme", { validFrom: Date.UTC(2020, 0) }));
  // Noon of the 31st in Honolulu is 22:00 UTC: the day goes on until 10:00 UTC of the 1st.
  await remembered(user, worksAt("Globex", { validFrom: Date.UTC(2023, 0, 1, 5) }));
  const best = async (timeZone: string) =>
    (await recall(user, { query: "Where did Alice work on 2023-01-01?", timeZone })).map(({ text }) => text);
  expect(await best("UTC")).toContain("Alice works at Acme");
  expect(await best("Pacific/Honolulu")).toEqual(["Alice works at Globex"]);
});

it.each([
  [{ timeZone: "Europe/Atlantis" }, "body.timeZone"],
  [{ timeZone: "" }, "body.timeZone"],
  [{ timeZone: 1 }, "body.timeZone"],
  [{ timeMode: "on" }, "body.timeMode"],
])("refuses %j", async (more, path) => {
  const { status, body } = await ask(newUser(), { query: "what happened yesterday?", ...more });
  expect(status).toBe(400);
  expect(body.error.details[0].path).toBe(path);
});

it("names the versions that a hit superseded, and that superseded it, as the history does", async () => {
  const user = await withEmployers();
  const hits = await recall(user, { query: "Where did Alice work from 2018 to 2026?" });
  const of = (name: string) => hits.find(({ text }) => text === `Alice works at ${name}`);
  const [initech, acme, globex] = [of("Initech"), of("Acme"), of("Globex")];
  expect(initech).toMatchObject({ supersededBy: acme?.version, validTo: Date.UTC(2021, 0) });
  expect(acme).toMatchObject({ supersedes: initech?.version, supersededBy: globex?.version });
  expect(globex).toMatchObject({ supersedes: acme?.version, validFrom: Date.UTC(2024, 0) });
  expect(initech).not.toHaveProperty("supersedes");
  expect(globex).not.toHaveProperty("supersededBy");
  const past = await history(user, acme?.id ?? "");
  expect(past.find(({ version }) => version === acme?.version)?.["supersededBy"]).toBe(globex?.version);

  // A correction is a new version, which the others name then.
  const { body } = await patch(user, globex?.id ?? "", { object: "Globex Inc." });
  const [corrected] = await recall(user, { query: "Alice works at" });
  expect(corrected).toMatchObject({ version: body.version, supersedes: acme?.version });
  const found = await recall(user, { query: "Where did Alice work in March 2023?" });
  const then = found.find(({ text }) => text === "Alice works at Acme");
  expect(then).toMatchObject({ version: acme?.version, supersededBy: body.version });
  const [asOf] = await recall(user, { query: "Alice works at", asOf: T + 1_000_000 });
  expect(asOf).not.toHaveProperty("supersedes");
});
