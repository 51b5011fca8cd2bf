import { useRef, useState } from "preact/hooks";
import { Failure } from "../parts/failure.tsx";
import { useAction } from "../parts/load.ts";
import { bytes, plural } from "../parts/numbers.ts";
import { useSession } from "../shell/session.ts";

/** Downloads everything of the user, and says what came. */
export function Export({ user }: { user: string }) {
  const { memory } = useSession();
  const action = useAction();
  const cancel = useRef<AbortController | null>(null);
  const [read, setRead] = useState({ bytes: 0, lines: 0 });
  const [done, setDone] = useState<{ url: string; name: string } | null>(null);
  const start = () =>
    void action.run(async () => {
      const controller = (cancel.current = new AbortController());
      if (done !== null) URL.revokeObjectURL(done.url);
      setDone(null);
      setRead({ bytes: 0, lines: 0 });
      const parts: Uint8Array<ArrayBuffer>[] = [];
      const sum = { bytes: 0, lines: 0 };
      let ends = false;
      const stream = await memory.transfer.export(user, { signal: controller.signal });
      for (const reader = stream.getReader(); ;) {
        const { value, done: isLast } = await reader.read();
        if (isLast) break;
        parts.push(new Uint8Array(value));
        sum.bytes += value.length;
        for (const byte of value) if (byte === 10) sum.lines++;
        setRead({ ...sum });
      }
      const blob = new Blob(parts, { type: "application/x-ndjson" });
      // Only a whole export ends so.
      const tail = await blob.slice(Math.max(0, blob.size - 4_096)).text();
      ends = /\{"type":"end"[^\n]*\}\s*$/.test(tail);
      if (!ends) throw new Error("The export broke off: its last line is missing. Start it again.");
      setDone({
        url: URL.createObjectURL(blob),
        name: `cairn-${user.replaceAll(/[^\w.-]+/g, "_").slice(0, 80)}.jsonl`,
      });
    });
  return (
    <section class="card" aria-label="Export">
      <h2>Export</h2>
      <p>Everything of this user as lines of JSON: threads, memories with their history, and entries.</p>
      <div class="row">
        <button type="button" class="main" onClick={start} disabled={action.busy}>
          Export
        </button>
        {action.busy && (
          <>
            <progress aria-label="Exporting" />
            <span class="quiet" role="status">
              {bytes(read.bytes)}, {plural(read.lines, "line")}
            </span>
            <button
              type="button"
              onClick={() => cancel.current?.abort(new Error("The export was cancelled."))}
            >
              Cancel
            </button>
          </>
        )}
        {done !== null && (
          <a class="button" href={done.url} download={done.name}>
            Save {bytes(read.bytes)}, {plural(read.lines, "line")}
          </a>
        )}
      </div>
      <Failure error={action.error} />
    </section>
  );
}
