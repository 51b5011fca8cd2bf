import type { Health, TenantStatistics } from "edgecairn";
import type { ComponentChildren } from "preact";
import { type Loaded, useLoad } from "../parts/load.ts";
import { compact, count, dollars, percent } from "../parts/numbers.ts";
import { Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";
import { Activity } from "./activity.tsx";
import { Costs, useMessages } from "./costs.tsx";
import { type Figures, figuresOf } from "./figures.ts";
import { costsOf, type Month, sumOf } from "./prices.ts";

const PERIODS = [7, 30, 90] as const;
const MONTH_DAYS = 30;

/** The whole tenant: its numbers, its problems and its cost; then the children; then its activity over time. */
export function Tenant({ health, children }: { health: Loaded<Health>; children: ComponentChildren }) {
  const session = useSession();
  const { query } = useRoute();
  const days = PERIODS.find((one) => String(one) === query.get("days")) ?? 30;
  const statistics = useLoad((signal) => session.memory.usage.tenant({ days }, { signal }), [days], {
    keep: true,
  });
  const figures = useLoad((signal) => figuresOf(session, signal), []);
  return (
    <>
      <section class="card" aria-label="Numbers">
        <div class="bar">
          <h2>At a glance</h2>
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
        <Shown of={health}>
          {(state) => (
            <Shown of={figures}>
              {(now) => (
                <Shown of={statistics}>
                  {(value) => <Glance health={state} figures={now} statistics={value} days={days} />}
                </Shown>
              )}
            </Shown>
          )}
        </Shown>
      </section>
      {children}
      {statistics.value && <Activity statistics={statistics.value} days={days} />}
    </>
  );
}

const total = <T,>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

type GlanceProps = { health: Health; figures: Figures; statistics: TenantStatistics; days: number };

function Glance({ health, figures, statistics, days }: GlanceProps) {
  const { users, memories, threads, recalls } = statistics;
  const calls = total(recalls, (one) => one.calls);
  const problems = [...(health.problems ?? []), ...figures.problems];
  const aMonth = MONTH_DAYS / days;
  const month: Month = {
    users,
    memories: total(memories, (one) => one.count) * aMonth,
    threads: total(threads, (one) => one.count) * aMonth,
    recalls: calls * aMonth,
    messages: useMessages(),
  };
  const numbers = {
    "Users with data": count(users),
    [`Memories of ${days} days`]: compact(total(memories, (one) => one.count)),
    [`Threads of ${days} days`]: compact(total(threads, (one) => one.count)),
    [`Recalls of ${days} days`]: compact(calls),
    ...(calls > 0 && {
      "Recalls answered": percent(1 - total(recalls, (one) => one.abstained) / calls),
      "Recalls degraded": percent(total(recalls, (one) => one.degraded) / calls),
    }),
    "Waiting for review": compact(figures.waiting),
    ...(figures.erasures > 0 && { "Erasures under way": count(figures.erasures) }),
    Problems: count(problems.length),
    [`Cost a month${month.messages === 0 ? ", without messages" : ""}`]: dollars(sumOf(costsOf(month))),
  };
  return (
    <>
      <Problems of={problems} />
      <dl class="numbers">
        {Object.entries(numbers).map(([name, value]) => (
          <div key={name} class={name === "Problems" && problems.length > 0 ? "bad" : ""}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        Users, memories and threads were counted <Time at={statistics.countedAt} />.
      </p>
      <Costs month={month} />
    </>
  );
}

/** What fails, in words. */
export const Problems = ({ of }: { of: readonly string[] }) =>
  of.length === 0 ? null : (
    <ul class="failure">
      {of.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
