import type { Memory, PastMemory } from "edgecairn";
import { useEffect, useRef, useState } from "preact/hooks";
import { fieldOf } from "../parts/form.ts";
import { Failure } from "../parts/failure.tsx";
import { useAction, useLoad } from "../parts/load.ts";
import { Empty, Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { useUndo } from "../parts/undo.tsx";
import { to } from "../shell/route.ts";
import { may, useSession } from "../shell/session.ts";
import { Panel } from "../parts/panel.tsx";
import { subjectAddress } from "./subject-page.tsx";
import { Timeline } from "./timeline.tsx";
import { lineOf, reasonText, writerOf } from "./words.ts";

type Props = { user: string; id: string; asOf: number | undefined; changed: () => void; close: () => void };

/** One memory: what it says, since when, by whom, from which message, and how it became so. */
export function MemoryPanel({ user, id, asOf, changed, close }: Props) {
  const session = useSession();
  const { memory } = session;
  const loaded = useLoad(
    async (signal) => {
      const { items: versions } = await memory.memories
        .history(user, id, { limit: 100 }, { signal })
        .catch(() => ({ items: [] }));
      // The history alone has what is not true any more.
      const [last] = versions;
      const hasEnded = asOf === undefined && last?.validTo !== undefined && last.validTo <= Date.now();
      const at = asOf === undefined ? {} : { asOf };
      const current = hasEnded ? last : await memory.memories.get(user, id, at, { signal });
      return { current, versions, hasEnded };
    },
    [user, id, asOf],
  );
  const again = () => {
    loaded.reload();
    changed();
  };
  return (
    <Panel title="Memory" close={close}>
      <Shown of={loaded}>
        {({ current, versions, hasEnded }) =>
          current === null ? (
            <Empty>This memory is not there: it was forgotten, or it was not known at that time.</Empty>
          ) : (
            <>
              <p class="text">
                <bdi>{lineOf(current)}</bdi>
              </p>
              <Fields memory={current} user={user} />
              {may(session, "write") && asOf === undefined && !hasEnded && (
                <Changes
                  user={user}
                  memory={current}
                  changed={again}
                  forgotten={() => (changed(), close())}
                />
              )}
              <History user={user} current={current} versions={versions} changed={again} />
              <Alike user={user} memory={current} />
            </>
          )
        }
      </Shown>
    </Panel>
  );
}

/** What Cairn knows of a memory. */
export function Fields({ memory, user }: { memory: Memory; user: string }) {
  const sources = memory.sources ?? (memory.source === undefined ? [] : [memory.source]);
  return (
    <dl class="fields">
      <dt>Kind</dt>
      <dd>
        {memory.kind}
        {memory.type !== undefined && `, ${memory.type}`}
      </dd>
      {memory.subject !== undefined && (
        <>
          <dt>About</dt>
          <dd>
            <a href={subjectAddress(user, memory.subject)}>
              <bdi>{memory.subject}</bdi>
            </a>
          </dd>
        </>
      )}
      <dt>True</dt>
      <dd>
        from <Time at={memory.validFrom} />
        {memory.validTo !== undefined && (
          <>
            {" "}
            to <Time at={memory.validTo} />
          </>
        )}
      </dd>
      <dt>Known</dt>
      <dd>
        from <Time at={memory.recordedAt} />
      </dd>
      <dt>Written by</dt>
      <dd>
        <bdi>{writerOf(memory)}</bdi>
      </dd>
      {sources.length > 0 && (
        <>
          <dt>From</dt>
          <dd>
            {sources.map(({ thread, message, extractor }) => (
              <span key={`${thread} ${message}`} class="source">
                {thread !== undefined && typeof message === "number" ? (
                  <a href={to(["users", user, "threads", thread], { seq: message })}>message {message}</a>
                ) : (
                  <bdi>{[thread, message, extractor].filter(Boolean).join(", ")}</bdi>
                )}
              </span>
            ))}
          </dd>
        </>
      )}
      {memory.reasons !== undefined && (
        <>
          <dt>In quarantine</dt>
          <dd>
            <ul class="plain">
              {memory.reasons.map((reason) => (
                <li key={reason} title={reason}>
                  {reasonText(reason)}
                </li>
              ))}
            </ul>
          </dd>
        </>
      )}
      {memory.scope !== undefined && (
        <>
          <dt>Scope</dt>
          <dd>
            <bdi>{memory.scope}</bdi>
          </dd>
        </>
      )}
      {memory.tags !== undefined && (
        <>
          <dt>Tags</dt>
          <dd>
            <bdi>{memory.tags.join(", ")}</bdi>
          </dd>
        </>
      )}
      {memory.expiresAt !== undefined && (
        <>
          <dt>Expires</dt>
          <dd>
            <Time at={memory.expiresAt} />
          </dd>
        </>
      )}
      {memory.metadata !== undefined && (
        <>
          <dt>Metadata</dt>
          <dd>
            <code>{JSON.stringify(memory.metadata)}</code>
          </dd>
        </>
      )}
    </dl>
  );
}

/** Correct, supersede, forget. */
function Changes({
  user,
  memory: shown,
  changed,
  forgotten,
}: {
  user: string;
  memory: Memory;
  changed: () => void;
  forgotten: () => void;
}) {
  const { memory } = useSession();
  const undo = useUndo();
  const action = useAction();
  const [form, setForm] = useState<"correct" | "supersede" | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), [form]);
  const { object, subject, predicate } = shown;
  const isFact = subject !== undefined && predicate !== undefined && object !== undefined;
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const given = fieldOf(event.currentTarget, "said");
    const done = await action.run(() =>
      form === "supersede" && isFact
        ? memory.memories.remember(user, { subject, predicate, object: given })
        : memory.memories.update(user, shown.id, isFact ? { object: given } : { text: given }, {
            ifVersion: shown.version,
          }),
    );
    if (!done) return;
    setForm(null);
    changed();
  };
  const forget = () => {
    forgotten();
    undo(`Forgetting “${lineOf(shown).slice(0, 60)}”`, async () => {
      await memory.memories.forget(user, shown.id);
      changed();
    });
  };
  return (
    <div class="changes">
      <div class="row">
        <button type="button" aria-expanded={form === "correct"} onClick={() => setForm("correct")}>
          Correct
        </button>
        {isFact && (
          <button type="button" aria-expanded={form === "supersede"} onClick={() => setForm("supersede")}>
            It changed
          </button>
        )}
        <button type="button" class="danger" onClick={forget}>
          Forget
        </button>
      </div>
      {form !== null && (
        <form class="card" onSubmit={(event) => void submit(event)}>
          <label>
            {form === "correct"
              ? isFact
                ? `It was never “${object}”. ${subject} ${predicate}:`
                : "It should say:"
              : `It is not “${object}” any more. ${subject} ${predicate}, from now on:`}
            <textarea
              ref={field}
              name="said"
              required
              rows={2}
              defaultValue={form === "correct" ? (isFact ? object : shown.text) : ""}
            />
          </label>
          <div class="row">
            <button type="submit" class="main" disabled={action.busy}>
              Save
            </button>
            <button type="button" onClick={() => setForm(null)}>
              Cancel
            </button>
          </div>
        </form>
      )}
      <Failure error={action.error} />
    </div>
  );
}

/** All versions of a memory, newest first, and a way back to each. */
function History({
  user,
  current,
  versions,
  changed,
}: {
  user: string;
  current: Memory;
  versions: readonly PastMemory[];
  changed: () => void;
}) {
  const session = useSession();
  const undo = useUndo();
  if (versions.length < 2) return null;
  const restore = (past: PastMemory) =>
    undo(`Restoring “${lineOf(past).slice(0, 60)}”`, async () => {
      const { id, version } = current;
      await session.memory.memories.restore(user, id, past.version, { ifVersion: version });
      changed();
    });
  return (
    <section>
      <h3>History</h3>
      <Timeline
        user={user}
        versions={versions}
        actions={(one) =>
          may(session, "write") &&
          one.version !== current.version && (
            <button type="button" onClick={() => restore(one)}>
              Restore
            </button>
          )
        }
      />
    </section>
  );
}

/** Live memories that say almost the same. */
export function Alike({ user, memory: shown }: { user: string; memory: Memory }) {
  const { memory } = useSession();
  const [asked, setAsked] = useState(false);
  useEffect(() => setAsked(false), [shown.id]);
  const loaded = useLoad(
    async (signal) => {
      if (!asked) return [];
      const { hits } = await memory.recall(
        user,
        { query: shown.text, k: 6, kinds: [shown.kind], timeMode: "off" },
        { signal },
      );
      return hits.filter(({ id }) => id !== shown.id).slice(0, 5);
    },
    [user, shown.id, asked],
  );
  if (!asked)
    return (
      <button type="button" class="quiet" onClick={() => setAsked(true)}>
        Show memories like it
      </button>
    );
  return (
    <section>
      <h3>Memories like it</h3>
      <Shown of={loaded}>
        {(hits) =>
          hits.length === 0 ? (
            <Empty>No other memory is like it.</Empty>
          ) : (
            <table class="alike">
              <thead>
                <tr>
                  <th scope="col">This one</th>
                  <th scope="col">The other</th>
                </tr>
              </thead>
              <tbody>
                {hits.map((hit) => (
                  <tr key={hit.id}>
                    <td>
                      <bdi>{shown.text}</bdi>
                    </td>
                    <td>
                      <a href={to(["users", user, "memories", hit.id])}>
                        <bdi>{hit.text}</bdi>
                      </a>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Shown>
    </section>
  );
}
