import { CairnError } from "cairn-memory";
import { useEffect, useState } from "preact/hooks";
import { Failure } from "../parts/failure.tsx";
import { useLoad } from "../parts/load.ts";
import { Empty, Shown } from "../parts/states.tsx";
import { useUndo } from "../parts/undo.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";

/** One entry of the registry that workers share. */
export function RegistryPage() {
  const session = useSession();
  const { query } = useRoute();
  const key = query.get("key") ?? "";
  const undo = useUndo();
  const [text, setText] = useState(key);
  useEffect(() => setText(key), [key]);
  const entry = useLoad(
    (signal) =>
      key === ""
        ? Promise.resolve(undefined)
        : session.text("GET", ["v1", "cache", key], { signal }).catch((error: unknown) => {
            if (error instanceof CairnError && error.code === "not_found") return null;
            throw error;
          }),
    [key],
  );
  const remove = (version: string) =>
    undo(`Deleting “${key.slice(0, 60)}”`, async () => {
      await session.memory.cache.forget(key, { version: version.replaceAll('"', "") });
      entry.reload();
    });
  return (
    <section aria-label="Registry">
      <h1>Registry</h1>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ key: text });
        }}
      >
        <input
          type="search"
          class="grow"
          aria-label="Key"
          placeholder="Key of an entry"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit">Open</button>
      </form>
      {key === "" && (
        <Empty>
          Open an entry by its key. The registry holds what workers share: provider caches and runs.
        </Empty>
      )}
      <Failure error={entry.error} retry={entry.reload} />
      {key !== "" && (
        <Shown of={{ ...entry, error: null }}>
          {(value) =>
            value == null ? (
              <Empty>There is no value. Somebody may hold the lease to create it.</Empty>
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
      )}
    </section>
  );
}
