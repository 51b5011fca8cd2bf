import { useLoad } from "../parts/load.ts";
import { Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { may, useSession } from "../shell/session.ts";
import { Activity } from "./activity.tsx";
import { Savings } from "./savings.tsx";
import { Users } from "./users.tsx";

/** The deployment: its health, what happens over time, its users, and what its caches saved. */
export function OverviewPage() {
  const session = useSession();
  return (
    <>
      <h1>Overview</h1>
      <Health />
      {may(session, "admin") && session.user === "*" && <Activity />}
      {may(session, "admin") && <Users />}
      {may(session, "cache") && <Savings />}
    </>
  );
}

function Health() {
  const { memory } = useSession();
  const health = useLoad((signal) => memory.tenant.health({ signal }), []);
  return (
    <section class="card" aria-label="Health">
      <h2>Health</h2>
      <Shown of={health}>
        {({ status, embedder, languageModel, vectorIndex, problems = [] }) => (
          <>
            <p>
              <span class={`chip ${status === "ok" ? "ok" : "failed"}`}>{status}</span>
            </p>
            {problems.length > 0 && (
              <ul class="failure">
                {problems.map((problem) => (
                  <li key={problem}>{problem}</li>
                ))}
              </ul>
            )}
            <dl class="fields">
              <dt>Embedding model</dt>
              <dd>
                {embedder.model}, {embedder.dimensions} dimensions
              </dd>
              <dt>Extracting model</dt>
              <dd>
                {languageModel ??
                  "none: patterns find candidates, and sessions become episodes in their own words"}
              </dd>
              <dt>Vectors</dt>
              <dd>{vectorIndex === "object" ? "in each user’s object" : "also in Vectorize"}</dd>
            </dl>
          </>
        )}
      </Shown>
      <ReindexState />
    </section>
  );
}

function ReindexState() {
  const session = useSession();
  const admin = may(session, "admin");
  const state = useLoad(
    (signal) => (admin ? session.memory.tenant.reindexState({ signal }) : Promise.resolve(null)),
    [admin],
  );
  const { value } = state;
  if (value == null || value.status === "none") return null;
  return (
    <p class="quiet">
      Index: {value.status === "running" ? "being rebuilt" : "rebuilt"} for {value.owners} users
      {value.startedAt !== undefined && (
        <>
          , since <Time at={value.startedAt} />
        </>
      )}
    </p>
  );
}
