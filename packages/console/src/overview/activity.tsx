import type { TenantStatistics } from "edgecairn";
import { compact } from "../parts/numbers.ts";
import { Plot } from "../parts/plot.tsx";

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
/** Hours of the plots of recalls. */
const HOURS = 7 * 24;

/** Users, memories, threads and recalls over time. */
export function Activity({ statistics, days }: { statistics: TenantStatistics; days: number }) {
  const { memories, threads, recalls } = statistics;
  const times = daysOf(days);
  return (
    <section class="card" aria-label="Activity">
      <h2>Activity</h2>
      <Plot
        title="Memories and threads that were created, by day"
        as="lines"
        format={compact}
        times={times}
        series={[
          { label: "memories", colour: "#2e8b57", values: valuesOf(memories, times) },
          { label: "threads", colour: "#b8860b", values: valuesOf(threads, times) },
        ]}
      />
      <Plot
        title="Users who got memories, by day"
        as="bars"
        format={compact}
        times={times}
        series={[
          {
            label: "users",
            colour: "#2b6cb0",
            values: valuesOf(memories, times, ({ users }) => users),
          },
        ]}
      />
      <Recalls recalls={recalls} />
    </section>
  );
}

type Recall = TenantStatistics["recalls"][number];
type Day = TenantStatistics["memories"][number];

const daysOf = (days: number): number[] => {
  const today = Date.now() - (Date.now() % DAY_MS);
  return Array.from({ length: days }, (_, i) => today - (days - 1 - i) * DAY_MS);
};
const valuesOf = (
  all: readonly Day[],
  times: readonly number[],
  of: (one: Day) => number = ({ count: n }) => n,
): number[] =>
  times.map((at) => {
    const one = all.find(({ day }) => day === at);
    return one === undefined ? 0 : of(one);
  });
function Recalls({ recalls }: { recalls: readonly Recall[] }) {
  if (recalls.length === 0) return null;
  const last = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const times = Array.from({ length: HOURS }, (_, i) => last - (HOURS - 1 - i) * HOUR_MS);
  const byHour = new Map(recalls.map((one) => [one.hour, one]));
  const values = (of: (one: Recall) => number) =>
    times.map((at) => {
      const one = byHour.get(at);
      return one === undefined ? null : of(one);
    });
  return (
    <>
      <Plot
        title="Recalls by hour, the last week"
        as="bars"
        format={compact}
        times={times}
        series={[
          { label: "recalls", colour: "#2b6cb0", values: values((one) => one.calls) },
          { label: "abstained", colour: "#b8860b", values: values((one) => one.abstained) },
          { label: "degraded", colour: "#c53030", values: values((one) => one.degraded) },
        ]}
      />
      <Plot
        title="Time of a recall in milliseconds, by hour"
        as="lines"
        format={compact}
        times={times}
        series={[
          { label: "p95", colour: "#b8860b", values: values((one) => one.p95) },
          { label: "p50", colour: "#2e8b57", values: values((one) => one.p50) },
        ]}
      />
    </>
  );
}
