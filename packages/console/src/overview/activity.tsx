import type { TenantStatistics } from "edgecairn";
import { useLoad } from "../parts/load.ts";
import { compact, count, percent } from "../parts/numbers.ts";
import { Plot } from "../parts/plot.tsx";
import { Shown } from "../parts/states.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
const PERIODS = [7, 30, 90] as const;
/** Hours of the plots of recalls. */
const HOURS = 7 * 24;

/** Users, memories, threads and recalls over time. */
export function Activity() {
  const { memory } = useSession();
  const { query } = useRoute();
  const days = PERIODS.find((one) => String(one) === query.get("days")) ?? 30;
  const statistics = useLoad((signal) => memory.usage.tenant({ days }, { signal }), [days]);
  return (
    <section class="card" aria-label="Activity">
      <div class="bar">
        <h2>Activity</h2>
        <select
          aria-label="Period"
          value={days}
          onChange={({ currentTarget }) => setQuery({ days: currentTarget.value })}
        >
          {PERIODS.map((one) => (
            <option key={one} value={one}>
              {one} days
            </option>
          ))}
        </select>
      </div>
      <Shown of={statistics}>
        {(value) => (
          <>
            <Sums statistics={value} days={days} />
            <Plot
              title="Memories and threads that were created, by day"
              as="lines"
              format={compact}
              times={daysOf(days)}
              series={[
                { label: "memories", colour: "#2e8b57", values: valuesOf(value.memories, daysOf(days)) },
                { label: "threads", colour: "#b8860b", values: valuesOf(value.threads, daysOf(days)) },
              ]}
            />
            <Plot
              title="Users who got memories, by day"
              as="bars"
              format={compact}
              times={daysOf(days)}
              series={[
                {
                  label: "users",
                  colour: "#2b6cb0",
                  values: valuesOf(value.memories, daysOf(days), ({ users }) => users),
                },
              ]}
            />
            <Recalls recalls={value.recalls} />
          </>
        )}
      </Shown>
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
const sumOf = <T,>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

function Sums({
  statistics: { users, memories, threads, recalls },
  days,
}: {
  statistics: TenantStatistics;
  days: number;
}) {
  const calls = sumOf(recalls, (one) => one.calls);
  const numbers = {
    "Users with data": count(users),
    [`Memories of ${days} days`]: compact(sumOf(memories, (one) => one.count)),
    [`Threads of ${days} days`]: compact(sumOf(threads, (one) => one.count)),
    [`Recalls of ${days} days`]: compact(calls),
    ...(calls > 0 && {
      "Recalls answered": percent(1 - sumOf(recalls, (one) => one.abstained) / calls),
      "Recalls degraded": percent(sumOf(recalls, (one) => one.degraded) / calls),
    }),
  };
  return (
    <dl class="numbers">
      {Object.entries(numbers).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

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
