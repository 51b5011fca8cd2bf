import { type ComponentChildren, Fragment } from "preact";
import { ContextPage } from "../context/context-page.tsx";
import { EntriesPage } from "../entries/entries-page.tsx";
import { LeavingPage } from "../leaving/leaving-page.tsx";
import { InboxPage } from "../memories/inbox-page.tsx";
import { WaitingCount } from "../memories/waiting-count.ts";
import { useLoad } from "../parts/load.ts";
import { NoPage } from "../parts/states.tsx";
import { count } from "../parts/numbers.ts";
import { MemoriesPage } from "../memories/memories-page.tsx";
import { RecallPage } from "../recall/recall-page.tsx";
import { ThreadPage } from "../threads/thread-page.tsx";
import { ThreadsPage } from "../threads/threads-page.tsx";
import { to } from "./route.ts";
import { may, useSession } from "./session.ts";

type Tab = {
  name: string;
  label: string;
  show: (user: string, rest: readonly string[]) => ComponentChildren;
};

const TABS: readonly Tab[] = [
  { name: "memories", label: "Memories", show: (user, [id]) => <MemoriesPage user={user} id={id} /> },
  { name: "inbox", label: "Inbox", show: (user) => <InboxPage user={user} /> },
  {
    name: "threads",
    label: "Threads",
    show: (user, [id]) =>
      id === undefined ? <ThreadsPage user={user} /> : <ThreadPage user={user} id={id} />,
  },
  { name: "recall", label: "Recall", show: (user) => <RecallPage user={user} /> },
  { name: "context", label: "Context", show: (user) => <ContextPage user={user} /> },
  { name: "entries", label: "Entries", show: (user) => <EntriesPage user={user} /> },
  { name: "data", label: "Export and erase", show: (user) => <LeavingPage user={user} /> },
];

/** Everything of one user. */
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
  const summary = useLoad(
    (signal) =>
      may(session, "read") ? session.memory.usage.summary(user, { signal }) : Promise.resolve(null),
    [user],
  );
  const waiting = summary.value?.quarantine;
  return (
    <WaitingCount.Provider value={{ of: waiting, reload: summary.reload }}>
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
              {one.name === "inbox" && waiting !== undefined && waiting.waiting > 0 && (
                <>
                  {" "}
                  <span class="chip late">{count(waiting.waiting)}</span>
                </>
              )}
            </a>
          ))}
        </nav>
      </div>
      {/* Nothing of one user is shown while another one's is loading. */}
      <Fragment key={user}>{tab === undefined ? <NoPage /> : tab.show(user, rest)}</Fragment>
    </WaitingCount.Provider>
  );
}
