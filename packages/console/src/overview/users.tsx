import type { Cairn, CataloguedUser, UserSummary } from "edgecairn";
import { useState } from "preact/hooks";
import { each } from "../parts/each.ts";
import { Failure } from "../parts/failure.tsx";
import { useAction, usePages } from "../parts/load.ts";
import { bytes, count, plural } from "../parts/numbers.ts";
import { Empty, More, Shown } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { to } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";

type Held = ReadonlyMap<string, UserSummary>;

/** The users with data; what each holds, and what is failing, if one asks for it: that wakes each user's object. */
export function Users() {
  const { memory } = useSession();
  const action = useAction();
  const [held, setHeld] = useState<Held>(new Map());
  const users = usePages(
    (cursor, signal) =>
      memory.tenant.users({ limit: 100, ...(cursor !== undefined && { cursor }) }, { signal }),
    [],
  );
  return (
    <section class="card" aria-label="Users">
      <h2>Users</h2>
      <Shown of={users}>
        {(all) =>
          all.length === 0 ? (
            <Empty>
              Nobody has data yet. Open a user by any id, such as <a href={to(["users", "alice"])}>alice</a>,
              and fill in an example there.
            </Empty>
          ) : (
            <>
              {held.size === 0 ? <Names users={all} /> : <Holdings users={all} held={held} />}
              <button
                type="button"
                disabled={action.busy}
                onClick={() => void action.run(() => load(memory, all, setHeld))}
              >
                {action.busy
                  ? `Asking ${plural(all.length, "user")} …`
                  : "Show what each holds, and what fails"}
              </button>
            </>
          )
        }
      </Shown>
      <Failure error={action.error} />
      <More of={users} />
    </section>
  );
}

const Names = ({ users }: { users: readonly CataloguedUser[] }) => (
  <ul class="users">
    {users.map(({ userId, userHash }) => (
      <li key={userHash}>
        <a href={to(["users", userId])}>
          <bdi>{userId}</bdi>
        </a>
      </li>
    ))}
  </ul>
);

/** The largest first. */
function Holdings({ users, held }: { users: readonly CataloguedUser[]; held: Held }) {
  const size = ({ userId }: CataloguedUser) => held.get(userId)?.bytes ?? -1;
  return (
    <Table
      columns={["User", "Storage", "Memories", "Threads", "Entries", "Waits", "Ingests", "Webhook"]}
      numbers={["Storage", "Memories", "Threads", "Entries", "Waits"]}
    >
      {users
        .toSorted((a, b) => size(b) - size(a))
        .map((user) => (
          <Row key={user.userHash} userId={user.userId} holds={held.get(user.userId)} />
        ))}
    </Table>
  );
}

function Row({ userId, holds }: { userId: string; holds: UserSummary | undefined }) {
  const failed = holds?.ingests.filter(({ status }) => status === "partial").length ?? 0;
  const underWay = (holds?.ingests.length ?? 0) - failed;
  return (
    <tr>
      <td>
        <a href={to(["users", userId])}>
          <bdi>{userId}</bdi>
        </a>
      </td>
      <td class="number">{holds && bytes(holds.bytes)}</td>
      <td class="number">{holds && count(holds.memories)}</td>
      <td class="number">{holds && count(holds.threads)}</td>
      <td class="number">{holds && count(holds.entries)}</td>
      <td class="number">
        {holds !== undefined && holds.quarantine.waiting > 0 && (
          <a
            href={to(["users", userId, "inbox"])}
            aria-label={`${plural(holds.quarantine.waiting, "memory waits", "memories wait")} for review`}
          >
            {count(holds.quarantine.waiting)}
          </a>
        )}
      </td>
      <td>
        {failed > 0 && (
          <a class="chip failed" href={to(["users", userId, "inbox"])}>
            {failed} failed
          </a>
        )}{" "}
        {underWay > 0 && <span class="chip late">{underWay} under way</span>}
      </td>
      <td>
        {holds?.webhook?.behind && (
          <span class={`chip ${holds.webhook.failures > 0 ? "failed" : "late"}`}>
            {holds.webhook.failures > 0 ? `failed ${count(holds.webhook.failures)} times` : "behind"}
          </span>
        )}
      </td>
    </tr>
  );
}

/** Asks for some users at a time, and shows what has come. */
const load = (memory: Cairn, users: readonly CataloguedUser[], show: (held: Held) => void) =>
  each(
    users,
    async ({ userId }) => [userId, await memory.usage.summary(userId)] as const,
    (held) => show(new Map(held)),
  );
