// What people come for, in their words: each within four clicks, with the answer in sight, on a desk, on a phone, and by keys alone.
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { fromNow } from "../../from-now.ts";
import { expectAccessible, goTo, memory, newUser, open, picture } from "./browser.ts";

const CLICKS = 4;
const DAY_MS = 24 * 60 * 60 * 1_000;

type Hand = "mouse" | "keys";
const ways: [name: string, how: { hand: Hand; width: number; dark: boolean }][] = [
  ["desk", { hand: "mouse", width: 1280, dark: false }],
  ["phone", { hand: "mouse", width: 390, dark: true }],
  ["keys", { hand: "keys", width: 1280, dark: true }],
];

/** Somebody at the page, who looks, clicks and types. Keys reach by Tab what a mouse clicks, and count as much. */
class Person {
  clicks = 0;
  readonly page: Page;
  readonly #hand: Hand;

  constructor(page: Page, hand: Hand) {
    this.page = page;
    this.#hand = hand;
  }

  async click(target: Locator, key = "Enter"): Promise<void> {
    this.clicks++;
    if (this.#hand === "mouse") return target.click();
    await this.#reach(target);
    return this.page.keyboard.press(key);
  }

  /** A field that has the focus takes the text; another is clicked first. */
  async type(target: Locator, text: string, last = ""): Promise<void> {
    await target.waitFor();
    if (!(await hasFocus(target))) {
      if (this.#hand === "mouse") await target.click();
      else await this.#reach(target);
      this.clicks++;
    }
    await this.page.keyboard.press("ControlOrMeta+a");
    await this.page.keyboard.insertText(text);
    if (last !== "") await this.page.keyboard.press(last);
  }

  /** A click opens the list, another one chooses. */
  async choose(list: Locator, option: string): Promise<void> {
    this.clicks += 2;
    if (this.#hand === "mouse") return void (await list.selectOption({ label: option }));
    await this.#reach(list);
    return this.page.keyboard.type(option);
  }

  async #reach(target: Locator): Promise<void> {
    await target.waitFor();
    for (let presses = 0; presses < 100; presses++) {
      if (await hasFocus(target)) return;
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`a hundred Tabs do not reach ${String(target)}`);
  }
}

/** It runs in the page, whose types Node has not. */
const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate((one: unknown) => {
    const { document } = globalThis as unknown as { document: { activeElement: unknown } };
    return one === document.activeElement;
  });

/** `do`: answers what is in sight in the end. */
type Task = {
  of?: (user: string) => Promise<unknown>;
  do: (person: Person, user: string) => Promise<Locator>;
};

const remember = (user: string, texts: readonly string[], status: "active" | "quarantined" = "active") =>
  memory.memories.rememberMany(
    user,
    texts.map((text) => ({ text, status })),
  );

const tab = ({ page }: Person, name: string) =>
  page.getByRole("navigation", { name: "Parts of" }).getByRole("link", { name });

const tasks: Record<string, Task> = {
  "Why does it answer that?": {
    of: (user) =>
      remember(user, ["The spare key is under the third flowerpot", "The boat is in Sines", "I like tea"]),
    async do(person) {
      const { page } = person;
      await person.click(tab(person, "Recall"));
      await person.type(page.getByRole("searchbox", { name: "Query" }), "Where is the spare key?", "Enter");
      const hit = page.locator(".hit", { hasText: "flowerpot" });
      await person.click(hit.locator("summary"));
      return hit.getByRole("cell", { name: "lexical" });
    },
  },
  "That is wrong: correct it": {
    of: (user) => remember(user, ["I have a grey cat", "I like tea"]),
    async do(person) {
      const { page } = person;
      await person.click(page.getByRole("link", { name: "I have a grey cat" }));
      const panel = page.getByRole("complementary");
      await person.click(panel.getByRole("button", { name: "Correct" }));
      await person.type(panel.getByRole("textbox"), "I have a black cat");
      await person.click(panel.getByRole("button", { name: "Save" }));
      return panel.getByText("I have a black cat").first();
    },
  },
  "What changed since Monday?": {
    async of(user) {
      const before = { createdAt: fromNow(-40 * DAY_MS), updatedAt: fromNow(-40 * DAY_MS) };
      const lives = { subject: "user", predicate: "lives in" };
      await memory.memories.remember(user, { ...lives, object: "Lisbon", ...before });
      await memory.memories.remember(user, { text: "I like tea", ...before });
      await memory.memories.remember(user, { ...lives, object: "Porto" });
    },
    async do(person) {
      const { page } = person;
      await person.choose(page.getByLabel("Changed"), "changed since Monday");
      await page.getByText("1 memory", { exact: true }).waitFor();
      return page.getByRole("link", { name: "user lives in Porto" }).getByText("before: Lisbon");
    },
  },
  "Approve twelve of these fourteen": {
    of: (user) =>
      remember(
        user,
        Array.from({ length: 14 }, (_, i) => `I like tea number ${i}`),
        "quarantined",
      ),
    async do(person, user) {
      const { page } = person;
      await page.clock.install();
      await person.click(tab(person, "Inbox 14"));
      for (const i of [3, 8])
        await person.click(page.getByRole("checkbox", { name: `Select I like tea number ${i}` }), "Space");
      await person.click(page.getByRole("button", { name: "Release the other 12" }));
      await page.getByText("Releasing 12 memories").waitFor();
      await page.clock.fastForward(10_000);
      await expect
        .poll(async () => (await memory.memories.list(user)).items.map(({ text }) => text).length)
        .toBe(12);
      await tab(person, "Inbox 2").waitFor();
      return page.getByRole("listitem", { name: "I like tea number 8" });
    },
  },
  "Find the conversation about the dentist": {
    async do(person) {
      const { page } = person;
      await goTo(page, `users/${encodeURIComponent(talker)}`);
      await person.click(tab(person, "Threads 500"));
      const search = page.getByRole("searchbox", { name: "Search the conversations" });
      await person.type(search, "the dentist in Braga", "Enter");
      await person.click(page.getByRole("link", { name: "Number 137" }));
      return page.locator(".message.named", { hasText: "dentist in Braga" });
    },
  },
  "Erase this user": {
    of: (user) => remember(user, ["I like tea"]),
    async do(person, user) {
      const { page } = person;
      await person.click(tab(person, "Export and erase"));
      await person.type(page.getByLabel("Type the user’s id to confirm"), user);
      await person.click(page.getByRole("button", { name: "Erase this user" }));
      await page.getByText("The signature holds").waitFor();
      await page
        .getByRole("navigation", { name: "Parts of" })
        .getByRole("link", { name: "Memories", exact: true })
        .waitFor();
      expect((await memory.memories.list(user)).items).toEqual([]);
      return page.getByRole("heading", { name: "Erased" });
    },
  },
  "What does memory cost me?": {
    async do(person) {
      const { page } = person;
      await goTo(page, "");
      await person.click(page.getByText("How the cost comes about"));
      await person.type(page.getByLabel("Messages that your app appends a month"), "2000000", "Enter");
      await page.getByText("Cost a month", { exact: true }).waitFor();
      return page.locator(".numbers > div", { hasText: "Cost a month" }).getByText(/^\$\d+\.\d\d$/);
    },
  },
};

/** Somebody with 500 conversations that have no title. */
const talker = newUser();
beforeAll(async () => {
  const numbers = Array.from({ length: 500 }, (_, i) => i);
  for (let i = 0; i < numbers.length; i += 20)
    await Promise.all(
      numbers.slice(i, i + 20).map(async (n) => {
        const { id } = await memory.threads.create(talker, { indexing: "lexical" });
        const about = n === 137 ? "the dentist in Braga" : `the weather of day ${n}`;
        await memory.threads.append(id, [
          { role: "user", content: `Number ${n}, please.` },
          { role: "assistant", content: `It is about ${about}.` },
        ]);
      }),
    );
});

describe.each(ways)("%s", (way, { hand, ...look }) => {
  it.each(Object.entries(tasks))(`${way}: %s`, async (name, { of, do: act }) => {
    const user = newUser();
    await of?.(user);
    const page = await open(`users/${encodeURIComponent(user)}`, look);
    const person = new Person(page, hand);
    const answer = await act(person, user);
    await answer.waitFor();
    await picture(page, `task ${name.replaceAll(/\W+/g, " ").trim()} ${way}`);
    const { y = -1, height = 0 } = (await answer.boundingBox()) ?? {};
    expect(y, "the answer is in sight").toBeGreaterThanOrEqual(0);
    expect(y + height, "the answer is in sight").toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
    expect(person.clicks).toBeLessThanOrEqual(CLICKS);
    // Both themes and both widths are looked at by then.
    if (hand === "mouse") await expectAccessible(page);
  });
});
