import { CairnError } from "edgecairn";
import { useLoad, usePages } from "../parts/load.ts";
import { Empty, More, Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { useUndo } from "../parts/undo.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { Table } from "../parts/table.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { Panel } from "../parts/panel.tsx";
import { useSession } from "../shell/session.ts";

/** The registry that workers share: its keys, who creates a value just now, and one entry. */
export function RegistryPage() {
  const { memory } = useSession();
  const { query } = useRoute();
  const prefix = query.get("prefix") ?? "";
  const key = query.get("key");
  const keys = usePages(
    (cursor, signal) =>
      memory.cache.keys(
        { limit: 100, ...(prefix !== "" && { prefix }), ...(cursor !== undefined && { cursor }) },
        { signal },
      ),
    [prefix],
  );
  return (
    <>
      <h1>Registry</h1>
      <div class={key === null ? "split" : "split open"}>
        <section aria-label="Registry">
          <SearchForm
            label="Prefix"
            placeholder="Prefix of the key"
            value={prefix}
            search={(text) => setQuery({ prefix: text })}
            action="Find"
          />
          <Shown of={keys}>
            {(all) =>
              all.length === 0 ? (
                <Empty>
                  {prefix === ""
                    ? "The registry is empty. It holds what workers share: provider caches and runs."
                    : "No key begins so."}
                </Empty>
              ) : (
                <Table columns={["Key", "Lease", "Expires"]}>
                  {all.map((one) => (
                    <tr key={one.key}>
                      <td>
                        <button type="button" class="link" onClick={() => setQuery({ key: one.key })}>
                          <bdi>{one.key}</bdi>
                        </button>
                      </td>
                      <td>
                        {one.leaseUntil !== undefined && (
                          <span class="chip late">
                            held until <Time at={one.leaseUntil} />
                          </span>
                        )}
                      </td>
                      <td>{one.expiresAt === undefined ? "" : <Time at={one.expiresAt} />}</td>
                    </tr>
                  ))}
                </Table>
              )
            }
          </Shown>
          <More of={keys} />
        </section>
        {key !== null && (
          <Entry key={key} name={key} changed={keys.reload} close={() => setQuery({ key: undefined })} />
        )}
      </div>
    </>
  );
}

function Entry({ name, changed, close }: { name: string; changed: () => void; close: () => void }) {
  const session = useSession();
  const undo = useUndo();
  const entry = useLoad(
    (signal) =>
      session.text("GET", ["v1", "cache", name], { signal }).catch((error: unknown) => {
        if (error instanceof CairnError && error.code === "not_found") return null;
        throw error;
      }),
    [name],
  );
  const remove = (version: string) => {
    close();
    undo(`Deleting “${name.slice(0, 60)}”`, async () => {
      await session.memory.cache.forget(name, { version: version.replaceAll('"', "") });
      changed();
    });
  };
  return (
    <Panel title="Entry" close={close}>
      <Shown of={entry}>
        {(value) =>
          value === null ? (
            <Empty>There is no value yet. Somebody may hold the lease to create it.</Empty>
          ) : (
            <div class="stack">
              <p class="quiet">Version {value.version}</p>
              <pre class="block" tabIndex={0}>
                {value.text}
              </pre>
              <button type="button" class="danger" onClick={() => remove(value.version)}>
                Delete
              </button>
            </div>
          )
        }
      </Shown>
    </Panel>
  );
}
