import type { Cairn, Hit, Thread } from "edgecairn";
import { useMemo, useRef } from "preact/hooks";
import { useLoad } from "../parts/load.ts";
import { plural } from "../parts/numbers.ts";
import { SearchForm } from "../parts/search-form.tsx";
import { Since, useSince } from "../parts/since.tsx";
import { Empty, Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { setQuery, to, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";
import { Title, type Titles } from "./title.tsx";

/** Threads that the page loads: the newest. */
const MOST = 10_000;
/** Messages that a search finds; several may be of one thread. */
const HITS = 100;

type Found = { thread: Thread; hit?: Hit | undefined };

/** The conversations of a user, the last updated first, or those that a search finds. */
export function ThreadsPage({ user }: { user: string }) {
  const { memory } = useSession();
  const { query } = useRoute();
  const words = query.get("find") ?? "";
  const threads = useLoad((signal) => allThreads(memory, user, signal), [user]);
  const hits = useLoad((signal) => search(memory, user, words, signal), [user, words]);
  return (
    <section aria-label="Threads">
      <div class="bar">
        <SearchForm
          label="Search the conversations"
          value={words}
          search={(text) => setQuery({ find: text })}
          action="Search"
        />
        <Agents threads={threads.value ?? []} />
        <Since />
      </div>
      <Shown of={threads}>
        {(all) =>
          all.length === 0 ? (
            <Empty>No conversation is stored. An append or an ingest begins one.</Empty>
          ) : (
            <Shown of={hits}>{(found) => <Listed user={user} all={all} words={words} hits={found} />}</Shown>
          )
        }
      </Shown>
    </section>
  );
}

async function allThreads(memory: Cairn, user: string, signal: AbortSignal): Promise<Thread[]> {
  const all: Thread[] = [];
  for await (const thread of memory.threads.all(user, { limit: 1_000 }, { signal })) {
    all.push(thread);
    if (all.length === MOST) break;
  }
  return all.toSorted((a, b) => b.updatedAt - a.updatedAt);
}

/** Messages of all threads by words and by meaning; null without a query. */
async function search(
  memory: Cairn,
  user: string,
  words: string,
  signal: AbortSignal,
): Promise<readonly Hit[] | null> {
  if (words.trim() === "") return null;
  const asked = { query: words, kinds: ["message" as const], k: HITS, window: 0, timeMode: "off" as const };
  return (await memory.recall(user, asked, { signal })).hits;
}

/** Chooses the conversations of one agent, where there are several. */
function Agents({ threads }: { threads: readonly Thread[] }) {
  const { query } = useRoute();
  const agents = [...new Set(threads.flatMap(({ agent }) => agent ?? []))].toSorted();
  if (agents.length === 0) return null;
  return (
    <select
      aria-label="Agent"
      value={query.get("agent") ?? ""}
      onChange={({ currentTarget }) => setQuery({ agent: currentTarget.value })}
    >
      <option value="">all agents</option>
      {agents.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

type ListedProps = {
  user: string;
  all: readonly Thread[];
  words: string;
  hits: readonly Hit[] | null;
};

function Listed({ user, all, words, hits }: ListedProps) {
  const agent = useRoute().query.get("agent") ?? "";
  const since = useSince() ?? -Infinity;
  const titles = useRef<Titles>(new Map());
  const rows = useMemo(
    () =>
      foundOf(all, words, hits).filter(
        ({ thread }) => thread.updatedAt >= since && (agent === "" || thread.agent === agent),
      ),
    [all, words, hits, agent, since],
  );
  if (rows.length === 0) return <Empty>No conversation fits.</Empty>;
  return (
    <>
      <p class="quiet" role="status">
        {plural(rows.length, "conversation")}
        {all.length === MOST && `, of the newest ${plural(MOST, "conversation")}`}
      </p>
      <VirtualList
        count={rows.length}
        estimate={hits === null ? 56 : 80}
        label="Conversations"
        row={(index) => {
          const row = rows[index];
          return row ? <Row key={row.thread.id} user={user} titles={titles.current} {...row} /> : null;
        }}
      />
    </>
  );
}

/** The threads with the best messages first, then those whose title has the words. */
function foundOf(all: readonly Thread[], words: string, hits: readonly Hit[] | null): Found[] {
  if (hits === null) return all.map((thread) => ({ thread }));
  const byId = new Map(all.map((thread) => [thread.id, thread]));
  const found = new Map<string, Found>();
  for (const hit of hits) {
    const thread = byId.get(hit.threadId ?? "");
    if (thread !== undefined && !found.has(thread.id)) found.set(thread.id, { thread, hit });
  }
  const wanted = words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  for (const thread of all) {
    const title = thread.title.toLocaleLowerCase();
    if (!found.has(thread.id) && wanted.every((word) => title.includes(word)))
      found.set(thread.id, { thread });
  }
  return [...found.values()];
}

function Row({ user, thread, hit, titles }: Found & { user: string; titles: Titles }) {
  const { id, agent, length, updatedAt, forkedFrom } = thread;
  return (
    <a class="row-link" href={to(["users", user, "threads", id], { seq: hit?.seq })}>
      <span class="said">
        <Title thread={thread} titles={titles} />
      </span>
      {hit && (
        <span class="quiet said">
          {hit.role}: <bdi>{hit.text.slice(0, 200)}</bdi>
        </span>
      )}
      <span class="quiet">
        {plural(length, "message")}, <Time at={updatedAt} />
        {agent !== undefined && (
          <>
            , with <bdi>{agent}</bdi>
          </>
        )}
        {forkedFrom && ", a fork"}
      </span>
    </a>
  );
}
