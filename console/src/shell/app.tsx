import { useEffect, useState } from "preact/hooks";
import { AuditPage } from "../leaving/audit-page.tsx";
import { RegistryPage } from "../entries/registry-page.tsx";
import { OverviewPage } from "../overview/overview-page.tsx";
import { useLoad } from "../parts/load.ts";
import { Shown } from "../parts/states.tsx";
import { UndoProvider } from "../parts/undo.tsx";
import { UserPage } from "./user-page.tsx";
import { Header } from "./header.tsx";
import { go, to, useRoute } from "./route.ts";
import {
  address,
  forgetToken,
  givenToken,
  keepToken,
  may,
  type Session,
  SessionProvider,
  sessionOf,
  type Settings,
} from "./session.ts";
import { SignIn } from "./sign-in.tsx";

/** The console: asks for a token, and then shows the place that the address names. */
export function App() {
  const settings = useLoad(loadSettings, []);
  return <Shown of={settings}>{(value) => <Console settings={value} />}</Shown>;
}

async function loadSettings(signal: AbortSignal): Promise<Settings> {
  const answer = await fetch(`${address()}/console/settings.json`, { signal });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return (await answer.json()) as Settings;
}

function Console({ settings }: { settings: Settings }) {
  const [session, setSession] = useState<Session | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const signIn = (token: string, keep: boolean) => {
    try {
      const opened = sessionOf(token, settings);
      if (keep) keepToken(token);
      setProblem(null);
      setSession(opened);
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => {
    const open = () => {
      const token = givenToken();
      if (token !== null) signIn(token, false);
    };
    open();
    // A link with a token that is followed while the page is open.
    const follow = () => location.hash.startsWith("#token=") && open();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  if (session === null) return <SignIn settings={settings} problem={problem} signIn={signIn} />;
  const signOut = () => {
    forgetToken();
    setSession(null);
    go(to([]));
  };
  return (
    <SessionProvider value={session}>
      <UndoProvider>
        <a class="skip" href="#content" onClick={skip}>
          Skip to the content
        </a>
        <Header signOut={signOut} version={settings.version} />
        <main id="content" tabIndex={-1}>
          <Place session={session} />
        </main>
      </UndoProvider>
    </SessionProvider>
  );
}

/** A fragment is a place of the console, so the link cannot lead there itself. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function Place({ session }: { session: Session }) {
  const { path } = useRoute();
  const [area, user, tab, ...rest] = path;
  useEffect(() => {
    document.title = [...path, "Cairn console"].join(" · ");
  }, [path.join("/")]);
  if (area === "users" && user !== undefined) return <UserPage user={user} tab={tab} rest={rest} />;
  if (area === "audit") return <AuditPage />;
  if (area === "registry") return <RegistryPage />;
  // A token of one user has nothing to see beside that user.
  if (area === undefined && session.user !== "*" && !may(session, "admin"))
    return <UserPage user={session.user} tab={undefined} rest={[]} />;
  return <OverviewPage />;
}
