import type { ConsentDescription } from "@cloudflare/workers-oauth-provider";
import { html } from "hono/html";
import { SIGN_IN_S } from "./sign-in.ts";

type Html = ReturnType<typeof html>;
export type ConsentPage = {
  details: ConsentDescription;
  handle: string;
  /** The scopes that the person may allow. */
  offered: readonly string[];
  /** The host of the identity provider; null where the person enters a one-time code. */
  provider: string | null;
  /** Tells what was wrong with the form before. */
  problem?: string | undefined;
};

const MEANINGS: Readonly<Record<string, string>> = {
  read: "read what is remembered about you",
  write: "remember, change and delete it",
};

// Everything in braces is escaped: an app chooses its own name.
const page = (title: string, content: Html): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          :root {
            color-scheme: light dark;
            font:
              1rem/1.5 system-ui,
              sans-serif;
          }
          main {
            max-width: 30rem;
            margin: 3rem auto;
            padding: 0 1rem;
            overflow-wrap: anywhere;
          }
          h1 {
            font-size: 1.4rem;
            line-height: 1.3;
          }
          [role="alert"] {
            padding: 0.5rem 0.75rem;
            border-left: 4px solid #c62828;
          }
          fieldset {
            border: 0;
            padding: 0;
            margin: 1rem 0;
          }
          label {
            display: block;
            padding: 0.25rem 0;
          }
          textarea,
          button {
            font: inherit;
            padding: 0.5rem;
          }
          textarea {
            display: block;
            width: 100%;
            box-sizing: border-box;
          }
          button {
            padding: 0.5rem 1.25rem;
            margin-right: 0.5rem;
          }
        </style>
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html>`;

/** Asks a person what an app may do. */
export const consentPage = ({ details, handle, offered, provider, problem }: ConsentPage): Html => {
  const { clientName: app, clientDomain, redirectHost, redirectIsLoopback, scope } = details;
  const isTicked = (one: string) => !offered.some((some) => scope.includes(some)) || scope.includes(one);
  return page(
    `Allow ${app}?`,
    html`<h1>Allow ${app} to use your memory?</h1>
      ${problem === undefined ? "" : html`<p role="alert">${problem}</p>`}
      <p>
        ${
          clientDomain === undefined
            ? "This app gave its name itself. Nobody has checked it."
            : html`The app is published by <strong>${clientDomain}</strong>.`
        }
        Access goes to <strong>${redirectHost}</strong>.
      </p>
      ${
        redirectIsLoopback
          ? html`<p>
              <strong>That is a program on your computer.</strong> Go on only if you have just started to sign
              in from it.
            </p>`
          : ""
      }
      <form method="post">
        <input type="hidden" name="handle" value="${handle}" />
        <fieldset>
          <legend>It may</legend>
          ${offered.map(
            (one) =>
              html`<label
                ><input type="checkbox" name="scope" value="${one}" ${isTicked(one) ? "checked" : ""} />
                <code>${one}</code>: ${MEANINGS[one] ?? ""}</label
              >`,
          )}
        </fieldset>
        ${
          provider === null
            ? html`<label
                >One-time code, from who runs this Cairn
                <textarea name="code" rows="4" autocomplete="off" spellcheck="false"></textarea>
              </label>`
            : html`<p>You sign in at <strong>${provider}</strong> next.</p>`
        }
        <p>
          <button name="decision" value="allow">Allow</button>
          <button name="decision" value="deny">Deny</button>
        </p>
      </form>
      <p>It ends after ${SIGN_IN_S / 86_400} days. You can end it before, in the console or by the API.</p>`,
  );
};

/** Tells a person why the sign-in does not go on. The browser is sent nowhere. */
export const refusalPage = (reason: string): Html =>
  page(
    "You are not signed in",
    html`<h1>You are not signed in</h1>
      <p role="alert">${reason}</p>
      <p>Go back to the app, and start again from there.</p>`,
  );
