import { usePages } from "../parts/load.ts";
import { count } from "../parts/numbers.ts";
import { Empty, More, Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { to } from "../shell/route.ts";
import { Table } from "../parts/table.tsx";
import { useSession } from "../shell/session.ts";

/** The conversations of a user, the last updated first. */
export function ThreadsPage({ user }: { user: string }) {
  const { memory } = useSession();
  const threads = usePages(
    (cursor, signal) =>
      memory.threads.list(user, { limit: 100, ...(cursor !== undefined && { cursor }) }, { signal }),
    [user],
  );
  return (
    <section aria-label="Threads">
      <Shown of={threads}>
        {(all) =>
          all.length === 0 ? (
            <Empty>No conversation is stored. An append or an ingest begins one.</Empty>
          ) : (
            <Table columns={["Thread", "Agent", "Messages", "Updated"]} numbers={["Messages"]}>
              {all.map(({ id, title, agent, length, updatedAt, forkedFrom }) => (
                <tr key={id}>
                  <td>
                    <a href={to(["users", user, "threads", id])}>
                      <bdi>{title || id}</bdi>
                    </a>
                    {forkedFrom && <span class="chip">fork</span>}
                  </td>
                  <td>
                    <bdi>{agent ?? ""}</bdi>
                  </td>
                  <td class="number">{count(length)}</td>
                  <td>
                    <Time at={updatedAt} />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
      <More of={threads} />
    </section>
  );
}
