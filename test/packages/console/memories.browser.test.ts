// A user's memories: read, added, corrected, superseded, forgotten, released and rejected.
import { expect, it } from "vitest";
import { expectAccessible, memory, newUser, open, picture } from "./browser.ts";

const placeOf = (user: string, tab = "memories"): string => `users/${encodeURIComponent(user)}/${tab}`;

it("adds a fact, lets it change, corrects it, and shows its history", async () => {
  const user = newUser();
  const page = await open(placeOf(user));
  await page.getByText("Nothing is remembered of this user").waitFor();
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByLabel("a fact, which ends the one before").check();
  await page.getByLabel("Predicate").fill("lives in");
  await page.getByLabel("Object").fill("Lisbon");
  await page.getByRole("button", { name: "Remember" }).click();
  await page.getByRole("link", { name: "user lives in Lisbon" }).click();
  const panel = page.getByRole("complementary");
  await panel.getByRole("button", { name: "It changed" }).click();
  const [box, form] = [panel.getByRole("textbox"), panel.locator("form")];
  const right = async (of: typeof box) => {
    const { x = 0, width = 0 } = (await of.boundingBox()) ?? {};
    return x + width;
  };
  expect(await right(box)).toBeLessThan(await right(form));
  await box.fill("Porto");
  await panel.getByRole("button", { name: "Save" }).click();
  await panel.getByText("user lives in Porto").first().waitFor();
  await panel.getByRole("button", { name: "Correct" }).click();
  await panel.getByRole("textbox").fill("Braga");
  await panel.getByRole("button", { name: "Save" }).click();
  await panel.getByRole("heading", { name: "History" }).waitFor();
  await panel.getByText("user lives in Braga").first().waitFor();
  await expect.poll(() => panel.locator(".versions li").count()).toBe(3);
  await expectAccessible(page);
  const [live] = (await memory.memories.list(user)).items;
  expect(live?.text).toBe("user lives in Braga");
  await panel.locator(".versions li", { hasText: "Lisbon" }).getByRole("button", { name: "Restore" }).click();
  await page.getByText("Restoring “user lives in Lisbon”").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  expect((await memory.memories.list(user)).items).toMatchObject([{ text: "user lives in Braga" }]);
  await panel.locator(".versions li", { hasText: "Lisbon" }).getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: "Now", exact: true }).click();
  await page.getByRole("link", { name: "user lives in Lisbon" }).waitFor();
});

it("marks what changed with the value before, and folds the episodes", async () => {
  const user = newUser();
  const lives = { subject: "user", predicate: "lives in" };
  await memory.memories.remember(user, { ...lives, object: "Lisbon" });
  await memory.memories.remember(user, { ...lives, object: "Porto" });
  const { id } = await memory.memories.remember(user, { text: "I have a grey cat" });
  await memory.memories.update(user, id, { text: "I have a black cat" });
  await memory.memories.remember(user, { text: "I like tea" });
  await memory.memories.remember(user, { text: "I like tea", tags: ["taste"] });
  await memory.memories.remember(user, { kind: "episode", text: "They spoke about the boat for long." });
  const page = await open(placeOf(user));
  const row = (text: string) => page.locator("a.memory", { hasText: text });
  await row("user lives in Porto")
    .getByText(/changed .*before: Lisbon/)
    .waitFor();
  await row("I have a black cat")
    .getByText(/corrected .*before: I have a grey cat/)
    .waitFor();
  expect(await row("I like tea").getByText("before:").count()).toBe(0);
  expect(await row("They spoke").count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Unfold" }).click();
  await row("They spoke").waitFor();
});

it("shows a subject over time, with what an opposite ended, and leads on to other subjects", async () => {
  const user = newUser();
  const say = (subject: string, predicate: string, object: string) =>
    memory.memories.remember(user, { subject, predicate, object });
  await say("Ana", "lives in", "Lisbon");
  await say("Ana", "lives in", "Porto");
  await say("Ana", "plays", "chess");
  await say("Ana", "stopped playing", "chess");
  await say("Porto", "lies by", "the Douro");
  await say("Rui", "is a brother of", "ana");
  const page = await open(placeOf(user));
  await page.getByRole("link", { name: "Ana", exact: true }).click();
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByText("4 statements, the newest first").waitFor();
  const lines = await timeline.getByRole("listitem").locator("p:first-of-type").allTextContents();
  expect(lines.map((line) => line.trim())).toEqual([
    "stopped playing chess",
    "plays chess",
    "lives in Porto",
    "lives in Lisbon",
  ]);
  await timeline.getByRole("listitem").filter({ hasText: "Lisbon" }).getByText(", then Porto").waitFor();
  await page.getByRole("region", { name: "Facts that name it" }).getByText("is a brother of").waitFor();
  await expectAccessible(page);
  await picture(page, "subject");
  await timeline.getByRole("link", { name: "Porto" }).click();
  await page.getByText("lies by").waitFor();
  await page.getByRole("region", { name: "Facts that name it" }).getByRole("link", { name: "Ana" }).click();
  await timeline.getByRole("link", { name: "plays" }).first().click();
  const panel = page.getByRole("complementary");
  await panel.getByRole("link", { name: "Ana" }).waitFor();
  await panel.getByRole("heading", { name: "History" }).waitFor();
  expect(await panel.getByRole("button", { name: "Correct" }).count()).toBe(0);
});

it("shows what was known at another moment", async () => {
  const user = newUser();
  const lives = async (object: string) =>
    (await memory.memories.remember(user, { subject: "user", predicate: "lives in", object })).updatedAt;
  const between = await lives("Lisbon");
  await lives("Porto");
  const page = await open(`${placeOf(user)}?asOf=${between}`);
  await page.getByText("user lives in Lisbon").waitFor();
  const slider = page.getByRole("slider");
  await slider.focus();
  await page.keyboard.press("End");
  await page.getByText("user lives in Porto").waitFor();
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByText("Known now").waitFor();
});

it("forgets only after the time to undo it", async () => {
  const user = newUser();
  await memory.memories.remember(user, { text: "I like tea" });
  const page = await open(placeOf(user));
  const forget = async () => {
    await page.getByRole("link", { name: "I like tea" }).click();
    await page.getByRole("button", { name: "Forget" }).click();
  };
  await forget();
  await page.getByRole("button", { name: "Undo" }).click();
  expect((await memory.memories.list(user)).items).toHaveLength(1);
  await forget();
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByText("Nothing is remembered of this user").waitFor();
  expect((await memory.memories.list(user)).items).toEqual([]);
});

it("releases and rejects by keys, and shows the source and what is contradicted", async () => {
  const user = newUser();
  await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Porto" });
  await memory.ingest(user, {
    mode: "wait",
    messages: [{ role: "user", content: "I live in Ghent." }],
    extracted: { facts: [{ subject: "user", predicate: "lives in", object: "Ghent", sources: [0] }] },
  });
  await memory.memories.remember(user, {
    subject: "user",
    predicate: "is allergic to",
    object: "peanuts",
    status: "quarantined",
  });
  const page = await open(placeOf(user, "inbox"));
  const contradicts = page.getByRole("listitem", { name: "I live in Ghent." });
  await contradicts.getByText("It contradicts a memory that is trusted more.").waitFor();
  await contradicts.getByText("user lives in Porto").waitFor();
  await contradicts.getByText("user: I live in Ghent.").waitFor();
  await expectAccessible(page);
  await contradicts.focus();
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Undo" }).click();
  await contradicts.waitFor();
  const candidate = page.getByRole("listitem", { name: "user is allergic to peanuts" });
  await candidate.focus();
  await page.keyboard.press("r");
  await candidate.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await candidate.focus();
  await page.keyboard.press("r");
  await page.getByRole("button", { name: "Now" }).click();
  await contradicts.focus();
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByText("Nothing waits.").waitFor();
  await expect.poll(() => stored(user, "quarantined")).toEqual([]);
  expect(await stored(user, "active")).toEqual(["user is allergic to peanuts", "user lives in Porto"]);
});

const waits = async (user: string, texts: readonly string[]) => {
  for (let i = 0; i < texts.length; i += 500)
    await memory.memories.rememberMany(
      user,
      texts.slice(i, i + 500).map((text) => ({ text, status: "quarantined" })),
    );
};
const stored = async (user: string, status: "active" | "quarantined") => {
  const texts: string[] = [];
  for await (const one of memory.memories.all(user, { status: [status], limit: 1000 })) texts.push(one.text);
  return texts.toSorted();
};

it("releases and rejects those that are selected, and counts on the tab what waits", async () => {
  const user = newUser();
  await waits(user, ["I like tea", "I like rice", "I like figs", "I like kale"]);
  const page = await open(placeOf(user, "inbox"));
  const tab = page.getByRole("navigation", { name: `Parts of ${user}` });
  await tab.getByRole("link", { name: "Inbox 4" }).waitFor();
  for (const text of ["I like tea", "I like rice"])
    await page.getByRole("checkbox", { name: `Select ${text}` }).check();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Release 2 selected" }).click();
  await page.getByRole("button", { name: "Now" }).click();
  await tab.getByRole("link", { name: "Inbox 2" }).waitFor();
  expect(await stored(user, "active")).toEqual(["I like rice", "I like tea"]);
  await page.getByLabel("Select all shown").check();
  await page.getByRole("button", { name: "Reject 2 selected" }).click();
  await page.getByText("Rejecting 2 memories").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("listitem", { name: "I like figs" }).waitFor();
  expect(await stored(user, "quarantined")).toEqual(["I like figs", "I like kale"]);
  await page.getByLabel("Select all shown").check();
  await page.getByRole("button", { name: "Reject 2 selected" }).click();
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByText("Nothing waits.").waitFor();
  await tab.getByRole("link", { name: "Inbox", exact: true }).waitFor();
  expect(await stored(user, "quarantined")).toEqual([]);
});

it("decides on all that wait, also those that are not shown, and on none that came since", async () => {
  const user = newUser();
  await waits(
    user,
    Array.from({ length: 620 }, (_, i) => `fact ${i}`),
  );
  const page = await open(placeOf(user, "inbox"));
  await page.getByText("620 memories wait.").waitFor();
  await page.getByLabel("Select all shown").check();
  await page.getByRole("button", { name: "Release 100 selected" }).waitFor();
  await page.getByRole("button", { name: "Select all 620 that wait" }).click();
  await waits(user, ["came since"]);
  await page.getByRole("button", { name: "Release 620 selected" }).click();
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByText("1 memory waits.").waitFor();
  await page.getByRole("listitem", { name: "came since" }).waitFor();
  expect(await stored(user, "active")).toHaveLength(620);
});

it("says which of the selected wait as before, and why", async () => {
  const user = newUser();
  await memory.memories.remember(user, { text: "mine", externalId: "e" });
  const taken = { subject: "user", predicate: "lives in", object: "Ghent", externalId: "e" };
  await memory.memories.remember(user, { ...taken, status: "quarantined" });
  await waits(user, ["I like tea"]);
  const page = await open(placeOf(user, "inbox"));
  await page.getByLabel("Select all shown").check();
  await page.getByRole("button", { name: "Release 2 selected" }).click();
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByText("1 of 2 wait as before: Another memory of this user has this externalId.").waitFor();
  await page.getByRole("listitem", { name: "I like tea" }).waitFor({ state: "detached" });
  await page.getByRole("listitem", { name: "user lives in Ghent" }).waitFor();
  expect(await stored(user, "active")).toEqual(["I like tea", "mine"]);
});

it("leads from a memory to the message that it came from", async () => {
  const user = newUser();
  await memory.ingest(user, {
    mode: "wait",
    messages: [
      { role: "user", content: "Good morning." },
      { role: "user", content: "I live in Porto." },
    ],
    extracted: { facts: [{ subject: "user", predicate: "lives in", object: "Porto", sources: [1] }] },
  });
  const page = await open(placeOf(user));
  await page.getByRole("link", { name: "I live in Porto." }).click();
  await page.getByRole("link", { name: "message 2" }).click();
  await page.locator(".message.named", { hasText: "I live in Porto." }).waitFor();
});

it("fills an empty user with an example", async () => {
  const user = newUser();
  const page = await open(placeOf(user));
  await page.getByRole("button", { name: "Fill in an example conversation" }).click();
  await page.getByText("The key number of Annika's frame lock is 8R417.").waitFor();
});
