import type { Session } from "../shell/session.ts";

/** The tenant's figures that the overview shows, of `GET /metrics` (docs/reference/metrics.md). */
export type Figures = { waiting: number; erasures: number; problems: string[] };

const DAY_SECONDS = 24 * 60 * 60;

/** Problems are those that alerts.yml has alerts for, and that the health does not name. */
export async function figuresOf({ text }: Session, signal: AbortSignal): Promise<Figures> {
  const page = await text("GET", ["metrics"], { signal });
  const of = (name: string) => Number(new RegExp(`^cairn_${name} (.*)$`, "m").exec(page.text)?.[1] ?? 0);
  const [recalls, degraded] = [of("recalls_today"), of("degraded_recalls_today")];
  return {
    waiting: of("waiting_memories"),
    erasures: of("unfinished_erasures"),
    problems: [
      of("oldest_erasure_age_seconds") > DAY_SECONDS && "An erasure takes longer than a day.",
      degraded > 20 && degraded / recalls > 0.05 && `${degraded} recalls of today went without an arm.`,
    ].filter((one) => one !== false),
  };
}
