// Who comes in, with which token, and where the token is afterwards.
import { expect, it } from "vitest";
import {
  expectAccessible,
  goTo,
  hash,
  linkOf,
  memory,
  newUser,
  open,
  picture,
  tokenOf,
  url,
} from "./browser.ts";

it("asks for a token, says what is wrong with one, and forgets it with the page unless asked to keep it", async () => {
  const user = newUser();
  const page = await open("", { token: null });
  await expectAccessible(page);
  await picture(page, "sign-in");
  const token = page.getByLabel("Token");
  await token.fill("not a token");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("This is not a token").waitFor();
  await token.fill(await tokenOf(user, ["read"]));
  await token.press("Enter");
  await page.getByRole("heading", { name: user }).waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  await page.reload();
  await token.fill(await tokenOf(user, ["read"]));
  await page.getByLabel("Keep it until this tab is closed").check();
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("heading", { name: user }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: user }).waitFor();
  expect(await page.evaluate("localStorage.length")).toBe(0);
  await page.getByRole("button", { name: "Sign out" }).click();
  await token.waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
});

it("takes the token of a link out of the address", async () => {
  const page = await open();
  expect(await hash(page)).toBe("#/");
  expect(page.url()).not.toContain("token");
});

it("asks before a link replaces a session, and keeps the session unless told otherwise", async () => {
  const [own, other] = [newUser(), newUser()];
  const page = await open("", { token: await tokenOf(own, ["read"]) });
  const ask = page.getByRole("heading", { name: "Open another session?" });
  const follow = async () =>
    page.evaluate(`location.hash = ${JSON.stringify(`#token=${await tokenOf(other, ["read"])}`)}`);
  await page.getByRole("heading", { name: own }).waitFor();
  await follow();
  await ask.waitFor();
  await page.getByText(other).waitFor();
  expect(page.url()).not.toContain("token");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Stay signed in" }).click();
  await page.getByRole("heading", { name: own }).waitFor();
  await follow();
  await page.getByRole("button", { name: "Open the link" }).click();
  await page.getByRole("heading", { name: other }).waitFor();
});

it("asks in a tab that keeps a token, where the link opens the page anew", async () => {
  const [own, other] = [newUser(), newUser()];
  const page = await open("", { token: null });
  await page.getByLabel("Token").fill(await tokenOf(own, ["read"]));
  await page.getByLabel("Keep it until this tab is closed").check();
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("heading", { name: own }).waitFor();
  await page.goto("about:blank");
  await page.goto(`${url}/console#token=${await tokenOf(other, ["read"])}`);
  await page.getByRole("button", { name: "Stay signed in" }).click();
  await page.getByRole("heading", { name: own }).waitFor();
});

it("keeps a session, also that of a tab, whose user agrees to a link that is spent", async () => {
  const [own, other] = [newUser(), newUser()];
  const link = await linkOf(other);
  const first = await open("", { token: null });
  await first.goto(link);
  await first.getByRole("heading", { name: other }).waitFor();
  const page = await open("", { token: null, mayFail: /410|Failed to load/ });
  await page.getByLabel("Token").fill(await tokenOf(own, ["read"]));
  await page.getByLabel("Keep it until this tab is closed").check();
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("heading", { name: own }).waitFor();
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByRole("button", { name: "Open the link" }).click();
  await page.getByText("npm run token -- --link").waitFor();
  await page.getByRole("button", { name: "Stay signed in" }).click();
  await page.getByRole("heading", { name: own }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: own }).waitFor();
});

it("opens by a code once, and says of a spent link how to get another", async () => {
  const user = newUser();
  const link = await linkOf(user);
  const page = await open("", { token: null });
  await page.goto(link);
  await page.getByRole("heading", { name: user }).waitFor();
  expect(page.url()).not.toContain("code");
  const second = await open("", { token: null, mayFail: /410|Failed to load/ });
  await second.goto(link);
  const alert = second.getByRole("alert");
  await alert.getByText("link_spent").waitFor();
  await alert.getByText("npm run token -- --link").waitFor();
  await expectAccessible(second);
});

it("offers a reader nothing that only a writer may do", async () => {
  const user = newUser();
  await memory.memories.remember(user, { text: "I like tea" });
  const page = await open("", { token: await tokenOf(user, ["read"]) });
  await page.getByText("I like tea").click();
  await page.getByRole("complementary").getByText("Written by").waitFor();
  expect(await page.getByRole("button", { name: "Forget" }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Overview" }).count()).toBe(0);
  await goTo(page, `users/${encodeURIComponent(user)}/data`);
  await page.getByRole("button", { name: "Export" }).waitFor();
  expect(await page.getByRole("heading", { name: "Erase" }).count()).toBe(0);
});

it("asks if the server runs when nothing answers, at first and later", async () => {
  const user = newUser();
  const page = await open("", { token: null, mayFail: /Failed to load/ });
  const hint = page.getByRole("alert").getByText(`Nothing answers at ${url}. Is npm start running?`).first();
  await page.route("**/console/settings.json", (route) => route.abort());
  await page.reload();
  await hint.waitFor();
  await page.unroute("**/console/settings.json");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("Token").fill(await tokenOf(user, ["read"]));
  await page.getByLabel("Token").press("Enter");
  await page.getByText("Nothing is remembered of this user").waitFor();
  await page.route("**/v1/**", (route) => route.abort());
  await goTo(page, `users/${encodeURIComponent(user)}/threads`);
  await hint.waitFor();
  await expectAccessible(page);
});

it("shows the code, the words and the request of a refusal", async () => {
  const page = await open(`users/${newUser()}`, {
    token: await tokenOf(newUser(), ["read"]),
    mayFail: /404|Failed to load/,
  });
  const alert = page.getByRole("alert").first();
  await alert.getByText("not_found").waitFor();
  await alert.getByText("Request").waitFor();
  await alert.getByRole("button", { name: "Try again" }).waitFor();
  await expectAccessible(page);
});

it("is used by keys alone", async () => {
  const user = newUser();
  await memory.memories.remember(user, { text: "I like tea" });
  const page = await open(`users/${encodeURIComponent(user)}`);
  await page.getByText("I like tea").waitFor();
  await page.evaluate("document.body.focus()");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.id")).toBe("content");
  const focused = "document.activeElement.textContent";
  for (
    let presses = 0;
    presses < 30 && !String(await page.evaluate(focused)).startsWith("I like tea");
    presses++
  )
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("complementary").getByText("Written by").waitFor();
});
