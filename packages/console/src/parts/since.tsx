import { setQuery, useRoute } from "../shell/route.ts";

const DAYS: Readonly<Record<string, (weekday: number) => number>> = {
  today: () => 0,
  // Sunday is 0, and the last day of a week.
  monday: (weekday) => (weekday + 6) % 7,
  month: () => 30,
};

/** The beginning of a day, from which on things count, as the address names it; undefined for all. */
export function useSince(): number | undefined {
  const days = DAYS[useRoute().query.get("since") ?? ""];
  if (days === undefined) return undefined;
  const now = new Date();
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days(now.getDay()));
  return midnight.getTime();
}

/** Chooses it. */
export function Since() {
  const { query } = useRoute();
  return (
    <select
      aria-label="Changed"
      value={query.get("since") ?? ""}
      onChange={({ currentTarget }) => setQuery({ since: currentTarget.value })}
    >
      <option value="">whenever changed</option>
      <option value="today">changed today</option>
      <option value="monday">changed since Monday</option>
      <option value="month">changed in 30 days</option>
    </select>
  );
}
