import type { Health } from "edgecairn";
import { type Loaded, useLoad } from "../parts/load.ts";
import { Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { may, useSession } from "../shell/session.ts";
import { Savings } from "./savings.tsx";
import { Problems, Tenant } from "./tenant.tsx";
import { Users } from "./users.tsx";

/** The deployment: its numbers and problems, its users, its caches, and its parts. */
export function OverviewPage() {
  const session = useSession();
  const { memory } = session;
  const health = useLoad((signal) => memory.tenant.health({ signal }), []);
  return (
    <>
      <h1>Overview</h1>
      {may(session, "admin") && session.user === "*" ? (
        <Tenant health={health}>
          <Users />
        </Tenant>
      ) : (
        <Shown of={health}>{({ problems = [] }) => <Problems of={problems} />}</Shown>
      )}
      {may(session, "cache") && <Savings />}
      <Parts health={health} />
    </>
  );
}

function Parts({ health: { value } }: { health: Loaded<Health> }) {
  if (value === undefined) return null;
  const { status, embedder, languageModel, vectorIndex } = value;
  return (
    <details class="card">
      <summary>
        Health: <span class={`chip ${status === "ok" ? "ok" : "failed"}`}>{status}</span>
      </summary>
      <dl class="fields">
        <dt>Embedding model</dt>
        <dd>
          {embedder.model}, {embedder.dimensions} dimensions
        </dd>
        <dt>Extracting model</dt>
        <dd>
          {languageModel ?? "none: patterns find candidates, and sessions become episodes in their own words"}
        </dd>
        <dt>Vectors</dt>
        <dd>{vectorIndex === "object" ? "in each user’s object" : "also in Vectorize"}</dd>
      </dl>
      <ReindexState />
    </details>
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
