import type { Hit } from "edgecairn";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/times.tsx";
import { to } from "../shell/route.ts";
import { type Part, partNames, PARTS } from "./parts.ts";

/** The largest sum of parts: bars are drawn on one scale. */
export const mostOf = (hits: readonly Hit[]): number =>
  Math.max(
    0.001,
    ...hits.map(({ why }) =>
      Object.values(why.parts ?? {}).reduce((sum, part) => sum + Math.max(0, part ?? 0), 0),
    ),
  );

type Props = { user: string; hit: Hit; most: number; leftOut?: string };

/** The text, one sentence that says why it is there, and behind the sentence the score by its parts. */
export function HitRow({ user, hit, most, leftOut }: Props) {
  const { kind, score, why, role, createdAt } = hit;
  return (
    <li class="hit">
      <p class="text">
        <a href={addressOf(user, hit)}>
          <bdi>
            <Excerpt hit={hit} />
          </bdi>
        </a>
      </p>
      <details>
        <summary>
          {why.sentence}{" "}
          <span class="quiet">
            {role ?? kind}, <Time at={createdAt} day />, score {score.toFixed(2)}
            {leftOut !== undefined && `, ${leftOut}`}
          </span>
        </summary>
        <How hit={hit} most={most} />
      </details>
    </li>
  );
}

function addressOf(user: string, { id, threadId, seq, userId = user }: Hit): string {
  return threadId !== undefined && seq !== undefined
    ? to(["users", userId, "threads", threadId], { seq })
    : to(["users", userId, "memories", id]);
}

/** Characters before a passage that are shown with it. */
const BEFORE = 40;
/** Characters of a text without a passage, and those after one. The page cuts them to its lines. */
const AFTER = 600;

function Excerpt({ hit: { text, passage } }: { hit: Hit }) {
  if (passage === undefined) return <>{text.slice(0, AFTER)}</>;
  const { start, end } = passage;
  const from = Math.max(0, start - BEFORE);
  return (
    <>
      {from > 0 && "… "}
      {from > 0 ? text.slice(from, start).replace(/^\S*\s/, "") : text.slice(0, start)}
      <mark>{text.slice(start, end)}</mark>
      {text.slice(end, end + AFTER)}
    </>
  );
}

/** The ranks of a hit, and the parts of its score as a bar and as a table. */
function How({ hit: { why }, most }: { hit: Hit; most: number }) {
  const parts = partNames.flatMap((part) => {
    const value = why.parts?.[part];
    return value === undefined || value === 0 ? [] : [{ part, value }];
  });
  const ranks = [
    why.lexical !== undefined && `words ${why.lexical}`,
    why.vector !== undefined && `meaning ${why.vector}`,
    why.key && "named",
    why.date && "of that time",
  ].filter((one) => typeof one === "string");
  const features = Object.entries(why.features ?? {}).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return (
    <>
      {ranks.length > 0 && <p class="quiet">Ranks: {ranks.join(", ")}</p>}
      <Bar parts={parts} most={most} />
      <Table columns={["Part", "adds", "that is"]} numbers={["adds"]}>
        {parts.map(({ part, value }) => (
          <tr key={part}>
            <td>
              <span class={`swatch part-${part}`} aria-hidden="true" /> {part}
            </td>
            <td class="number">{value.toFixed(3)}</td>
            <td>{PARTS[part]}</td>
          </tr>
        ))}
      </Table>
      <p class="quiet">{features.join(", ")}</p>
    </>
  );
}

type BarProps = { parts: readonly { part: Part; value: number }[]; most: number };
const Bar = ({ parts, most }: BarProps) => (
  <div
    class="parts"
    role="img"
    aria-label={parts.map(({ part, value }) => `${part} ${value.toFixed(2)}`).join(", ")}
  >
    {parts.map(({ part, value }) => (
      <span
        key={part}
        class={`part part-${part}${value < 0 ? " less" : ""}`}
        style={{ width: `${(Math.abs(value) / most) * 100}%` }}
        title={`${part} ${value.toFixed(3)}: ${PARTS[part]}`}
      />
    ))}
  </div>
);
