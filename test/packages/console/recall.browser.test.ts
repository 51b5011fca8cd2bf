// The playgrounds of recall and context, and the entries.
import { expect, it } from "vitest";
import { expectAccessible, memory, newUser, open, picture } from "./browser.ts";

async function talkative(): Promise<string> {
  const user = newUser();
  await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Porto" });
  await memory.memories.remember(user, { text: "The spare key is under the third flowerpot" });
  for (const text of ["I water the plants on Sundays", "The boat is in Setúbal", "My sister plays the cello"])
    await memory.memories.remember(user, { text });
  return user;
}

it("shows what a query finds and why, what is left out, and the same as a command", async () => {
  const user = await talkative();
  const page = await open(`users/${encodeURIComponent(user)}/recall`);
  await page.getByText("No model is asked").waitFor();
  await page.getByRole("searchbox", { name: "Query" }).fill("how do I get in without my keys?");
  await page.getByRole("button", { name: "Recall" }).click();
  const hits = page.locator(".hits").first().getByRole("listitem");
  await hits.first().getByText("third flowerpot").waitFor();
  await page.getByText("threshold 13 %").waitFor();
  await expectAccessible(page);
  await hits
    .first()
    .getByText(/^(It|The query|A later)/)
    .click();
  await hits.first().getByRole("cell", { name: "soft" }).waitFor();
  const colours = await page.evaluate<string[]>(
    "[...document.querySelectorAll('.hit:first-child .swatch')].map((one) => getComputedStyle(one).backgroundColor)",
  );
  expect(colours.length).toBeGreaterThan(2);
  expect(new Set(colours).size).toBe(colours.length);
  await page.getByText("How it was found").click();
  await page.getByRole("meter", { name: "Confidence" }).waitFor();
  await page.getByRole("cell", { name: "lexical words" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByRole("spinbutton", { name: "Hits" }).fill("1");
  await page.getByRole("spinbutton", { name: "Hits" }).press("Tab");
  await page.getByText(/^Left out:/).click();
  await page.getByRole("listitem").getByText("after the first 1").first().waitFor();
  await page.getByRole("button", { name: "Options (1 set)" }).waitFor();
  expect(await hits.count()).toBe(1);
  await page.getByText("As curl").click();
  const command = await page.locator(".copy pre").first().textContent();
  expect(command).toContain("/recall'");
  expect(command).toContain('"k":1');
  await page.getByRole("button", { name: "Copy" }).first().click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(command);
});

it("shows the outcome and three hits with their reasons in the first 400 pixels", async () => {
  // So long that the tabs stand below it.
  const user = `${newUser()} of the harbour`;
  const story = "I told the harbour master about the boat again, and he promised to look after it. ";
  for (const place of ["Setúbal", "Sines", "Lagos", "Faro"])
    await memory.memories.remember(user, { text: `The boat is in ${place}. ${story.repeat(4)}` });
  const page = await open(`users/${encodeURIComponent(user)}/recall?query=Where%20is%20the%20boat%3F&k=3`);
  const outcome = page.getByRole("status");
  await outcome.getByText("Answered", { exact: true }).waitFor();
  expect(await outcome.textContent()).toContain("3 hits; left out: 1 after the first 3.");
  const third = await page.locator(".hits summary").nth(2).boundingBox();
  expect((third?.y ?? Infinity) + (third?.height ?? 0)).toBeLessThanOrEqual(400);
  await picture(page, "recall-first");
  await page.setViewportSize({ width: 390, height: 844 });
  const first = await page.locator(".hits summary").first().boundingBox();
  expect((first?.y ?? Infinity) + (first?.height ?? 0)).toBeLessThanOrEqual(400);
  await expectAccessible(page);
});

it("says that a query is not answered", async () => {
  const user = await talkative();
  const page = await open(`users/${encodeURIComponent(user)}/recall?query=thanks%21&answerable=auto`);
  const outcome = page.getByRole("status");
  await outcome.getByText("Not answered").waitFor();
  expect(await outcome.textContent()).toMatch(/0 hits; left out: \d+ nothing fits the query\./);
});

it("moves the hits with the weights", async () => {
  const user = await talkative();
  const page = await open(`users/${encodeURIComponent(user)}/recall?query=spare%20key`);
  await page.locator(".hits summary").first().click();
  const parts = page.locator(".hits .parts").first();
  const drawn = () => parts.getAttribute("aria-label");
  await expect.poll(drawn).toContain("lexical");
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByRole("slider", { name: "lexical" }).fill("0");
  await expect.poll(drawn).not.toContain("lexical");
  await page.getByRole("button", { name: "All as they were" }).click();
  await expect.poll(drawn).toContain("lexical");
});

it("shows the context as a model gets it, its budget, and why each part is in", async () => {
  const user = await talkative();
  const page = await open(`users/${encodeURIComponent(user)}/context`);
  await page.locator(".line.layer-profile", { hasText: "lives in Porto" }).waitFor();
  await page.getByRole("searchbox", { name: "The user’s message" }).fill("Where is the spare key?");
  await page.getByRole("button", { name: "Make" }).click();
  await page.getByText("Why is this in?").click();
  await page.getByRole("cell", { name: "is in", exact: true }).first().waitFor();
  await page.getByText("the stable block is the same").waitFor();
  await expectAccessible(page);
  await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Braga" });
  await page.getByRole("searchbox", { name: "The user’s message" }).fill("Where is the boat?");
  await page.getByRole("button", { name: "Make" }).click();
  await page.getByText("the stable block is another one").click();
  await page.locator(".diff .added", { hasText: "Braga" }).waitFor();
});

it("edits an entry without a loss, and refuses to overwrite what changed meanwhile", async () => {
  const user = newUser();
  const mayFail = /412|Failed to load/;
  await memory.kv.set(user, "settings/theme", "dark");
  await memory.kv.set(user, "notes/first", "a note");
  const page = await open(`users/${encodeURIComponent(user)}/entries`, { mayFail });
  await page.getByRole("button", { name: "settings/", exact: true }).click();
  await page.getByRole("button", { name: "settings/theme" }).click();
  const value = page.getByLabel("Value, as JSON");
  await value.fill('{"big": 12345678901234567890, "text": ');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").waitFor();
  await value.fill('{"big": 12345678901234567890}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "settings/theme" }).click();
  await expect.poll(() => value.inputValue()).toContain("12345678901234567890");
  await expectAccessible(page);
  await memory.kv.set(user, "settings/theme", "light");
  await value.fill('"green"');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("precondition_failed").waitFor();
  expect(await memory.kv.get(user, "settings/theme")).toBe("light");
});

it("keeps an entry open while it is being saved, and shows why it was not", async () => {
  const user = newUser();
  await memory.kv.set(user, "theme", "dark");
  const page = await open(`users/${encodeURIComponent(user)}/entries`, { mayFail: /507|Failed to load/ });
  await page.getByRole("button", { name: "theme" }).click();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  await page.route("**/kv/theme", async (route) => {
    if (route.request().method() !== "PUT") return route.continue();
    await answered;
    const error = { code: "storage_full", message: "The disk is full." };
    return route.fulfill({ status: 507, json: { error } });
  });
  await page.getByLabel("Value, as JSON").fill('"light"');
  await page.getByRole("button", { name: "Save" }).click();
  const close = page.getByRole("button", { name: "Close" });
  await expect.poll(() => close.isDisabled()).toBe(true);
  answer();
  await page.getByText("The disk is full.").waitFor();
  await expect.poll(() => close.isDisabled()).toBe(false);
});
