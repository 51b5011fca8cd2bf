import type { PastMemory } from "edgecairn";
import { dayText } from "../parts/times.tsx";

const [WIDTH, ROW] = [300, 14];

/** When each version was true, the newest at the top. A version that was corrected is hollow. */
export function HistoryPicture({ versions }: { versions: readonly PastMemory[] }) {
  const now = Date.now();
  const from = Math.min(...versions.map(({ validFrom }) => validFrom));
  const until = Math.max(now, ...versions.map(({ validTo = now }) => validTo));
  const x = (at: number) => ((at - from) / Math.max(1, until - from)) * WIDTH;
  const height = versions.length * ROW;
  return (
    <figure class="history">
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        role="img"
        aria-label={`${versions.length} versions from ${dayText(from)} to ${dayText(until)}`}
      >
        {versions.map(({ version, validFrom, validTo = until, correctedAt }, i) => (
          <rect
            key={version}
            class={correctedAt === undefined ? "" : "corrected"}
            x={x(validFrom)}
            y={i * ROW + 2}
            width={Math.max(2, x(validTo) - x(validFrom))}
            height={ROW - 4}
          />
        ))}
      </svg>
      <figcaption class="quiet">
        <span>{dayText(from)}</span>
        <span>{dayText(until)}</span>
      </figcaption>
    </figure>
  );
}
