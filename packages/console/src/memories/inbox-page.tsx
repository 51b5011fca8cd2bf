import type { Memory } from "edgecairn";
import { useState } from "preact/hooks";
import { usePages } from "../parts/load.ts";
import { Empty, More, Shown } from "../parts/states.tsx";
import { plural } from "../parts/numbers.ts";
import { useUndo } from "../parts/undo.tsx";
import { may, useSession } from "../shell/session.ts";
import { useStored } from "../shell/stored.ts";
import { Ingests } from "./ingests.tsx";
import { type Decision, DECIDING, review } from "./review.ts";
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

/** Takes memories out of the list, or puts them back. */
type Hide = (ids: readonly string[], hidden: boolean) => void;

function Waiting({ user }: { user: string }) {
  const waiting = useReviewed(user, "quarantined");
  const [gone, setGone] = useState(NONE);
  const stored = useStored();
  const hide: Hide = (ids, hidden) => {
    setGone((before) => new Set([...before].filter((one) => !ids.includes(one)).concat(hidden ? ids : [])));
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
              reload={waiting.reload}
            />
            <More of={waiting} />
          </>
        );
      }}
    </Shown>
  );
}

type ListedProps = {
  user: string;
  left: readonly Memory[];
  total: number;
  hide: Hide;
  reload: () => void;
};

/** The waiting memories that are shown, with the buttons for many of them. */
function Listed({ user, left, total, hide, reload }: ListedProps) {
  const session = useSession();
  const undo = useUndo();
  const [picked, setPicked] = useState(NONE);
  const [everything, setEverything] = useState(false);
  const select = (which: "none" | "shown" | "everything") => {
    setPicked(which === "none" ? NONE : new Set(left.map(({ id }) => id)));
    setEverything(which === "everything");
  };
  const pick = (id: string, isPicked: boolean) => {
    setPicked(new Set([...picked].filter((one) => one !== id).concat(isPicked ? [id] : [])));
    setEverything(false);
  };
  const decide = (decision: Decision, others = false) => {
    const chosen = everything ? left : left.filter(({ id }) => picked.has(id) !== others);
    const ids = chosen.map(({ id }) => id);
    const which = everything
      ? { filter: { updatedAtMax: left[0]?.updatedAt ?? 0 } }
      : { memories: chosen.map(({ id, version }) => ({ id, ifVersion: version })) };
    hide(ids, true);
    select("none");
    const act = async () => {
      await review(session.memory, user, { decision, ...which });
      hide(ids, true);
      reload();
    };
    const undone = () => {
      hide(ids, false);
      reload();
    };
    undo(
      `${DECIDING[decision]} ${plural(everything ? total : ids.length, "memory", "memories")}`,
      act,
      undone,
    );
  };
  return (
    <>
      <Waits total={total} />
      {may(session, "write") && (
        <ReviewBar
          shown={left.length}
          selected={left.filter(({ id }) => picked.has(id)).length}
          total={total}
          everything={everything}
          select={select}
          decide={decide}
        />
      )}
      <ul class="inbox">
        {left.map((one) => (
          <WaitingRow
            key={one.id}
            user={user}
            memory={one}
            hide={(hidden) => hide([one.id], hidden)}
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

function Waits({ total }: { total: number }) {
  const session = useSession();
  return (
    <p class="quiet">
      {plural(total, "memory waits", "memories wait")}.{" "}
      {may(session, "write") && (
        <>
          Press <kbd>r</kbd> to release and <kbd>x</kbd> to reject the one that has the focus.
        </>
      )}
    </p>
  );
}

/** The memories that have waited too long, for the day until they are deleted. */
function Expired({ user }: { user: string }) {
  const expired = useReviewed(user, "expired");
  const [gone, setGone] = useState(NONE);
  const hide = (id: string, hidden: boolean) =>
    setGone(new Set([...gone].filter((one) => one !== id).concat(hidden ? [id] : [])));
  const left = expired.value?.filter(({ id }) => !gone.has(id)) ?? [];
  if (left.length === 0) return null;
  return (
    <section aria-label="Expired">
      <h2>Expired</h2>
      <p class="quiet">These have waited too long, and are deleted within a day. Release what is worth it.</p>
      <ul class="inbox">
        {left.map((one) => (
          <WaitingRow key={one.id} user={user} memory={one} hide={(hidden) => hide(one.id, hidden)} />
        ))}
      </ul>
      <More of={expired} />
    </section>
  );
}
