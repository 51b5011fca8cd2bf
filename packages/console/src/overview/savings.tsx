import type { Stats } from "edgecairn";
import { Field } from "../parts/field.tsx";
import { useLoad } from "../parts/load.ts";
import { compact, count, dollars, percent } from "../parts/numbers.ts";
import { Plot } from "../parts/plot.tsx";
import { Empty, Shown } from "../parts/states.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";

const HOUR_MS = 60 * 60 * 1000;
const WEEK_MS = 7 * 24 * HOUR_MS;
type Hour = Stats["items"][number];

/** Input tokens that the providers' caches saved in the last week, by hour and by model. */
export function Savings() {
  const { memory } = useSession();
  const { price, share } = usePrices();
  const stats = useLoad(async (signal) => {
    const hours: Hour[] = [];
    const from = Date.now() - WEEK_MS;
    for await (const hour of memory.promptCache.hours({ from, limit: 1_000 }, { signal })) hours.push(hour);
    return hours;
  }, []);
  return (
    <section class="card" aria-label="Prompt caches">
      <h2>Prompt caches, the last week</h2>
      <Shown of={stats}>
        {(hours) =>
          hours.length === 0 ? (
            <Empty>
              No call was reported. Report the token counts of each call to a model, and see what its cache
              saved.
            </Empty>
          ) : (
            <>
              <Plot title="Input tokens by hour" as="bars" format={compact} {...byHour(hours)} />
              <Prices />
              <div class="wide">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Model</th>
                      <th scope="col" class="number">
                        Calls
                      </th>
                      <th scope="col" class="number">
                        From a cache
                      </th>
                      <th scope="col" class="number">
                        Not from one
                      </th>
                      <th scope="col" class="number">
                        Share
                      </th>
                      {price > 0 && (
                        <th scope="col" class="number">
                          Saved
                        </th>
                      )}
                    </tr>
                  </thead>
                  <tbody>
                    {byModel(hours).map(({ name, calls, cached, uncached }) => (
                      <tr key={name}>
                        <td>
                          <bdi>{name}</bdi>
                        </td>
                        <td class="number">{count(calls)}</td>
                        <td class="number">{count(cached)}</td>
                        <td class="number">{count(uncached)}</td>
                        <td class="number">{percent(cached / Math.max(1, cached + uncached))}</td>
                        {price > 0 && <td class="number">{dollars(savedBy(cached, price, share))}</td>}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </>
          )
        }
      </Shown>
    </section>
  );
}

/** The share of the price that most providers ask for a token from a cache. */
const CACHED_SHARE = 0.1;

const savedBy = (tokens: number, price: number, share: number): number =>
  (tokens / 1e6) * price * (1 - share);

/** Dollars for a million input tokens, and the share of it for one from a cache, as the address has them. */
function usePrices(): { price: number; share: number } {
  const { query } = useRoute();
  const share = query.has("cached") ? Number(query.get("cached")) / 100 : CACHED_SHARE;
  return { price: Number(query.get("price") ?? 0), share };
}

function Prices() {
  const { price, share } = usePrices();
  return (
    <div class="row">
      <label>
        $ for a million input tokens
        <Field
          type="number"
          min={0}
          step="any"
          value={price || ""}
          placeholder="your model’s price"
          change={(field) => setQuery({ price: field.valueAsNumber || undefined })}
        />
      </label>
      <label>
        % of it from a cache
        <Field
          type="number"
          min={0}
          max={100}
          value={Math.round(share * 100)}
          change={(field) => setQuery({ cached: field.value })}
        />
      </label>
    </div>
  );
}

function byHour(hours: readonly Hour[]) {
  const sums = Map.groupBy(hours, ({ hour }) => hour);
  const last = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const times = Array.from({ length: WEEK_MS / HOUR_MS }, (_, i) => last - WEEK_MS + (i + 1) * HOUR_MS);
  const sumOf = (at: number, of: (hour: Hour) => number) =>
    (sums.get(at) ?? []).reduce((sum, one) => sum + of(one), 0);
  return {
    times,
    series: [
      // A stack: the lower bars are drawn over the higher ones.
      {
        label: "all",
        colour: "#b8860b",
        values: times.map((at) => sumOf(at, (one) => one.cachedInputTokens + one.uncachedInputTokens)),
      },
      {
        label: "from a cache",
        colour: "#2e8b57",
        values: times.map((at) => sumOf(at, (one) => one.cachedInputTokens)),
      },
    ],
  };
}

function byModel(hours: readonly Hour[]) {
  return [...Map.groupBy(hours, ({ provider, model }) => `${provider} ${model}`)].map(([name, all]) => ({
    name,
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
    cached: all.reduce((sum, { cachedInputTokens }) => sum + cachedInputTokens, 0),
    uncached: all.reduce((sum, { uncachedInputTokens }) => sum + uncachedInputTokens, 0),
  }));
}
