import type { UserSummary } from "edgecairn";
import type { ComponentChildren } from "preact";
import { ContextPage } from "../context/context-page.tsx";
import { EntriesPage } from "../entries/entries-page.tsx";
import { LeavingPage } from "../leaving/leaving-page.tsx";
import { InboxPage } from "../memories/inbox-page.tsx";
import { useLoad } from "../parts/load.ts";
import { NoPage } from "../parts/states.tsx";
import { count } from "../parts/numbers.ts";
import { MemoriesPage } from "../memories/memories-page.tsx";
import { SubjectPage } from "../memories/subject-page.tsx";
import { RecallPage } from "../recall/recall-page.tsx";
import { ThreadPage } from "../threads/thread-page.tsx";
import { ThreadsPage } from "../threads/threads-page.tsx";
import { to } from "./route.ts";
import { may, useSession } from "./session.ts";
import { reviewedOf, StoredProvider } from "./stored.ts";

type Tab = {
  name: string;
  label: string;
  show: (user: string, rest: readonly string[]) => ComponentChildren;
  /** What is behind the tab. */
  counts?: (stored: UserSummary) => number;
};

const TABS: readonly Tab[] = [
  {
    name: "memories",
    label: "Memories",
    show: (user, [id, subject]) =>
      id === "about" && subject !== undefined ? (
        <SubjectPage user={user} subject={subject} />
      ) : (
        <MemoriesPage user={user} id={id} />
      ),
    counts: reviewedOf,
  },
  {
    name: "inbox",
    label: "Inbox",
    show: (user) => <InboxPage user={user} />,
    counts: ({ quarantine }) => quarantine.waiting,
  },
  {
    name: "threads",
    label: "Threads",
    show: (user, [id]) =>
      id === undefined ? <ThreadsPage user={user} /> : <ThreadPage user={user} id={id} />,
    counts: ({ threads }) => threads,
  },
  { name: "recall", label: "Recall", show: (user) => <RecallPage user={user} /> },
  { name: "context", label: "Context", show: (user) => <ContextPage user={user} /> },
  {
    name: "entries",
    label: "Entries",
    show: (user) => <EntriesPage user={user} />,
    counts: ({ entries }) => entries,
  },
  { name: "data", label: "Export and erase", show: (user) => <LeavingPage user={user} /> },
];

/** Everything of one user. The counts are loaded again with each tab. */
export function UserPage({
  user,
  tab: name = "memories",
  rest,
}: {
  user: string;
  tab: string | undefined;
  rest: readonly string[];
}) {
  const tab = TABS.find((one) => one.name === name);
  const session = useSession();
  const stored = useLoad(
    (signal) =>
      may(session, "read") ? session.memory.usage.summary(user, { signal }) : Promise.resolve(null),
    [user, name],
    { keep: true },
  );
  return (
    <StoredProvider.Provider value={stored}>
      <div class="user">
        <h1>
          <bdi>{user}</bdi>
        </h1>
        <nav class="tabs" aria-label={`Parts of ${user}`}>
          {TABS.map((one) => (
            <a
              key={one.name}
              href={to(["users", user, one.name])}
              aria-current={one === tab ? "page" : undefined}
            >
              {one.label}
              {stored.value && one.counts && (
                <Count of={one.counts(stored.value)} waits={one.name === "inbox"} />
              )}
            </a>
          ))}
        </nav>
      </div>
      {tab === undefined ? <NoPage /> : tab.show(user, rest)}
    </StoredProvider.Provider>
  );
}

/** Beside the name of a tab. Nothing is said of none. */
const Count = ({ of, waits }: { of: number; waits: boolean }) =>
  of === 0 ? null : (
    <>
      {" "}
      <span class={waits ? "chip late" : "quiet"}>{count(of)}</span>
    </>
  );
