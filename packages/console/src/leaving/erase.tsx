import type { Erasure } from "edgecairn";
import { useEffect, useRef, useState } from "preact/hooks";
import { Copy } from "../parts/copy.tsx";
import { Failure } from "../parts/failure.tsx";
import { useAction, useLoad } from "../parts/load.ts";
import { Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";
import { useStored } from "../shell/stored.ts";
import { verify } from "./receipt.ts";

/** Erases a user, or one scope, after the user's id was typed. Shows the progress, the receipt and its verification. */
export function Erase({ user }: { user: string }) {
  const { memory } = useSession();
  const { query } = useRoute();
  const id = query.get("erasure");
  const action = useAction();
  const [typed, setTyped] = useState("");
  const [scope, setScope] = useState("");
  const start = () =>
    void action.run(async () => {
      const erasure =
        scope === "" ? await memory.erasures.user(user) : await memory.erasures.scope(user, scope);
      setTyped("");
      setQuery({ erasure: erasure.id });
    });
  return (
    <section class="card" aria-label="Erase">
      <h2>Erase</h2>
      <p>
        Deletes {scope === "" ? "everything of this user" : "the memories of this scope"}, reads back that it
        is gone, and signs a receipt. It cannot be undone: export first.
      </p>
      <label>
        Only the scope{" "}
        <input
          value={scope}
          placeholder="everything"
          onInput={({ currentTarget }) => setScope(currentTarget.value)}
        />
      </label>
      <label>
        Type the user’s id to confirm{" "}
        <input
          value={typed}
          autocomplete="off"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <button type="button" class="danger" disabled={typed !== user || action.busy} onClick={start}>
        {scope === "" ? "Erase this user" : "Erase the scope"}
      </button>
      <Failure error={action.error} />
      {id !== null && <Progress key={id} user={user} id={id} />}
    </section>
  );
}

/** Milliseconds between two looks at a running erasure. */
const EVERY_MS = 1_000;

function Progress({ user, id }: { user: string; id: string }) {
  const { memory } = useSession();
  const erasure = useLoad((signal) => memory.erasures.get(id, { signal }), [id]);
  const stored = useStored();
  useEffect(stored.reload, [erasure.value?.status]);
  // It begins below the button, and ends with a receipt below that.
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.scrollIntoView({ block: "center" }), [erasure.value?.status]);
  const running = erasure.value?.status === "running";
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(erasure.reload, EVERY_MS);
    return () => clearInterval(timer);
  }, [running, erasure.reload]);
  return (
    <Shown of={erasure}>
      {(value) =>
        value === null ? (
          <p class="empty">There is no such erasure.</p>
        ) : (
          <>
            <h3 ref={title}>
              {value.status === "done" ? "Erased" : "Erasing …"}{" "}
              {value.finishedAt !== undefined && (
                <span class="quiet">
                  <Time at={value.finishedAt} />
                </span>
              )}
            </h3>
            <Steps erasure={value} />
            {value.receipt !== undefined && <Receipt user={user} receipt={value.receipt} />}
          </>
        )
      }
    </Shown>
  );
}

function Steps({ erasure: { steps } }: { erasure: Erasure }) {
  const done = steps.filter(({ state }) => state === "done").length;
  return (
    <>
      <progress max={steps.length} value={done} aria-label="Erasing" />
      <ol class="steps">
        {steps.map(({ store, state, erased, lastError }) => (
          <li key={store}>
            <span class={`chip ${state === "done" ? "ok" : "late"}`}>
              {state === "done" ? "read back, empty" : "open"}
            </span>{" "}
            {store}
            <span class="quiet">
              {Object.entries(erased)
                .map(([name, n]) => ` ${name} ${n}`)
                .join(",")}
            </span>
            {lastError !== undefined && <span class="failure">{lastError}</span>}
          </li>
        ))}
      </ol>
    </>
  );
}

function Receipt({ user, receipt }: { user: string; receipt: string }) {
  const { memory } = useSession();
  const verified = useLoad(() => verify(memory, receipt, user), [receipt, user]);
  return (
    <section>
      <h3>Receipt</h3>
      <Shown of={verified}>
        {({ checks, payload }) => (
          <>
            <ol class="steps">
              {checks.map(({ what, ok }) => (
                <li key={what}>
                  <span class={`chip ${ok ? "ok" : "failed"}`}>{ok ? "yes" : "no"}</span> {what}
                </li>
              ))}
            </ol>
            {payload !== null && (
              <details>
                <summary>What it says</summary>
                <pre tabIndex={0}>{JSON.stringify(payload, null, 2)}</pre>
              </details>
            )}
          </>
        )}
      </Shown>
      <Copy label="The receipt, to keep" text={receipt} />
    </section>
  );
}
