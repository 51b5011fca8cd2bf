// The deployment as a whole: its health, what happens over time, and the registry.
import { expect, it } from "vitest";
import { costsOf } from "../../../packages/console/src/overview/prices.ts";
import { expectAccessible, goTo, hash, memory, newUser, open } from "./browser.ts";

it("shows the health, what happens over time, the users, and what caches saved", async () => {
  const user = newUser();
  await memory.memories.remember(user, { text: "I like tea" });
  await memory.memories.remember(user, { text: "I may like figs", status: "quarantined" });
  await memory.recall(user, { query: "tea" });
  await memory.promptCache.report({
    provider: "openai",
    model: "gpt-5",
    cachedInputTokens: 700,
    uncachedInputTokens: 300,
  });
  const page = await open();
  await page.getByText("Health: ok").click();
  await page.getByText("static2-en-256, 256 dimensions").waitFor();
  const activity = page.getByRole("region", { name: "Activity" });
  await activity.locator("canvas").first().waitFor();
  const legend = activity.locator(".u-legend").first().locator(".u-value");
  expect(await legend.allTextContents()).not.toContain("--");
  expect(await legend.allTextContents()).not.toContain("");
  await activity.locator(".u-over").first().hover();
  await activity.getByRole("heading", { name: "Activity" }).hover();
  expect(await legend.allTextContents()).not.toContain("--");
  await activity.getByText("As a table").first().click();
  await activity.getByRole("columnheader", { name: "memories" }).waitFor();
  const glance = page.getByRole("region", { name: "Numbers" });
  await glance.getByLabel("Period").selectOption("7");
  await glance.getByText("Memories of 7 days").waitFor();
  const numbers = glance.locator(".numbers > div");
  await numbers.filter({ hasText: /^Recalls answered\d+ %$/ }).waitFor();
  await numbers.filter({ hasText: /^Recalls degraded\d+ %$/ }).waitFor();
  await numbers.filter({ hasText: /^Waiting for review[1-9]\d*$/ }).waitFor();
  await numbers.filter({ hasText: /^Problems0$/ }).waitFor();
  await activity.getByText("Users who got memories, by day").waitFor();
  expect(await hash(page)).toContain("days=7");
  await page.getByRole("row", { name: "openai gpt-5 1 700 300 70 %" }).waitFor();
  await page.getByLabel("$ for a million input tokens").fill("1000");
  await page.getByLabel("$ for a million input tokens").press("Tab");
  await page.getByRole("row", { name: "openai gpt-5 1 700 300 70 % $0.63" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show what each holds, and what fails" }).click();
  await page.getByRole("row", { name: new RegExp(`${user} .*KB 2 0 0 1`) }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: user }).click();
  await page.getByText("I like tea").waitFor();
});

it("tells the cost of a month, and what fails", async () => {
  const page = await open("", { mayFail: /Failed to load/ });
  const glance = page.getByRole("region", { name: "Numbers" });
  await glance.getByText("Cost a month, without messages").waitFor();
  await glance.getByText("How the cost comes about").click();
  const field = glance.getByLabel("Messages that your app appends a month");
  await field.fill("2000000");
  await field.press("Enter");
  const none = { users: 0, memories: 0, threads: 0, recalls: 0 };
  const dollars = costsOf({ ...none, messages: 2_000_000 }).messages.toFixed(2);
  await glance.getByRole("row", { name: `Messages, appended by two 2,000,000 $${dollars}` }).waitFor();
  await glance.getByText("Cost a month", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.route("**/health", async (route) => {
    const health = (await (await route.fetch()).json()) as object;
    return route.fulfill({ json: { ...health, status: "degraded", problems: ["The webhook is away."] } });
  });
  await page.route("**/metrics", (route) =>
    route.fulfill({ body: "cairn_oldest_erasure_age_seconds 90000\n" }),
  );
  await goTo(page, "audit");
  await goTo(page, "");
  await glance.getByText("The webhook is away.").waitFor();
  await glance.getByText("An erasure takes longer than a day.").waitFor();
  await glance.locator(".bad", { hasText: "Problems" }).getByText("2").waitFor();
  await expectAccessible(page);
});

it("shows what a user holds", async () => {
  const user = newUser();
  await memory.memories.remember(user, { text: "I like tea" });
  const page = await open(`users/${encodeURIComponent(user)}/data`);
  const holds = page.getByRole("region", { name: "What is stored" });
  await holds.getByText("1 document").waitFor();
  expect(await holds.getByRole("definition").first().textContent()).toBe("1");
});

it("counts on the tabs what is behind them, and what is not true now beside the list", async () => {
  const user = newUser();
  for (const [predicate, object] of [
    ["plays", "chess"],
    ["stopped playing", "chess"],
    ["owns", "a boat"],
  ] as const)
    await memory.memories.remember(user, { subject: "user", predicate, object });
  await memory.memories.remember(user, { text: "I may like figs", status: "quarantined" });
  await memory.threads.create(user, {});
  await memory.kv.set(user, "theme", "dark");
  const page = await open(`users/${encodeURIComponent(user)}`);
  const tabs = page.getByRole("navigation", { name: `Parts of ${user}` });
  for (const name of ["Memories 3", "Inbox 1", "Threads 1", "Entries 1", "Recall"])
    await tabs.getByRole("link", { name, exact: true }).waitFor();
  await page.getByText("2 memories, and 1 not true now").waitFor();
  await memory.kv.set(user, "units", "metric");
  await tabs.getByRole("link", { name: "Recall" }).click();
  await tabs.getByRole("link", { name: "Entries 2" }).waitFor();
});

it("lists the registry, and who creates a value", async () => {
  const prefix = `${crypto.randomUUID()}/`;
  await memory.cache.set(`${prefix}ready`, { name: "cachedContents/1" });
  await memory.cache.lease(`${prefix}coming`, { leaseMs: 60_000 });
  const page = await open("registry");
  await page.getByRole("searchbox", { name: "Prefix" }).fill(prefix);
  await page.getByRole("button", { name: "Find" }).click();
  await page.getByRole("row", { name: /coming held until/ }).waitFor();
  await page.getByRole("button", { name: `${prefix}ready` }).click();
  await page.getByText("cachedContents/1").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByRole("button", { name: `${prefix}ready` }).waitFor({ state: "detached" });
  expect(await memory.cache.get(`${prefix}ready`)).toBeNull();
});
