// Conversations: long ones, forks, compactions, and a search within.
import { expect, it } from "vitest";
import { fromNow } from "../../from-now.ts";
import { expectAccessible, hash, memory, newUser, open } from "./browser.ts";

const placeOf = (user: string, rest = ""): string => `users/${encodeURIComponent(user)}/threads${rest}`;
const say = (i: number) => ({ role: i % 2 === 0 ? "assistant" : "user", content: `message number ${i}` });

async function longThread(user: string, length: number): Promise<string> {
  const { id } = await memory.threads.create(user, { title: "A long one", indexing: "lexical" });
  for (let from = 1; from <= length; from += 1_000)
    await memory.threads.append(
      id,
      Array.from({ length: Math.min(1_000, length - from + 1) }, (_, i) => say(from + i)),
    );
  return id;
}

it("reads a long thread from its end to its beginning, with a few rows in the document", async () => {
  const user = newUser();
  const id = await longThread(user, 3_000);
  const page = await open(placeOf(user));
  await page.getByRole("link", { name: "A long one" }).click();
  await page.getByText("message number 3000", { exact: true }).waitFor();
  expect(await page.locator(".message").count()).toBeLessThan(80);
  await page.locator(".scroller").press("Home");
  await page.getByText("message number 1", { exact: true }).waitFor();
  await expectAccessible(page);
  expect(await page.locator(".message").count()).toBeLessThan(80);
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${placeOf(user, `/${id}?seq=1500`)}`)}`);
  await page.locator(".message.named", { hasText: "message number 1500" }).waitFor();
});

it("titles threads by their first words, and finds them by agent, time, title and what was said", async () => {
  const user = newUser();
  const talk = async (fields: { title?: string; agent?: string }, ...contents: string[]) => {
    const { id } = await memory.threads.create(user, fields);
    await memory.threads.append(
      id,
      contents.map((content, i) => ({ role: i === 0 ? "user" : "assistant", content })),
    );
  };
  await talk({ agent: "planner" }, "When does the ferry leave?", "At ten, from the third pier.");
  await talk({ agent: "cook" }, "How long do lentils take?");
  await talk({ title: "The boiler" }, "It is cold.");
  await memory.threads.create(user, {});
  const page = await open(placeOf(user));
  const list = page.getByRole("feed", { name: "Conversations" });
  const row = (name: string | RegExp) => list.getByRole("link", { name });
  for (const title of ["When does the ferry leave?", "How long do lentils", "The boiler", "New conversation"])
    await row(new RegExp(`^${title}`)).waitFor();
  await expectAccessible(page);
  await page.getByLabel("Agent").selectOption("cook");
  await page.getByText("1 conversation", { exact: true }).waitFor();
  await row(/^How long do lentils/).waitFor();
  await page.getByLabel("Agent").selectOption("");
  const search = page.getByRole("searchbox", { name: "Search the conversations" });
  await search.fill("boiler");
  await search.press("Enter");
  await row(/^The boiler/).waitFor();
  await search.fill("third pier");
  await search.press("Enter");
  await row(/^When does the ferry leave\? ?assistant: At ten, from the third pier/)
    .first()
    .waitFor();
  await page.getByLabel("Changed").selectOption("monday");
  await row(/^When does the ferry leave/).click();
  await page.locator(".message.named", { hasText: "third pier" }).waitFor();
  await page.getByRole("heading", { name: "When does the ferry leave?" }).waitFor();
  // In a browser that is two weeks ahead, nothing is of this week.
  await page.clock.setFixedTime(fromNow(14 * 24 * 60 * 60 * 1_000));
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${placeOf(user)}?since=monday`)}`);
  await page.getByText("No conversation fits.").waitFor();
  await page.getByLabel("Changed").selectOption("month");
  await page.getByText("4 conversations", { exact: true }).waitFor();
});

it("finds a message within the thread, and leads to it", async () => {
  const user = newUser();
  const id = await longThread(user, 400);
  await memory.threads.append(id, [{ role: "user", content: "The key is under the third flowerpot" }]);
  await memory.threads.append(
    id,
    Array.from({ length: 100 }, (_, i) => say(1_000 + i)),
  );
  const page = await open(placeOf(user, `/${id}`));
  await page.getByRole("searchbox", { name: "Search this thread" }).fill("flowerpot");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("button", { name: "third flowerpot" }).click();
  await page.locator(".message.named", { hasText: "third flowerpot" }).waitFor();
});

it("forks at a message, and shows where a fork comes from", async () => {
  const user = newUser();
  const id = await longThread(user, 5);
  const page = await open(placeOf(user, `/${id}`));
  await page
    .locator(".message", { hasText: "message number 3" })
    .getByRole("button", { name: "Fork here" })
    .click();
  await page.getByText("A fork of").waitFor();
  await page.getByText("3 messages").waitFor();
  await page.getByRole("link", { name: "another thread, at message 3" }).click();
  await page.getByText("Forks:").waitFor();
  expect(await hash(page)).toContain(id);
});

it("folds what a compaction covers, and unfolds it", async () => {
  const user = newUser();
  const id = await longThread(user, 60);
  await memory.threads.compact(id, { summary: "They counted to forty.", to: 40 });
  const page = await open(placeOf(user, `/${id}`));
  await page.locator(".scroller").press("Home");
  await page.getByText("They counted to forty.").waitFor();
  expect(await page.getByText("message number 20", { exact: true }).count()).toBe(0);
  await page.getByText("message number 41", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Unfold" }).click();
  await page.getByText("message number 2", { exact: true }).waitFor();
});

it("deletes a message after the time to undo it", async () => {
  const user = newUser();
  const id = await longThread(user, 3);
  const page = await open(placeOf(user, `/${id}`));
  const second = page.locator(".message", { hasText: "message number 2" });
  await second.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByText("Message 2 was deleted.").waitFor();
  expect((await memory.threads.get(id))?.length).toBe(2);
});
