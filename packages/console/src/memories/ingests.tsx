import type { UserSummary } from "edgecairn";
import { Failure } from "../parts/failure.tsx";
import { useAction } from "../parts/load.ts";
import { Time } from "../parts/times.tsx";
import { to } from "../shell/route.ts";
import { may, useSession } from "../shell/session.ts";
import { useStored } from "../shell/stored.ts";

type Unfinished = UserSummary["ingests"][number];

/** Why an ingest waits, or is partial (docs/reference/ingest.md). */
const WHY: Readonly<Record<string, string>> = {
  model_failed: "the model failed",
  model_late: "the model was late",
  invalid_answer: "the model’s answer was no JSON, twice",
  quota: "the model’s quota of the day is used up",
  storage: "the database does not answer",
  thread_deleted: "its thread was deleted",
  session: "its session has not ended",
};

/** The ingests that are under way, and those that failed, which can be tried again. */
export function Ingests({ user }: { user: string }) {
  const stored = useStored();
  const ingests = stored.value?.ingests ?? [];
  if (ingests.length === 0) return <Failure error={stored.error} retry={stored.reload} />;
  return (
    <section aria-label="Ingests">
      <h2>Ingests</h2>
      <ul class="plain">
        {ingests.map((one) => (
          <Row key={one.id} user={user} ingest={one} changed={stored.reload} />
        ))}
      </ul>
    </section>
  );
}

function Row({ user, ingest, changed }: { user: string; ingest: Unfinished; changed: () => void }) {
  const session = useSession();
  const action = useAction();
  const { id, threadId, status, why, createdAt } = ingest;
  const retry = async () => {
    if (await action.run(() => session.memory.ingests.retry(id))) changed();
  };
  return (
    <li>
      <span class={`chip ${status === "partial" ? "failed" : "late"}`}>{status}</span> <Time at={createdAt} />{" "}
      {why !== undefined && (WHY[why] ?? why)}{" "}
      <a href={to(["users", user, "threads", threadId])}>its thread</a>{" "}
      {status === "partial" && may(session, "write") && (
        <button type="button" disabled={action.busy} onClick={() => void retry()}>
          Try again
        </button>
      )}
      <Failure error={action.error} />
    </li>
  );
}
