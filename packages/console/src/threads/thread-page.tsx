import type { Compaction, Hit, Thread } from "edgecairn";
import { useCallback, useMemo, useReducer, useState } from "preact/hooks";
import { Failure } from "../parts/failure.tsx";
import { useAction, useLoad } from "../parts/load.ts";
import { count, plural } from "../parts/numbers.ts";
import { Empty, Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { useUndo } from "../parts/undo.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { go, setQuery, to, useRoute } from "../shell/route.ts";
import { may, useSession } from "../shell/session.ts";
import { SearchForm } from "../parts/search-form.tsx";
import { Title } from "./title.tsx";
import { Messages, roleOf, rowsOf, wordsOf } from "./messages.ts";

/** Characters of a message that are shown before it is unfolded. */
const LONG = 1_500;

/** One conversation: its messages, its forks, its compactions, and a search within. */
export function ThreadPage({ user, id }: { user: string; id: string }) {
  const { memory } = useSession();
  const loaded = useLoad(
    async (signal) => {
      const [thread, newest, compactions, siblings] = await Promise.all([
        memory.threads.get(id, { signal }),
        memory.threads.read(id, { limit: 1 }, { signal }).catch(() => ({ items: [] })),
        memory.threads.compactions(id, { limit: 100 }, { signal }).catch(() => ({ items: [] })),
        memory.threads.list(user, { limit: 1_000 }, { signal }),
      ]);
      const forks = siblings.items.filter(({ forkedFrom }) => forkedFrom?.threadId === id);
      return { thread, last: newest.items[0]?.seq ?? 0, compactions: compactions.items, forks };
    },
    [user, id],
  );
  return (
    <section aria-label="Thread">
      <p>
        <a href={to(["users", user, "threads"])}>All threads</a>
      </p>
      <Shown of={loaded}>
        {({ thread, ...rest }) =>
          thread === null ? (
            <Empty>This thread is not there, or it is not this user’s.</Empty>
          ) : (
            <Conversation key={id} user={user} thread={thread} {...rest} reload={loaded.reload} />
          )
        }
      </Shown>
    </section>
  );
}

function Conversation({
  user,
  thread,
  last,
  compactions,
  forks,
  reload,
}: {
  user: string;
  thread: Thread;
  last: number;
  compactions: readonly Compaction[];
  forks: readonly Thread[];
  reload: () => void;
}) {
  const session = useSession();
  const { query } = useRoute();
  const seq = query.has("seq") ? Number(query.get("seq")) : undefined;
  const [version, changed] = useReducer<number, void>((n) => n + 1, 0);
  const messages = useMemo(
    () => new Messages(session.memory, thread.id, () => changed()),
    [session.memory, thread.id],
  );
  // A message that an address names is not folded away.
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(
    () =>
      new Set(
        compactions
          .filter(({ from, to: end }) => seq !== undefined && from <= seq && seq <= end)
          .map((one) => one.id),
      ),
  );
  const rows = useMemo(() => rowsOf(last, compactions, unfolded), [last, compactions, unfolded]);
  const show = useCallback(
    (first: number, end: number) => {
      for (let index = first; index <= end; index++) {
        const row = rows.at(index);
        if ("seq" in row) messages.load(row.seq, row.seq);
      }
    },
    [rows, messages],
  );
  return (
    <>
      <h2>
        <Title thread={thread} />
      </h2>
      <p class="quiet">
        {plural(thread.length, "message")}
        {thread.agent !== undefined && (
          <>
            , with <bdi>{thread.agent}</bdi>
          </>
        )}
        , begun <Time at={thread.createdAt} />, updated <Time at={thread.updatedAt} />
      </p>
      {thread.forkedFrom && (
        <p>
          A fork of{" "}
          <a
            href={to(["users", user, "threads", thread.forkedFrom.threadId], { seq: thread.forkedFrom.seq })}
          >
            another thread, at message {thread.forkedFrom.seq}
          </a>
        </p>
      )}
      {forks.length > 0 && (
        <p>
          Forks:{" "}
          {forks.map((fork) => (
            <a key={fork.id} class="chip" href={to(["users", user, "threads", fork.id])}>
              <bdi>{fork.title || "untitled"}</bdi> at {fork.forkedFrom?.seq}
            </a>
          ))}
        </p>
      )}
      <Search user={user} thread={thread.id} />
      <Failure error={messages.error} retry={() => messages.retry()} />
      {last === 0 ? (
        <Empty>The thread has no messages.</Empty>
      ) : (
        <VirtualList
          // A row that has been measured before its message came is measured again.
          key={thread.id}
          count={rows.length}
          estimate={72}
          label={`Messages, ${count(last)} places`}
          goal={{ key: seq ?? "end", index: rows.indexOf(seq ?? last) }}
          onShow={show}
          row={(index) => {
            const row = rows.at(index);
            return "compaction" in row ? (
              <Folded
                compaction={row.compaction}
                unfold={() => setUnfolded(new Set([...unfolded, row.compaction.id]))}
              />
            ) : (
              <Message
                key={`${row.seq} ${version}`}
                user={user}
                thread={thread}
                seq={row.seq}
                messages={messages}
                isNamed={row.seq === seq}
                reload={reload}
              />
            );
          }}
        />
      )}
    </>
  );
}

function Folded({
  compaction: { from, to: end, summary },
  unfold,
}: {
  compaction: Compaction;
  unfold: () => void;
}) {
  return (
    <div class="message folded">
      <p class="quiet">
        Summary of the messages {from} to {end}{" "}
        <button type="button" class="quiet" onClick={unfold}>
          Unfold
        </button>
      </p>
      <p class="text">
        <bdi>{wordsOf(summary)}</bdi>
      </p>
    </div>
  );
}

function Message({
  user,
  thread,
  seq,
  messages,
  isNamed,
  reload,
}: {
  user: string;
  thread: Thread;
  seq: number;
  messages: Messages;
  isNamed: boolean;
  reload: () => void;
}) {
  const session = useSession();
  const undo = useUndo();
  const action = useAction();
  const [whole, setWhole] = useState(false);
  const stored = messages.at(seq);
  if (stored === undefined) return <div class="message quiet">Loading message {seq} …</div>;
  if (stored === null) return <div class="message quiet">Message {seq} was deleted.</div>;
  const { message, createdAt } = stored;
  const role = roleOf(message);
  const words = wordsOf(message);
  const fork = () =>
    void action.run(async () => {
      const made = await session.memory.threads.fork(thread.id, { at: seq });
      go(to(["users", user, "threads", made.id]));
    });
  const remove = () =>
    undo(`Deleting message ${seq}`, async () => {
      await session.memory.threads.deleteMessage(thread.id, seq);
      messages.forget(seq);
      reload();
    });
  return (
    <div class={`message ${role}${isNamed ? " named" : ""}`}>
      <p class="quiet head">
        <strong>
          <bdi>{typeof message["name"] === "string" ? `${message["name"]} (${role})` : role}</bdi>
        </strong>{" "}
        <a href={to(["users", user, "threads", thread.id], { seq })}>{seq}</a> <Time at={createdAt} />
        {may(session, "write") && (
          <span class="actions">
            <button type="button" class="quiet" onClick={fork} disabled={action.busy}>
              Fork here
            </button>
            <button type="button" class="quiet" onClick={remove}>
              Delete
            </button>
          </span>
        )}
      </p>
      <p class="text">
        <bdi>{whole ? words : words.slice(0, LONG)}</bdi>
        {words.length > LONG && !whole && (
          <>
            {" … "}
            <button type="button" class="quiet" onClick={() => setWhole(true)}>
              All {count(words.length)} characters
            </button>
          </>
        )}
      </p>
      {message["content"] !== words && (
        <details>
          <summary>As it is stored</summary>
          <pre tabIndex={0}>{JSON.stringify(message, null, 2)}</pre>
        </details>
      )}
      <Failure error={action.error} />
    </div>
  );
}

/** Finds messages of the thread by words and by meaning. */
function Search({ user, thread }: { user: string; thread: string }) {
  const { memory } = useSession();
  const { query } = useRoute();
  const asked = query.get("find") ?? "";
  const found = useLoad<readonly Hit[]>(
    async (signal) => {
      if (asked === "") return [];
      const { hits } = await memory.recall(
        user,
        { query: asked, threadId: thread, k: 20, window: 0 },
        { signal },
      );
      return hits;
    },
    [user, thread, asked],
  );
  return (
    <>
      <SearchForm
        label="Search this thread"
        value={asked}
        search={(text) => setQuery({ find: text })}
        action="Search"
      />
      {asked !== "" && (
        <Shown of={found}>
          {(hits) =>
            hits.length === 0 ? (
              <Empty>No message is found.</Empty>
            ) : (
              <ol class="found">
                {hits.map(({ id, seq, role, text: said }) => (
                  <li key={id}>
                    <button type="button" class="link" onClick={() => setQuery({ seq })}>
                      <span class="quiet">
                        {role} {seq}
                      </span>{" "}
                      <bdi>{said.slice(0, 160)}</bdi>
                    </button>
                  </li>
                ))}
              </ol>
            )
          }
        </Shown>
      )}
    </>
  );
}
