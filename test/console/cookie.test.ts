// The session that a cookie keeps, where the tenant allows it.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort, type LocalServer, startLocalServer } from "../../packages/dev/local-server.ts";
import { expectAccessible, newUser, open, tokenOf } from "./browser.ts";

const state = mkdtempSync(join(import.meta.dirname, "../../build/cookie-state-"));
let server: LocalServer;
beforeAll(async () => {
  server = await startLocalServer({ port: await freePort(), state, vars: { CONSOLE_COOKIE: "on" } });
});
afterAll(async () => {
  await server.stop();
  rmSync(state, { recursive: true, force: true });
});

it("keeps a session through a reload where no script reads it, and until the sign-out alone", async () => {
  const user = newUser();
  const page = await open("", { at: server.url, token: null });
  await expectAccessible(page);
  await page.getByLabel("Token").fill(await tokenOf(user, ["read", "write"]));
  await page.getByLabel("Token").press("Enter");
  const name = page.getByRole("heading", { name: user });
  await name.waitFor();
  await page.reload();
  await name.waitFor();
  expect(await page.evaluate("document.cookie + sessionStorage.length + localStorage.length")).toBe("00");
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
  // A call that changes something, by the cookie.
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("textbox", { name: "Sentence" }).fill("I like tea");
  await page.getByRole("button", { name: "Remember" }).click();
  await page.getByText("I like tea").first().waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  await expect.poll(async () => page.context().cookies()).toEqual([]);
  await page.reload();
  await page.getByLabel("Token").waitFor();
});

it("asks before a link replaces the session of the cookie", async () => {
  const [own, other] = [newUser(), newUser()];
  const page = await open("", { at: server.url, token: await tokenOf(own, ["read"]) });
  await page.getByRole("heading", { name: own }).waitFor();
  await page.goto("about:blank");
  await page.goto(`${server.url}/console#token=${await tokenOf(other, ["read"])}`);
  await page.getByRole("button", { name: "Open the link" }).click();
  await page.getByRole("heading", { name: other }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: other }).waitFor();
});

it("opens nothing with a token that does not count", async () => {
  const page = await open("", { at: server.url, token: null, mayFail: /401|Failed to load/ });
  const [head, claims] = (await tokenOf(newUser(), ["read"])).split(".");
  await page.getByLabel("Token").fill(`${head}.${claims}.forged`);
  await page.getByLabel("Token").press("Enter");
  await page.getByRole("alert").getByText("invalid_token").waitFor();
  expect(await page.context().cookies()).toEqual([]);
});
