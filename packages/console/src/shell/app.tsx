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
  keepToken,
  keptSession,
  keptToken,
  type Link,
  may,
  openSession,
  reach,
  type Session,
  SessionProvider,
  type Settings,
  tokenOf,
  userOf,
} from "./session.ts";
import { type Problem, SignIn } from "./sign-in.tsx";

/** The console: asks for a token, and then shows the place that the address names. */
export function App() {
  const start = useLoad(loadStart, []);
  return <Shown of={start}>{(value) => <Console {...value} />}</Shown>;
}

/** `atStart`: why nobody knows whether there is a session. */
type Start = { settings: Settings; kept: Session | null; atStart: Problem | null };

async function loadStart(signal: AbortSignal): Promise<Start> {
  const settings = await loadSettings(signal);
  if (settings.cookie !== true) return { settings, kept: null, atStart: null };
  try {
    return { settings, kept: await keptSession(settings, signal), atStart: null };
  } catch (error) {
    // The form opens all the same.
    return { settings, kept: null, atStart: { error, retry: () => location.reload() } };
  }
}

async function loadSettings(signal: AbortSignal): Promise<Settings> {
  const answer = await reach("/console/settings.json", { signal });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return (await answer.json()) as Settings;
}

function Console({ settings, kept: found, atStart }: Start) {
  const [session, setSession] = useState<Session | null>(found);
  const [asking, setAsking] = useState<Link | null>(null);
  const [problem, setProblem] = useState<Problem | null>(atStart);
  const leaving = useRef(Promise.resolve());
  const signIn = async (token: string, keep: boolean): Promise<boolean> => {
    try {
      // A cookie is dropped by its name: a sign-out that comes late would drop the new one.
      await leaving.current;
      const { session: opened, unkept } = await openSession(token, settings);
      if (settings.cookie === true) forgetToken();
      else if (keep) keepToken(token);
      setProblem(unkept === null ? null : { error: unkept, retry: () => void signIn(token, keep) });
      setSession(opened);
      return true;
    } catch (error) {
      setProblem({ error });
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
    tokenOf(link).then(replace, (error: unknown) => setProblem({ error }));
  };
  const stay = () => {
    setProblem(session === null ? atStart : null);
    setAsking(null);
  };
  // A link may be somebody else's, who wants to see what is then stored: it replaces a session only if the user agrees.
  const current = useRef<Session | null>(null);
  current.current = session;
  useEffect(() => {
    const open = () => {
      const link = givenLink();
      if (link === null) return;
      if (current.current === null && keptToken() === null && atStart === null) follow(link);
      else setAsking(link);
    };
    open();
    const kept = keptToken();
    if (current.current === null && kept !== null) void signIn(kept, false);
    // A link that is followed while the page is open.
    addEventListener("hashchange", open);
    return () => removeEventListener("hashchange", open);
  }, []);
  // Another tab signed in or out, or the token counts no longer.
  useEffect(() => {
    const over = session?.over;
    const end = () => {
      if (current.current !== session) return;
      setProblem({ error: over?.reason });
      setSession(null);
    };
    over?.addEventListener("abort", end);
    return () => over?.removeEventListener("abort", end);
  }, [session]);
  if (asking !== null)
    return (
      <main class="sign-in">
        <h1>Open another session?</h1>
        <p>
          {session === null && atStart !== null ? "You may be" : "You are"} signed in
          {session !== null && ` as ${nameOf(session.user)}`}. This link opens the console as{" "}
          {nameOf(userOf(asking))}, and signs you out. Open it only if you asked for it.
        </p>
        <button type="button" class="main" onClick={stay}>
          Stay signed in
        </button>{" "}
        <button type="button" onClick={() => follow(asking)}>
          Open the link
        </button>
        {problem && <Failure {...problem} />}
      </main>
    );
  if (session === null) return <SignIn settings={settings} problem={problem} signIn={signIn} />;
  const signOut = () => {
    forgetToken();
    setProblem(null);
    setSession(null);
    go(to([]));
    // A cookie that is still there would sign in the next one: the page says so.
    if (settings.cookie === true)
      leaving.current = dropCookie().catch((error: unknown) => setProblem({ error }));
  };
  return (
    <SessionProvider value={session}>
      <UndoProvider>
        <a class="skip" href="#content" onClick={skip}>
          Skip to the content
        </a>
        <Header signOut={signOut} version={settings.version} />
        <main id="content" tabIndex={-1}>
          {problem && <Failure {...problem} />}
          {problem && settings.cookie === true && session.over === undefined && (
            <p>No cookie keeps this session: a reload ends it, or opens an earlier one.</p>
          )}
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
