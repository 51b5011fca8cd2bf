import { Field } from "../parts/field.tsx";
import { usePages } from "../parts/load.ts";
import { Empty, More, Shown } from "../parts/states.tsx";
import { localOf, Time, timeOfLocal } from "../parts/times.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { Table } from "../parts/table.tsx";
import { useSession } from "../shell/session.ts";

/** Who did what, to whose memory, when, and how it ended. */
export function AuditPage() {
  const { memory } = useSession();
  const { query } = useRoute();
  const [user, action, from, to] = ["user", "action", "from", "to"].map((name) => query.get(name) ?? "");
  const filter = {
    ...(user !== "" && { user }),
    ...(action !== "" && { action }),
    ...(from !== "" && { from: Number(from) }),
    ...(to !== "" && { to: Number(to) }),
  };
  const events = usePages(
    (cursor, signal) =>
      memory.access.audit({ ...filter, limit: 100, ...(cursor !== undefined && { cursor }) }, { signal }),
    [filter],
  );
  return (
    <section aria-label="Audit log">
      <h1>Audit log</h1>
      <div class="bar">
        <Field
          type="search"
          aria-label="User id"
          placeholder="User id"
          value={user}
          change={(field) => setQuery({ user: field.value })}
        />
        <Field
          type="search"
          class="grow"
          aria-label="Action"
          placeholder="Action, as GET /v1/users/{user}/export"
          value={action}
          change={(field) => setQuery({ action: field.value })}
        />
        <TimeFilter name="from" value={from} />
        <TimeFilter name="to" value={to} />
      </div>
      <Shown of={events}>
        {(all) =>
          all.length === 0 ? (
            <Empty>
              Nothing was recorded, or nothing fits. Deletions, exports and refused tokens are recorded here.
            </Empty>
          ) : (
            <Table
              columns={["Time", "Action", "Outcome", "Token", "User, as a hash", "Count"]}
              numbers={["Count"]}
            >
              {all.map((event) => (
                <tr key={event.id}>
                  <td>
                    <Time at={event.at} />
                  </td>
                  <td>
                    <code>{event.action}</code> <span class="quiet">{event.about}</span>
                  </td>
                  <td>
                    <span class={`chip ${event.outcome === "ok" ? "ok" : "failed"}`}>{event.outcome}</span>
                  </td>
                  <td>
                    <code>{event.tokenId}</code>
                  </td>
                  <td>
                    <code>{event.userHash}</code>
                  </td>
                  <td class="number">{event.count}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
      <More of={events} />
    </section>
  );
}

function TimeFilter({ name, value = "" }: { name: "from" | "to"; value: string | undefined }) {
  return (
    <label>
      {name === "from" ? "From" : "Before"}{" "}
      <Field
        type="datetime-local"
        value={value === "" ? "" : localOf(Number(value))}
        change={(field) => setQuery({ [name]: timeOfLocal(field.value) })}
      />
    </label>
  );
}
