import { bytes, count, plural } from "../parts/numbers.ts";
import { Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { useStored } from "../shell/stored.ts";

/** Counts of a user's data, its size, and the state of the webhook. */
export function Holds() {
  const stored = useStored();
  return (
    <section class="card" aria-label="What is stored">
      <h2>What is stored</h2>
      <Shown of={stored}>
        {(value) =>
          value && (
            <dl class="fields">
              <dt>Memories</dt>
              <dd>{count(value.memories)}</dd>
              <dt>Threads</dt>
              <dd>{count(value.threads)}</dd>
              <dt>Entries</dt>
              <dd>{count(value.entries)}</dd>
              <dt>Storage</dt>
              <dd>{bytes(value.bytes)}</dd>
              <dt>Search index</dt>
              <dd>
                {plural(value.documents.indexed, "document")}
                {value.documents.pending > 0 && `, ${count(value.documents.pending)} by words only yet`}
              </dd>
              {value.webhook !== undefined && (
                <>
                  <dt>Webhook</dt>
                  <dd>
                    {value.webhook.behind ? "lacks changes of this user" : "has every change"}
                    {value.webhook.failures > 0 && `, after ${count(value.webhook.failures)} failures`}
                    {value.webhook.nextAt !== undefined && (
                      <>
                        , next attempt <Time at={value.webhook.nextAt} />
                      </>
                    )}
                  </dd>
                </>
              )}
            </dl>
          )
        }
      </Shown>
    </section>
  );
}
