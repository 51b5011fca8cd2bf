import { Failure } from "../parts/failure.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import { AuditPage } from "../leaving/audit-page.tsx";
import { RegistryPage } from "../entries/registry-page.tsx";
import { OverviewPage } from "../overview/overview-page.tsx";
import { useLoad } from "../parts/load.ts";
import { NoPage, Shown } from "../parts/states.tsx";
import { UndoProvider } from "../parts/undo.tsx";
import { UserPage } from "./user-page.tsx";
import { Header } from "./header.tsx";
import { go, to, useRoute } from "./route.ts";
import {
  dropCookie,
  forgetToken,
  givenLink,
  keepInCookie,
  keepToken,
  keptSession,
  keptToken,
  type Link,
  may,
  reach,
  type Session,
  SessionProvider,
  sessionOf,
  type Settings,
  tokenOf,
  userOf,
} from "./session.ts";
import { SignIn } from "./sign-in.tsx";

/** The console: asks for a token, and then shows the place that the address names. */
export function App() {
  const start = useLoad(loadStart, []);
  return <Shown of={start}>{(value) => <Console {...value} />}</Shown>;
}

type Start = { settings: Settings; kept: Session | null };

async function loadStart(signal: AbortSignal): Promise<Start> {
  const settings = await loadSettings(signal);
  return { settings, kept: settings.cookie === true ? await keptSession(settings, signal) : null };
}

async function loadSettings(signal: AbortSignal): Promise<Settings> {
  const answer = await reach("/console/settings.json", { signal });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return (await answer.json()) as Settings;
}

function Console({ settings, kept: found }: Start) {
  const [session, setSession] = useState<Session | null>(found);
  const [asking, setAsking] = useState<Link | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const signIn = async (token: string, keep: boolean): Promise<boolean> => {
    try {
      const opened =
        settings.cookie === true ? await keepInCookie(token, settings) : sessionOf(token, settings);
      if (settings.cookie === true) forgetToken();
      else if (keep) keepToken(token);
      setProblem(null);
      setSession(opened);
      return true;
    } catch (error) {
      setProblem(error);
      return false;
    }
  };
  const replace = async (token: string): Promise<void> => {
    if (!(await signIn(token, false))) return;
    // Whoever was signed in here is not any more: a reload must not bring them back.
    forgetToken();
    setAsking(null);
  };
  const follow = (link: Link) => {
    tokenOf(link).then(replace, setProblem);
  };
  const stay = () => {
    setProblem(null);
    setAsking(null);
  };
  // A link may be somebody else's, who wants to see what is then stored: it replaces a session only if the user agrees.
  const current = useRef<Session | null>(null);
  current.current = session;
  useEffect(() => {
    const open = () => {
      const link = givenLink();
      if (link === null) return;
      if (current.current === null && keptToken() === null) follow(link);
      else setAsking(link);
    };
    open();
    const kept = keptToken();
    if (current.current === null && kept !== null) void signIn(kept, false);
    // A link that is followed while the page is open.
    addEventListener("hashchange", open);
    return () => removeEventListener("hashchange", open);
  }, []);
  if (asking !== null)
    return (
      <main class="sign-in">
        <h1>Open another session?</h1>
        <p>
          You are signed in{session !== null && ` as ${nameOf(session.user)}`}. This link opens the console as{" "}
          {nameOf(userOf(asking))}, and signs you out. Open it only if you asked for it.
        </p>
        <button type="button" class="main" onClick={stay}>
          Stay signed in
        </button>{" "}
        <button type="button" onClick={() => follow(asking)}>
          Open the link
        </button>
        <Failure error={problem} />
      </main>
    );
  if (session === null) return <SignIn settings={settings} problem={problem} signIn={signIn} />;
  const signOut = () => {
    forgetToken();
    setProblem(null);
    setSession(null);
    go(to([]));
    // A cookie that is still there would sign in the next one: the page says so.
    if (settings.cookie === true) dropCookie().catch(setProblem);
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

const nameOf = (user: string | null): string =>
  user === "*" ? "everybody's operator (*)" : (user ?? "somebody that it does not name");

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
  // Nothing of one user is shown while another one's is loading.
  if (area === "users" && user !== undefined)
    return <UserPage key={user} user={user} tab={tab} rest={rest} />;
  if (area === "audit") return <AuditPage />;
  if (area === "registry") return <RegistryPage />;
  // A token of one user has nothing to see beside that user.
  if (area === undefined && session.user !== "*" && !may(session, "admin"))
    return <UserPage key={session.user} user={session.user} tab={undefined} rest={[]} />;
  if (area === undefined) return <OverviewPage />;
  return (
    <>
      <h1>No such page</h1>
      <NoPage />
    </>
  );
}
