// A store that somebody has filled to break the page: names, scripts, directions of writing, sizes, and what disappears.
import { expect, it } from "vitest";
import { expectAccessible, goTo, memory, newUser, open } from "./browser.ts";

const place = (user: string, tab: string): string => `users/${encodeURIComponent(user)}/${tab}`;
const TABS = ["memories", "inbox", "threads", "recall?query=alert", "context?query=alert", "entries", "data"];
const scripts = `<script>alert(1)</script><img src=x onerror=alert(1)>"'>{{7*7}}`;
const turned = "\u202Eשלום עולם مرحبا\u202C";

it.each([
  ["markup", scripts],
  ["another direction of writing", turned],
  ["256 bytes", "😀".repeat(64)],
  ["a path", "../../etc/passwd?x=1#y%2F"],
])("is no harm: a user whose id, and everything else, is %s", async (_name, text) => {
  const user = `${text.slice(0, 100)}${newUser()}`.slice(0, 128);
  const name = text.slice(0, 200);
  await memory.memories.remember(user, { text, tags: [name.slice(0, 16)], scope: name });
  await memory.memories.remember(user, { subject: name, predicate: name, object: text });
  await memory.memories.remember(user, { text: `${text} waits`, status: "quarantined" });
  const { id } = await memory.threads.create(user, { title: name, agent: name });
  await memory.threads.append(id, [
    { role: "user", content: text, name },
    { role: "assistant", content: [{ type: "text", text }, { type: scripts }] },
  ]);
  await memory.kv.set(user, name, { [text]: text });
  const page = await open(place(user, "memories"));
  page.on("dialog", () => expect.fail("a script of the store ran"));
  for (const tab of TABS) {
    await goTo(page, place(user, tab));
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByText("Loading …").waitFor({ state: "detached" });
    expect(await page.getByRole("alert").count(), tab).toBe(0);
    await expectAccessible(page);
  }
  await goTo(page, place(user, `threads/${id}`));
  await page.locator(".message").nth(1).waitFor();
  await goTo(page, place(user, "memories"));
  await page.locator("a.memory").first().click();
  await page.getByRole("complementary").getByText("Written by").waitFor();
  await expectAccessible(page);
});

it("shows a memory of 32 KiB, and 10,000 of them in a list", async () => {
  const user = newUser();
  await memory.memories.remember(user, { text: "long ".repeat(6_500) });
  for (let from = 0; from < 10_000; from += 500)
    await memory.memories.rememberMany(
      user,
      Array.from({ length: 500 }, (_, i) => ({
        subject: `subject ${(from + i) % 50}`,
        predicate: `has ${from + i}`,
        object: "something",
      })),
    );
  const page = await open(place(user, "memories"));
  await page.getByText("10,000 memories, of the newest").waitFor();
  expect(await page.locator("a.memory").count()).toBeLessThan(80);
  await page.getByRole("searchbox", { name: "Filter by words" }).fill("9999");
  await page.getByRole("link", { name: /has 9999/ }).waitFor();
  await page.getByRole("searchbox", { name: "Filter by words" }).fill("");
  await page.locator(".scroller").press("End");
  await expectAccessible(page);
});

it("says so when what one looks at disappears", async () => {
  const user = newUser();
  const { id } = await memory.memories.remember(user, { text: "I like tea" });
  const thread = await memory.threads.create(user, { title: "A thread" });
  await memory.threads.append(thread.id, [{ role: "user", content: "Hello" }]);
  const page = await open(place(user, "memories"), { mayFail: /404|Failed to load/ });
  await page.getByText("I like tea").waitFor();
  await memory.erasures.user(user);
  await page.getByText("I like tea").click();
  await page.getByText("This memory is not there").waitFor();
  await goTo(page, place(user, `threads/${thread.id}`));
  await page.getByText("This thread is not there").waitFor();
  await goTo(page, place(user, `memories/${id}`));
  await page.getByText("Nothing is remembered of this user").waitFor();
});
