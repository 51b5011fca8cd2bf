// Export, import, erasure with its receipt, and the audit log.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { expectAccessible, goTo, memory, newUser, open } from "./browser.ts";

const placeOf = (user: string): string => `users/${encodeURIComponent(user)}/data`;

it("exports everything, imports it for another user after a dry run, and erases with a receipt", async () => {
  const [user, other] = [newUser(), newUser()];
  await memory.memories.remember(user, { text: "I like tea" });
  const page = await open(placeOf(user));
  await page.getByRole("button", { name: "Export" }).click();
  const saving = page.waitForEvent("download");
  await page.getByRole("link", { name: /^Save/ }).click();
  const file = await (await saving).path();
  expect(readFileSync(file, "utf8")).toContain("I like tea");

  await goTo(page, placeOf(other));
  await page.getByLabel("File").setInputFiles(file);
  await page.getByText("Dry run:").waitFor();
  expect((await memory.memories.list(other)).items).toEqual([]);
  await page.getByRole("button", { name: "Import" }).click();
  await page.getByText('"imported"').waitFor();
  expect((await memory.memories.list(other)).items).toMatchObject([{ text: "I like tea" }]);
  await expectAccessible(page);

  const tabs = page.getByRole("navigation", { name: `Parts of ${other}` });
  await tabs.getByRole("link", { name: "Memories 1" }).waitFor();
  const erase = page.getByRole("button", { name: "Erase this user" });
  await page.getByLabel("Type the user’s id to confirm").fill("somebody else");
  expect(await erase.isDisabled()).toBe(true);
  await page.getByLabel("Type the user’s id to confirm").fill(other);
  await erase.click();
  await page.getByRole("heading", { name: "Receipt" }).waitFor();
  await page.getByText("The signature holds").waitFor();
  expect(await page.locator(".steps .chip.failed").count()).toBe(0);
  await tabs.getByRole("link", { name: "Memories", exact: true }).waitFor();
  const stored = page.getByRole("region", { name: "What is stored" });
  await expect.poll(() => stored.getByRole("definition").first().textContent()).toBe("0");
  expect((await memory.memories.list(other)).items).toEqual([]);
  await expectAccessible(page);
});

it("refuses a file that is no export, and a part of one", async () => {
  const page = await open(placeOf(newUser()));
  const choose = (text: string) =>
    page
      .getByLabel("File")
      .setInputFiles({ name: "x.jsonl", mimeType: "text/plain", buffer: Buffer.from(text) });
  await choose("hello");
  await page.getByText("This is no export").waitFor();
  await choose('{"type":"memory"}\n');
  await page.getByText("The last line is missing").waitFor();
  expect(await page.getByRole("button", { name: "Import" }).count()).toBe(0);
});

it("filters the audit log", async () => {
  const user = newUser();
  await memory.memories.remember(user, { text: "I like tea" });
  await memory.memories.forgetAll(user);
  const page = await open("audit");
  await page.getByLabel("User id").nth(1).fill(user);
  await page.getByLabel("User id").nth(1).press("Enter");
  await page.getByRole("cell", { name: "DELETE /v1/users/{user}/memories" }).first().waitFor();
  // The log of everybody, which is shown before, may have such a row too.
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await expectAccessible(page);
});

it("keeps what one types in a filter while the log is loaded", async () => {
  const page = await open();
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    void page.route("**/v1/audit?*", async (route) => {
      resolve();
      await new Promise<void>((done) => (answer = done));
      await route.continue();
    });
  });
  await goTo(page, "audit");
  await asked;
  await page.getByLabel("Action").fill("DELETE");
  answer();
  await page.getByRole("cell").or(page.getByText("Nothing was recorded")).first().waitFor();
  expect(await page.getByLabel("Action").inputValue()).toBe("DELETE");
});
