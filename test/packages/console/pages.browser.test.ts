// Every page, in both themes and on a narrow screen: accessible, within the window, and as a picture to look at.
import { beforeAll, expect, it } from "vitest";
import { fillDemo, type Example } from "../../../packages/console/src/demo/demo-state.ts";
import type { Page } from "playwright-core";
import file from "../../../examples/support-case.json" with { type: "json" };
import { expectAccessible, goTo, memory, newUser, open, picture } from "./browser.ts";

const user = newUser();
let thread = "";
let fact = "";
beforeAll(async () => {
  const [example] = file.conversations as Example[];
  if (example !== undefined) await fillDemo(memory, user, example, () => {});
  thread = (await memory.threads.list(user)).items[0]?.id ?? "";
  fact = (await memory.memories.list(user, { kind: ["fact"] })).items[0]?.id ?? "";
  await memory.promptCache.report({
    provider: "anthropic",
    model: "claude",
    cachedInputTokens: 9_000,
    uncachedInputTokens: 1_000,
  });
});

const places = (): Record<string, string> => {
  const of = (rest: string) => `users/${encodeURIComponent(user)}/${rest}`;
  return {
    overview: "",
    memories: of("memories"),
    memory: of(`memories/${fact}`),
    inbox: of("inbox"),
    threads: of("threads"),
    thread: of(`threads/${thread}`),
    recall: of("recall?query=What%20is%20my%20frame%20number%3F"),
    context: of("context?query=What%20is%20my%20frame%20number%3F"),
    entries: of("entries?key=settings%2Funits"),
    data: of("data"),
    registry: "registry",
    audit: "audit",
  };
};

it.each([
  ["light", { dark: false }],
  ["dark", { dark: true }],
  ["narrow", { width: 390 }],
])("is accessible and fits, %s", async (theme, options) => {
  const page = await open("", options);
  for (const [name, place] of Object.entries(places())) {
    await goTo(page, place);
    await page.getByText("Loading").first().waitFor({ state: "detached" });
    await page.locator("main h1, main h2").first().waitFor();
    await expectAccessible(page);
    await picture(page, `${name}-${theme}`);
  }
});

it("breaks no word in two at 1280 pixels", async () => {
  const page = await open();
  for (const [name, place] of Object.entries(places())) {
    await goTo(page, place);
    await page.getByText("Loading").first().waitFor({ state: "detached" });
    await page.locator("main h1, main h2").first().waitFor();
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    expect(await brokenWords(page), name).toEqual([]);
  }
});

it("has a header of one row on a phone", async () => {
  const page = await open(`users/${encodeURIComponent(user)}`, { width: 390 });
  await page.getByRole("heading", { level: 1 }).waitFor();
  const height = async () => (await page.locator("header.top").boundingBox())?.height;
  expect(await height()).toBeLessThanOrEqual(50);
  await goTo(page, "");
  await page.getByRole("searchbox", { name: "User id" }).waitFor();
  expect(await height()).toBeLessThanOrEqual(90);
});

it.each(["nonsense", "nowhere/at/all?x=%", "users", "users/alice/nonsense"])(
  "says that there is no page at %s",
  async (place) => {
    const page = await open(place);
    await page.getByText(`Nothing is at #/${place}`).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole("link", { name: "Go to the first page" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  },
);

/** Words of up to twenty letters that stand on more than one line. */
const brokenWords = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const broken = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.parentElement.closest("pre, svg") !== null) continue;
      for (const { index, 0: word } of node.data.matchAll(/[\\p{L}\\p{N}]{2,20}(?![\\p{L}\\p{N}_])/gu)) {
        if (/[\\p{L}\\p{N}_]/u.test(node.data[index - 1] ?? "")) continue;
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
      }
    }
    return broken;
  })()`);
