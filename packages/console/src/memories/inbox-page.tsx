import type { Memory } from "edgecairn";
import { useState } from "preact/hooks";
import { useAction, usePages } from "../parts/load.ts";
import { Empty, More, Shown } from "../parts/states.tsx";
import { plural } from "../parts/numbers.ts";
import { useUndo } from "../parts/undo.tsx";
import { may, useSession } from "../shell/session.ts";
import { useStored } from "../shell/stored.ts";
import { Ingests } from "./ingests.tsx";
import { review } from "./review.ts";
import { ReviewBar } from "./review-bar.tsx";
import { WaitingRow } from "./waiting-row.tsx";

const NONE: ReadonlySet<string> = new Set();

/** The quarantine: what waits for somebody to release or reject it. The keys `r` and `x` do so with the row that has the focus. */
export function InboxPage({ user }: { user: string }) {
  return (
    <section aria-label="Inbox">
      <Ingests user={user} />
      <Waiting user={user} />
      <Expired user={user} />
    </section>
  );
}

const useReviewed = (user: string, status: "quarantined" | "expired") => {
  const { memory } = useSession();
  return usePages(
    (cursor, signal) =>
      memory.memories.list(
        user,
        // The first one is then the last that has changed: what comes later is not decided on with these.
        { status: [status], sort: "updatedAt", limit: 100, ...(cursor !== undefined && { cursor }) },
        { signal },
      ),
    [user, status],
  );
};

function Waiting({ user }: { user: string }) {
  const waiting = useReviewed(user, "quarantined");
  const [gone, setGone] = useState(NONE);
  const stored = useStored();
  const hide = (id: string, hidden: boolean) => {
    setGone((before) =>
      hidden ? new Set([...before, id]) : new Set([...before].filter((one) => one !== id)),
    );
    stored.reload();
  };
  return (
    <Shown of={waiting}>
      {(all) => {
        const left = all.filter(({ id }) => !gone.has(id));
        if (left.length === 0 && !waiting.hasMore)
          return (
            <Empty>
              Nothing waits. What a model finds and its source does not show, and what contradicts a memory
              that is trusted more, comes here.
            </Empty>
          );
        return (
          <>
            <Listed
              user={user}
              left={left}
              total={
                waiting.hasMore ? Math.max(stored.value?.quarantine.waiting ?? 0, left.length) : left.length
              }
              hide={hide}
              hideAll={setGone}
              reload={() => {
                setGone(NONE);
                waiting.reload();
                stored.reload();
              }}
            />
            <More of={waiting} />
          </>
        );
      }}
    </Shown>
  );
}

/** The waiting memories that are shown, with the buttons for many of them. */
function Listed({
  user,
  left,
  total,
  hide,
  hideAll,
  reload,
}: {
  user: string;
  left: readonly Memory[];
  total: number;
  hide: (id: string, hidden: boolean) => void;
  hideAll: (ids: ReadonlySet<string>) => void;
  reload: () => void;
}) {
  const session = useSession();
  const { memory } = session;
  const undo = useUndo();
  const action = useAction();
  const [picked, setPicked] = useState(NONE);
  const [everything, setEverything] = useState(false);
  const selected = left.filter(({ id }) => picked.has(id));
  const select = (which: "none" | "shown" | "everything") => {
    setPicked(which === "none" ? NONE : new Set(left.map(({ id }) => id)));
    setEverything(which === "everything");
  };
  const pick = (id: string, isPicked: boolean) => {
    setPicked(new Set([...picked].filter((one) => one !== id).concat(isPicked ? [id] : [])));
    setEverything(false);
  };
  const chosen = () =>
    everything && left[0] !== undefined
      ? { filter: { updatedAtMax: left[0].updatedAt } }
      : { memories: selected.map(({ id, version }) => ({ id, ifVersion: version })) };
  const release = async () => {
    await action.run(() => review(memory, user, { decision: "release", ...chosen() }));
    select("none");
    reload();
  };
  const reject = () => {
    const body = { decision: "reject" as const, ...chosen() };
    const number = everything ? total : selected.length;
    hideAll(new Set((everything ? left : selected).map(({ id }) => id)));
    select("none");
    const act = async () => {
      await review(memory, user, body);
      reload();
    };
    undo(`Rejecting ${plural(number, "memory", "memories")}`, act, reload);
  };
  return (
    <>
      <p class="quiet">
        {plural(total, "memory waits", "memories wait")}.{" "}
        {may(session, "write") && (
          <>
            Press <kbd>r</kbd> to release and <kbd>x</kbd> to reject the one that has the focus.
          </>
        )}
      </p>
      {may(session, "write") && (
        <ReviewBar
          shown={left.length}
          selected={selected.length}
          total={total}
          everything={everything}
          select={select}
          release={() => void release()}
          reject={reject}
          action={action}
        />
      )}
      <ul class="inbox">
        {left.map((one) => (
          <WaitingRow
            key={one.id}
            user={user}
            memory={one}
            hide={hide}
            {...(may(session, "write") && {
              picked: everything || picked.has(one.id),
              pick: (isPicked: boolean) => pick(one.id, isPicked),
            })}
          />
        ))}
      </ul>
    </>
  );
}

/** The memories that have waited too long, for the day until they are deleted. */
function Expired({ user }: { user: string }) {
  const expired = useReviewed(user, "expired");
  const [gone, setGone] = useState(NONE);
  const left = expired.value?.filter(({ id }) => !gone.has(id)) ?? [];
  if (left.length === 0) return null;
  return (
    <section aria-label="Expired">
      <h2>Expired</h2>
      <p class="quiet">These have waited too long, and are deleted within a day. Release what is worth it.</p>
      <ul class="inbox">
        {left.map((one) => (
          <WaitingRow key={one.id} user={user} memory={one} hide={(id) => setGone(new Set([...gone, id]))} />
        ))}
      </ul>
      <More of={expired} />
    </section>
  );
}
