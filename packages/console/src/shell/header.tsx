import { useState } from "preact/hooks";
import { timeText } from "../parts/times.tsx";
import { go, to, useRoute } from "./route.ts";
import { may, useSession } from "./session.ts";

type Theme = "light" | "dark";
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

const current = (is: boolean) => (is ? ("page" as const) : undefined);

export function Header({ signOut, version }: { signOut: () => void; version: string }) {
  const session = useSession();
  const { path } = useRoute();
  const [area] = path;
  const [theme, setTheme] = useState<Theme>(isDark() ? "dark" : "light");
  const turn = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset["theme"] = next;
    setTheme(next);
  };
  const seesAll = session.user === "*" || may(session, "admin");
  return (
    <header class="top">
      <nav aria-label="Console">
        <a class="brand" href={to([])} title={`Cairn ${version}`}>
          Cairn
        </a>
        {seesAll && (
          <a href={to([])} aria-current={current(area === undefined)}>
            Overview
          </a>
        )}
        {session.user !== "*" && (
          <a href={to(["users", session.user])} aria-current={current(area === "users")}>
            {session.user}
          </a>
        )}
        {may(session, "cache") && (
          <a href={to(["registry"])} aria-current={current(area === "registry")}>
            Registry
          </a>
        )}
        {may(session, "admin") && (
          <a href={to(["audit"])} aria-current={current(area === "audit")}>
            Audit log
          </a>
        )}
      </nav>
      {seesAll && <FindUser always={area === undefined} />}
      <div class="tools">
        {session.expiresAt !== null && (
          <span class="quiet hide-small">token until {timeText(session.expiresAt)}</span>
        )}
        <button type="button" class="quiet" onClick={turn}>
          {theme === "dark" ? "Light" : "Dark"}
        </button>
        <button type="button" class="quiet" onClick={signOut}>
          Sign out
        </button>
      </div>
    </header>
  );
}

/** Opens a user by the id. A narrow window shows it on the overview only. */
function FindUser({ always }: { always: boolean }) {
  const [id, setId] = useState("");
  return (
    <form
      class={always ? "find" : "find hide-small"}
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== "") go(to(["users", id.trim()]));
      }}
    >
      <input
        type="search"
        aria-label="User id"
        placeholder="User id"
        value={id}
        onInput={({ currentTarget }) => setId(currentTarget.value)}
      />
      <button type="submit">Open</button>
    </form>
  );
}
