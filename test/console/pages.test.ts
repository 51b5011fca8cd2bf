// Every page, in both themes and on a narrow screen: accessible, within the window, and as a picture to look at.
import { beforeAll, expect, it } from "vitest";
import { fillDemo, type Example } from "../../packages/console/src/demo/demo-state.ts";
import file from "../../examples/support-case.json" with { type: "json" };
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

it("answers a strange address with a page", async () => {
  const page = await open("nowhere/at/all?x=%");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});
