// The sign-in of an app: the code out of the console, the page that asks for it, and its end.
import { expect, it } from "vitest";
import { expectAccessible, goTo, memory, newUser, open, picture, url } from "./browser.ts";

const REDIRECT = "http://127.0.0.1:53682/callback";

/** Registers an app, and answers the address that it opens in the browser. */
async function addressOf(app: string): Promise<string> {
  const answer = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      client_name: app,
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: "none",
    }),
  });
  const { client_id: clientId } = (await answer.json()) as { client_id: string };
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: REDIRECT,
    scope: "read write",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    resource: `${url}/mcp`,
  });
  return `${url}/oauth/authorize?${query.toString()}`;
}

it("hands out a code, with which a person allows an app, lists the app, and ends it", async () => {
  const user = newUser();
  const page = await open(`users/${encodeURIComponent(user)}/data`, { mayFail: /127\.0\.0\.1:53682|ERR_/ });
  const apps = page.getByRole("region", { name: "Apps" });
  await apps.getByText("No app is signed in.").waitFor();
  await apps.getByRole("button", { name: "Create a one-time code" }).click();
  await apps.getByText("The code, for this user only").click();
  const code = (await apps.locator("pre").textContent()) ?? "";
  await expectAccessible(page);

  const consent = await page.context().newPage();
  await consent.setViewportSize({ width: 390, height: 844 });
  await consent.goto(await addressOf("An app with a rather long name, as some have"));
  await consent.getByRole("heading", { name: "Allow An app with a rather long name" }).waitFor();
  await expectAccessible(consent);
  await picture(consent, "consent");
  await consent.getByLabel("One-time code").fill("not a code");
  await consent.getByRole("button", { name: "Allow" }).click();
  await consent.getByRole("alert").waitFor();
  await expectAccessible(consent);
  await consent.getByLabel("write").uncheck();
  await consent.getByLabel("One-time code").fill(code);
  // Nothing listens where the app would.
  const back = consent.waitForRequest((request) => request.url().startsWith(REDIRECT));
  await consent.getByRole("button", { name: "Allow" }).click();
  expect(new URL((await back).url()).searchParams.get("code")).not.toBeNull();

  await goTo(page, `users/${encodeURIComponent(user)}`);
  await goTo(page, `users/${encodeURIComponent(user)}/data`);
  await apps.getByText("An app with a rather long name").waitFor();
  expect(await apps.getByRole("cell", { name: "read", exact: true }).count()).toBe(1);
  await expectAccessible(page);
  await picture(page, "apps");
  await apps.getByRole("button", { name: "End" }).click();
  await apps.getByText("No app is signed in.").waitFor();
  expect(await memory.signIns.list(user)).toEqual([]);
});

it("a page of no app tells why, and sends the browser nowhere", async () => {
  const page = await open("", { token: null, mayFail: /status of 400/ });
  await page.goto(`${url}/oauth/authorize?client_id=unknown&redirect_uri=${encodeURIComponent(REDIRECT)}`);
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  expect(page.url()).toContain("/oauth/authorize");
  await expectAccessible(page);
});
