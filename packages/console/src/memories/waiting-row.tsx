import type { Memory } from "edgecairn";
import { useRef } from "preact/hooks";
import { useLoad } from "../parts/load.ts";
import { Shown } from "../parts/states.tsx";
import { useUndo } from "../parts/undo.tsx";
import { to } from "../shell/route.ts";
import { roleOf, wordsOf } from "../threads/messages.ts";
import { may, useSession } from "../shell/session.ts";
import { type Decision, DECIDING, review } from "./review.ts";
import { lineOf, reasonText, writerOf } from "./words.ts";

/** `picked`: whether it is selected; absent where nothing can be. `hide`: called when it leaves, or is back. */
export function WaitingRow({
  user,
  memory: shown,
  picked,
  pick,
  hide,
}: {
  user: string;
  memory: Memory;
  picked?: boolean;
  pick?: (picked: boolean) => void;
  hide: (hidden: boolean) => void;
}) {
  const session = useSession();
  const { memory } = session;
  const undo = useUndo();
  const row = useRef<HTMLLIElement>(null);
  const waits = shown.status === "quarantined";
  /** The next one gets the focus, so that a key pressed again is for it. */
  const leave = () => {
    const next = row.current?.nextElementSibling ?? row.current?.previousElementSibling;
    if (next instanceof HTMLElement) next.focus();
    hide(true);
  };
  const decide = (decision: Decision) => {
    const { id, version: ifVersion } = shown;
    leave();
    const act = async () => {
      if (decision === "release") await memory.memories.release(user, id, { ifVersion });
      else await review(memory, user, { decision, memories: [{ id, ifVersion }] });
      hide(true);
    };
    undo(`${DECIDING[decision]} “${lineOf(shown).slice(0, 60)}”`, act, () => hide(false));
  };
  const onKey = (event: KeyboardEvent) => {
    if (!may(session, "write") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "r") decide("release");
    else if (event.key === "x" && waits) decide("reject");
    else return;
    event.preventDefault();
  };
  return (
    <li ref={row} class="card" tabIndex={0} onKeyDown={onKey} aria-label={lineOf(shown)}>
      <p class="text">
        {pick && (
          <input
            type="checkbox"
            aria-label={`Select ${lineOf(shown)}`}
            checked={picked}
            onChange={(event) => pick(event.currentTarget.checked)}
          />
        )}
        <bdi>{lineOf(shown)}</bdi>
      </p>
      <ul class="reasons">
        {(shown.reasons ?? []).map((reason) => (
          <li key={reason} title={reason}>
            {reasonText(reason)}
          </li>
        ))}
      </ul>
      <p class="quiet">
        by <bdi>{writerOf(shown)}</bdi>
        {shown.source?.thread !== undefined && typeof shown.source.message === "number" && (
          <>
            , from{" "}
            <a href={to(["users", user, "threads", shown.source.thread], { seq: shown.source.message })}>
              message {shown.source.message}
            </a>
          </>
        )}
      </p>
      <Source memory={shown} />
      {shown.conflictsWith !== undefined && <Conflict user={user} id={shown.conflictsWith} memory={shown} />}
      {may(session, "write") && (
        <div class="row">
          <button type="button" class="main" onClick={() => decide("release")}>
            Release
          </button>
          {waits && (
            <button type="button" class="danger" onClick={() => decide("reject")}>
              Reject
            </button>
          )}
        </div>
      )}
    </li>
  );
}

/** The message that it came from. */
function Source({ memory: { source } }: { memory: Memory }) {
  const { memory } = useSession();
  const thread = source?.thread;
  const seq = typeof source?.message === "number" ? source.message : undefined;
  const loaded = useLoad(
    async (signal) => {
      if (thread === undefined || seq === undefined) return null;
      const { items } = await memory.threads.read(
        thread,
        { order: "oldest", after: seq - 1, limit: 1 },
        { signal },
      );
      return items[0]?.seq === seq ? items[0] : null;
    },
    [thread, seq],
  );
  const said = loaded.value?.message;
  if (said === undefined) return null;
  return (
    <blockquote>
      <bdi>
        {roleOf(said)}: {wordsOf(said).slice(0, 600)}
      </bdi>
    </blockquote>
  );
}

/** The live memory that it contradicts, beside it. */
function Conflict({ user, id, memory: waiting }: { user: string; id: string; memory: Memory }) {
  const { memory } = useSession();
  const loaded = useLoad((signal) => memory.memories.get(user, id, {}, { signal }), [user, id]);
  return (
    <Shown of={loaded}>
      {(live) =>
        live && (
          <table class="alike">
            <thead>
              <tr>
                <th scope="col">Live</th>
                <th scope="col">Waits</th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <td>
                  <a href={to(["users", user, "memories", id])}>
                    <bdi>{lineOf(live)}</bdi>
                  </a>
                  <p class="quiet">
                    by <bdi>{writerOf(live)}</bdi>
                  </p>
                </td>
                <td>
                  <bdi>{lineOf(waiting)}</bdi>
                </td>
              </tr>
            </tbody>
          </table>
        )
      }
    </Shown>
  );
}
