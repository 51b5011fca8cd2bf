import { useState } from "preact/hooks";
import { Failure } from "../parts/failure.tsx";
import type { Settings } from "./session.ts";

/** Something that failed, and how to try it again where one can. */
export type Problem = { error: unknown; retry?: () => void };

/** Asks for a token. */
export function SignIn({
  settings,
  problem,
  signIn,
}: {
  settings: Settings;
  problem: Problem | null;
  signIn: (token: string, keep: boolean) => Promise<unknown>;
}) {
  const [token, setToken] = useState("");
  const [keep, setKeep] = useState(false);
  return (
    <main class="sign-in">
      <h1>Cairn console</h1>
      <p>Look at what is remembered, see why a question gets its answer, correct it, and erase it.</p>
      {problem && <Failure {...problem} />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn(token, keep);
        }}
      >
        <label>
          {settings.issuer === undefined ? "Token" : `Login of ${settings.issuer}`}
          <input
            type="text"
            required
            spellcheck={false}
            autocomplete="off"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        {settings.cookie === true ? (
          <p class="quiet">This browser stays signed in for a day at most, until you sign out.</p>
        ) : (
          <label class="check">
            <input
              type="checkbox"
              checked={keep}
              onChange={({ currentTarget }) => setKeep(currentTarget.checked)}
            />
            Keep it until this tab is closed
          </label>
        )}
        <button type="submit" class="main">
          Open
        </button>
      </form>
      {settings.issuer === undefined && (
        <p class="quiet">
          <code>npm start</code> prints a link that works once; Enter in its terminal, or{" "}
          <code>npm run token -- --link</code>, prints another. <code>npm run token -- --user alice</code>{" "}
          makes one for a user; <code>--user '*' --scope read,write,cache,admin</code> one for everything.
        </p>
      )}
    </main>
  );
}
