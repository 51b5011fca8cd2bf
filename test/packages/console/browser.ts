// A page of the console in a real browser, and what no page may do. `waitFor` of a locator fails if nothing like it appears.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import { type Cairn, cairn } from "../../../packages/client/src/index.ts";
import { mintToken, type Scope } from "../../../src/domain/token.ts";
import { launchChromium } from "../../../packages/dev/chromium.ts";
import { consoleLink } from "../../../packages/dev/console-link.ts";
import { developmentSecret } from "../../../packages/dev/development-secret.ts";
import { fromNow } from "../../from-now.ts";

/** Pictures of every page, to look at. */
const pictures = join(import.meta.dirname, "../../build/console-pictures");

export const url: string = inject("url");
export const memory: Cairn = cairn({ url, token: inject("token") });

let browser: Browser;
let contexts: BrowserContext[] = [];
/** The complaints of the pages: errors, violations of their policy, requests to elsewhere. */
let complaints: string[] = [];

beforeAll(async () => {
  mkdirSync(pictures, { recursive: true });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
});
afterEach(async () => {
  for (const context of contexts) await context.close();
  const said = complaints;
  [contexts, complaints] = [[], []];
  if (said.length > 0) throw new Error(`the page complained: ${said.join("; ")}`);
});

let users = 0;
export const newUser = (): string => `user ${++users} ${crypto.randomUUID()}`;

export const tokenOf = (user: string, scope: readonly Scope[]): Promise<string> =>
  mintToken(developmentSecret(), { user, scope, ttlMs: 3_600_000 }, fromNow(-60_000));

export const linkOf = (user: string): Promise<string> =>
  consoleLink(url, developmentSecret(), { user, scope: ["read", "write"] });

type Opened = { at?: string; token?: string | null; width?: number; dark?: boolean; mayFail?: RegExp };

/** Opens the console at a place (`users/alice`), signed in unless `token` is null. `at`: another server. `mayFail`: complaints that are expected. */
export async function open(
  place = "",
  { at = url, token = inject("token"), width = 1280, dark = false, mayFail }: Opened = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? "dark" : "light",
    permissions: ["clipboard-read", "clipboard-write"],
    acceptDownloads: true,
  });
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const complain = (what: string) => {
    if (mayFail === undefined || !mayFail.test(what)) complaints.push(what);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complain(message.text());
  });
  page.on("pageerror", (error) => complain(error.message));
  page.on("request", (request) => {
    const to = request.url();
    if (!to.startsWith(at) && !/^(data|blob):/.test(to)) complain(`a request to ${to}`);
  });
  await page.goto(token === null ? `${at}/console` : `${at}/console#token=${token}`);
  if (token !== null) await page.locator("header.top").waitFor();
  if (place !== "") await goTo(page, place);
  return page;
}

export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
}

/** Fails if the page, as it stands, is hard to use without seeing or pointing (axe-core), or wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  // The console has no frames: axe need not gather its results in a page of its own, nor tell of what is right.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await axe.analyze();
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`),
  ).toEqual([]);
  expect(
    await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
  ).toBeLessThanOrEqual(0);
}

export const picture = (page: Page, name: string): Promise<Buffer> =>
  page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });

export const hash = (page: Page): Promise<string> => page.evaluate("location.hash");
