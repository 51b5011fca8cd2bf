import type { Imported } from "edgecairn";
import { useRef, useState } from "preact/hooks";
import { Failure } from "../parts/failure.tsx";
import { useAction } from "../parts/load.ts";
import { bytes, count } from "../parts/numbers.ts";
import { useSession } from "../shell/session.ts";
import { useStored } from "../shell/stored.ts";

/** A file, and what a dry run found in it. */
type Looked = {
  file: File;
  user: string | null;
  lines: Readonly<Record<string, number>>;
  problem: string | null;
};

/** Counts the lines of an export by their type, without sending anything. */
async function look(file: File): Promise<Looked> {
  const lines: Record<string, number> = {};
  let [rest, user, last] = ["", null as string | null, ""];
  const take = (line: string) => {
    if (line.trim() === "") return;
    const parsed = JSON.parse(line) as { type?: unknown; user?: unknown };
    last = String(parsed.type);
    lines[last] = (lines[last] ?? 0) + 1;
    if (typeof parsed.user === "string") user ??= parsed.user;
  };
  try {
    for (const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { value, done } = await reader.read();
      if (done) break;
      const all = (rest + value).split("\n");
      rest = all.pop() ?? "";
      all.forEach(take);
    }
    take(rest);
  } catch {
    return { file, user, lines, problem: "This is no export: a line of it is not JSON." };
  }
  return {
    file,
    user,
    lines,
    problem:
      last === "end" ? null : "The last line is missing: this is a part of an export, or it broke off.",
  };
}

/** Imports an export: first a dry run, which counts, and then the import. */
export function Import({ user }: { user: string }) {
  const { memory } = useSession();
  const stored = useStored();
  const action = useAction();
  const cancel = useRef<AbortController | null>(null);
  const [looked, setLooked] = useState<Looked | null>(null);
  const [answer, setAnswer] = useState<Imported | null>(null);
  const choose = (file: File | undefined) => {
    setAnswer(null);
    action.clear();
    if (file === undefined) setLooked(null);
    else void look(file).then(setLooked);
  };
  const start = () =>
    void action.run(async () => {
      if (looked === null) return;
      const controller = (cancel.current = new AbortController());
      setAnswer(await memory.transfer.import(user, looked.file, { signal: controller.signal }));
      stored.reload();
    });
  return (
    <section class="card" aria-label="Import">
      <h2>Import</h2>
      <p>An export of Cairn. What is there already stays, so a repeated import is safe.</p>
      <label>
        File{" "}
        <input
          type="file"
          accept=".jsonl,.ndjson,application/x-ndjson"
          onChange={({ currentTarget }) => choose(currentTarget.files?.[0])}
        />
      </label>
      {looked !== null && (
        <>
          <p>
            Dry run: {bytes(looked.file.size)}
            {looked.user !== null && (
              <>
                {" "}
                of <bdi>{looked.user}</bdi>
              </>
            )}
          </p>
          <dl class="fields">
            {Object.entries(looked.lines).map(([type, n]) => (
              <div key={type}>
                <dt>{type}</dt>
                <dd>{count(n)}</dd>
              </div>
            ))}
          </dl>
          {looked.problem === null ? (
            <div class="row">
              <button type="button" class="main" onClick={start} disabled={action.busy}>
                Import
              </button>
              {action.busy && (
                <>
                  <progress aria-label="Importing" />
                  <button
                    type="button"
                    onClick={() =>
                      cancel.current?.abort(new Error("The import was cancelled. Its lines so far stay."))
                    }
                  >
                    Cancel
                  </button>
                </>
              )}
            </div>
          ) : (
            <p class="failure" role="alert">
              {looked.problem}
            </p>
          )}
        </>
      )}
      {answer !== null && (
        <pre tabIndex={0} role="status">
          {JSON.stringify(answer, null, 2)}
        </pre>
      )}
      <Failure error={action.error} />
    </section>
  );
}
