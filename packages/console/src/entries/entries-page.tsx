import { CairnError, type ListedEntry } from "edgecairn";
import { useState } from "preact/hooks";
import { fieldOf } from "../parts/form.ts";
import { Failure } from "../parts/failure.tsx";
import { useAction, useLoad, usePages } from "../parts/load.ts";
import { Empty, More, Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { useUndo } from "../parts/undo.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { Table } from "../parts/table.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { Panel } from "../parts/panel.tsx";
import { may, useSession } from "../shell/session.ts";
import { useStored } from "../shell/stored.ts";

const close = () => setQuery({ key: undefined });

/** The key-value entries of a user, by prefix, and one of them to edit. */
export function EntriesPage({ user }: { user: string }) {
  const session = useSession();
  const { memory } = session;
  const stored = useStored();
  const { query } = useRoute();
  const prefix = query.get("prefix") ?? "";
  const key = query.get("key");
  const entries = usePages(
    (cursor, signal) =>
      memory.kv.list(
        user,
        { limit: 200, ...(prefix !== "" && { prefix }), ...(cursor !== undefined && { cursor }) },
        { signal },
      ),
    [user, prefix],
  );
  return (
    <div class={key === null ? "split" : "split open"}>
      <section aria-label="Entries">
        <SearchForm
          label="Prefix"
          placeholder="Prefix of the key"
          value={prefix}
          search={(text) => setQuery({ prefix: text })}
          action="Find"
        >
          {may(session, "write") && (
            <button type="button" onClick={() => setQuery({ key: prefix || "new" })}>
              Add
            </button>
          )}
        </SearchForm>
        <Folders prefix={prefix} entries={entries.value ?? []} />
        <Shown of={entries}>
          {(all) =>
            all.length === 0 ? (
              <Empty>{prefix === "" ? "There are no entries." : "No key begins so."}</Empty>
            ) : (
              <Table columns={["Key", "Expires"]}>
                {all.map((entry) => (
                  <tr key={entry.key}>
                    <td>
                      <button type="button" class="link" onClick={() => setQuery({ key: entry.key })}>
                        <bdi>{entry.key}</bdi>
                      </button>
                    </td>
                    <td>{entry.expiresAt === undefined ? "" : <Time at={entry.expiresAt} />}</td>
                  </tr>
                ))}
              </Table>
            )
          }
        </Shown>
        <More of={entries} />
      </section>
      {key !== null && (
        <Panel title="Entry" close={close}>
          <Entry key={key} user={user} name={key} changed={() => (entries.reload(), stored.reload())} />
        </Panel>
      )}
    </div>
  );
}

/** The next parts of the keys up to a slash, as folders. */
function Folders({ prefix, entries }: { prefix: string; entries: readonly ListedEntry[] }) {
  const parts = new Set(
    entries.flatMap(({ key }) => {
      const end = key.indexOf("/", prefix.length);
      return end === -1 ? [] : [key.slice(0, end + 1)];
    }),
  );
  const up = prefix.replace(/[^/]*\/?$/, "");
  if (parts.size < 2 && prefix === "") return null;
  return (
    <p class="chips">
      {prefix !== "" && (
        <button type="button" class="chip" onClick={() => setQuery({ prefix: up === prefix ? "" : up })}>
          up
        </button>
      )}
      {[...parts]
        .filter((part) => part !== prefix)
        .slice(0, 40)
        .map((part) => (
          <button key={part} type="button" class="chip" onClick={() => setQuery({ prefix: part })}>
            <bdi>{part}</bdi>
          </button>
        ))}
    </p>
  );
}

function Entry({ user, name, changed }: { user: string; name: string; changed: () => void }) {
  const session = useSession();
  const { memory } = session;
  const undo = useUndo();
  const action = useAction();
  const path = ["v1", "users", user, "kv", name];
  const loaded = useLoad(
    (signal) =>
      session.text("GET", path, { signal }).catch((error: unknown) => {
        if (error instanceof CairnError && error.code === "not_found") return null;
        throw error;
      }),
    [user, name],
  );
  const [problem, setProblem] = useState("");
  const stored = loaded.value;
  const save = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = event.currentTarget;
    const field = (of: string) => fieldOf(form, of);
    const body = field("value");
    try {
      JSON.parse(body);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return;
    }
    setProblem("");
    const seconds = field("ttl");
    const key = field("key");
    const done = await action.run(() =>
      session.text("PUT", ["v1", "users", user, "kv", key], {
        body,
        headers: stored == null ? { "If-None-Match": "*" } : { "If-Match": stored.version },
        ...(seconds !== "" && { query: { ttlMs: String(Number(seconds) * 1000) } }),
      }),
    );
    if (!done) return;
    changed();
    if (key === name) loaded.reload();
    else setQuery({ key });
  };
  const remove = () => {
    close();
    undo(`Deleting “${name.slice(0, 60)}”`, async () => {
      await memory.kv.delete(user, name);
      changed();
    });
  };
  return (
    <Shown of={loaded}>
      {(value) => (
        <form class="stack" key={value?.version ?? "new"} onSubmit={(event) => void save(event)}>
          <label>
            Key <input name="key" required defaultValue={name} readOnly={value !== null} />
          </label>
          <label>
            Value, as JSON
            <textarea
              name="value"
              rows={12}
              spellcheck={false}
              required
              readOnly={!may(session, "write")}
              defaultValue={value === null ? '""' : value.text}
            />
          </label>
          {may(session, "write") && (
            <>
              <label>
                Expires after, in seconds <input name="ttl" type="number" min={1} placeholder="never" />
              </label>
              <div class="row">
                <button type="submit" class="main" disabled={action.busy}>
                  Save
                </button>
                {value !== null && (
                  <button type="button" class="danger" onClick={remove}>
                    Delete
                  </button>
                )}
              </div>
            </>
          )}
          {problem !== "" && (
            <p class="failure" role="alert">
              {problem}
            </p>
          )}
          <Failure error={action.error} />
        </form>
      )}
    </Shown>
  );
}
