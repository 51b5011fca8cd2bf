// The session that a cookie keeps, where the tenant allows it.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { consoleLink } from "../../../packages/dev/console-link.ts";
import { developmentSecret } from "../../../packages/dev/development-secret.ts";
import { freePort, type LocalServer, startLocalServer } from "../../../packages/dev/local-server.ts";
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

const SESSION = "**/console/session";
const away = {
  status: 503,
  contentType: "application/json",
  body: JSON.stringify({ error: { code: "storage_unavailable", message: "D1 is away", requestId: "r" } }),
};

it("opens the session of a link that works once without a cookie where none can be set, and says so", async () => {
  const user = newUser();
  const link = await consoleLink(server.url, developmentSecret(), { user, scope: ["read", "write"] });
  const page = await open("", { at: server.url, token: null, mayFail: /503/ });
  let isAway = true;
  await page.route(SESSION, (route) =>
    isAway && route.request().method() === "PUT" ? route.fulfill(away) : route.continue(),
  );
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByRole("heading", { name: user }).waitFor();
  await page.getByRole("alert").getByText("storage_unavailable").waitFor();
  await page.getByText("No cookie keeps this session").waitFor();
  await expectAccessible(page);
  isAway = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No cookie keeps this session").waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("heading", { name: user }).waitFor();
});

it("does nothing in a tab by the session of another tab, and asks to sign in again", async () => {
  const [own, other] = [newUser(), newUser()];
  const page = await open("", {
    at: server.url,
    token: await tokenOf(own, ["read", "write"]),
    mayFail: /401/,
  });
  await page.getByRole("heading", { name: own }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${server.url}/console#token=${await tokenOf(other, ["read", "write"])}`);
  await tab.getByRole("button", { name: "Open the link" }).click();
  await tab.getByRole("heading", { name: other }).waitFor();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("textbox", { name: "Sentence" }).fill("I like tea");
  await page.getByRole("button", { name: "Remember" }).click();
  await page.getByLabel("Token").waitFor();
  await page.getByRole("alert").getByText("another tab signed in").waitFor();
  // The other tab's session goes on, also here if this one asks for it.
  await page.reload();
  await page.getByRole("heading", { name: other }).waitFor();
});

it("signs nobody in before the sign-out is done, which would end the new session", async () => {
  const [first, next] = [newUser(), newUser()];
  const page = await open("", { at: server.url, token: await tokenOf(first, ["read"]) });
  await page.getByRole("heading", { name: first }).waitFor();
  const late: (() => Promise<void>)[] = [];
  const sent: string[] = [];
  await page.route(SESSION, async (route) => {
    sent.push(route.request().method());
    if (route.request().method() === "DELETE") late.push(() => route.continue());
    else await route.continue();
  });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").fill(await tokenOf(next, ["read"]));
  await page.getByLabel("Token").press("Enter");
  await expect.poll(() => late.length).toBe(1);
  // A call of the page that was sent after the form's would have come by now.
  await page.evaluate("fetch('console/settings.json').then((answer) => answer.text())");
  expect(sent).toEqual(["DELETE"]);
  await late[0]?.();
  await page.getByRole("heading", { name: next }).waitFor();
  expect(sent).toEqual(["DELETE", "PUT"]);
  await page.reload();
  await page.getByRole("heading", { name: next }).waitFor();
});

it("shows the form, and why, where nobody knows of a session", async () => {
  const [own, other] = [newUser(), newUser()];
  const page = await open("", { at: server.url, token: await tokenOf(own, ["read"]), mayFail: /50[23]/ });
  await page.getByRole("heading", { name: own }).waitFor();
  await page.route(SESSION, (route) =>
    route.request().method() === "GET" ? route.fulfill(away) : route.continue(),
  );
  await page.reload();
  await page.getByLabel("Token").waitFor();
  await page.getByRole("alert").getByText("storage_unavailable").waitFor();
  // There may be a session, which a link must not replace without a word.
  await page.goto("about:blank");
  await page.goto(`${server.url}/console#token=${await tokenOf(other, ["read"])}`);
  await page.getByText("You may be signed in").waitFor();
  await page.getByRole("button", { name: "Stay signed in" }).click();
  await page.unroute(SESSION);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: own }).waitFor();
  // A proxy's page instead of an answer.
  await page.route(SESSION, (route) => route.fulfill({ status: 502, body: "<h1>Bad gateway</h1>" }));
  await page.reload();
  await page.getByRole("alert").getByText("no_envelope").waitFor();
  await page.getByLabel("Token").waitFor();
});
