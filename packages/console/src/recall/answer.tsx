import type { Hit, RecallAnswer, RecallBody } from "edgecairn";
import { Copy } from "../parts/copy.tsx";
import { percent, plural } from "../parts/numbers.ts";
import { Empty } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import type { Form } from "./form.ts";
import { HitRow, mostOf } from "./hit-row.tsx";
import { ARMS } from "./parts.ts";
import { curlOf, typescriptOf } from "./requests.ts";

type Props = { user: string; answer: RecallAnswer; form: Form; body: RecallBody };
type LeftOut = { hit: Hit; why: string };

/** Whether the query is answered, the hits, those that are left out, and then how they were found. */
export function Answer({ user, answer, form, body }: Props) {
  const { shown, leftOut } = sorted(answer, form);
  const most = mostOf([...shown, ...leftOut.map(({ hit }) => hit)]);
  return (
    <>
      <Outcome answer={answer} hits={shown.length} leftOut={leftOut} />
      {shown.length === 0 && !answer.abstained && <Empty>Nothing is found.</Empty>}
      <ol class="hits">
        {shown.map((hit) => (
          <HitRow key={hit.id} user={user} hit={hit} most={most} />
        ))}
      </ol>
      {leftOut.length > 0 && (
        <details>
          <summary>Left out: {leftOut.length}</summary>
          <ol class="hits">
            {leftOut.map(({ hit, why }) => (
              <HitRow key={hit.id} user={user} hit={hit} most={most} leftOut={why} />
            ))}
          </ol>
        </details>
      )}
      <details class="how">
        <summary>How it was found</summary>
        <Confidence answer={answer} />
        <Arms answer={answer} />
      </details>
      <div class="row">
        <Copy label="As curl" text={curlOf(user, "recall", body)} />
        <Copy label="As TypeScript" text={typescriptOf(user, "recall", body)} />
      </div>
    </>
  );
}

/** The hits that the caller of this form would get, and the others, each with the reason. */
function sorted({ hits, nearest = [], abstained }: RecallAnswer, form: Form) {
  const reasonOf = (hit: Hit, place: number): string | null => {
    if (abstained) return "nothing fits the query";
    if (hit.score < form.minScore) return "below the minimum score";
    return place < form.k ? null : `after the first ${form.k}`;
  };
  const shown: Hit[] = [];
  const leftOut: LeftOut[] = [];
  (abstained ? nearest : hits).forEach((hit, place) => {
    const why = reasonOf(hit, place);
    if (why === null) shown.push(hit);
    else leftOut.push({ hit, why });
  });
  return { shown, leftOut };
}

type OutcomeProps = { answer: RecallAnswer; hits: number; leftOut: readonly LeftOut[] };

/** The answer in a line. */
function Outcome({ answer, hits, leftOut }: OutcomeProps) {
  const { confidence, threshold = 0, abstained, degraded } = answer;
  const isAnswered = !abstained && hits > 0 && confidence >= threshold;
  const reasons = [...Map.groupBy(leftOut, ({ why }) => why)].map(([why, { length }]) => `${length} ${why}`);
  return (
    <p class="outcome" role="status">
      <span class={`chip ${isAnswered ? "ok" : "late"}`}>{isAnswered ? "Answered" : "Not answered"}</span>{" "}
      confidence {percent(confidence)}, threshold {percent(threshold)}. {plural(hits, "hit")}
      {reasons.length > 0 && `; left out: ${reasons.join(", ")}`}.
      {degraded && <strong> An arm failed or was late: there may be better hits.</strong>}
    </p>
  );
}

/** What each arm found. */
const Arms = ({ answer: { arms, freshness } }: { answer: RecallAnswer }) => (
  <Table
    columns={["Arm", "Status", "Candidates", "ms"]}
    numbers={["Candidates", "ms"]}
    caption={
      <>
        {plural(freshness.indexed, "document")} searched
        {freshness.pending > 0 && `, ${freshness.pending} by words only yet`}
      </>
    }
  >
    {arms.map(({ name, status, candidates, capped, ms }) => (
      <tr key={name}>
        <td>
          {name} <span class="quiet">{ARMS[name]}</span>
        </td>
        <td>
          <span class={`chip ${status}`}>{status}</span>
        </td>
        <td class="number">
          {candidates}
          {capped && " and more"}
        </td>
        <td class="number">{ms}</td>
      </tr>
    ))}
  </Table>
);

/** How likely the hits hold an answer, where the threshold of `answerable` is, and the signals behind it. */
const Confidence = ({ answer: { confidence, threshold, signals = {} } }: { answer: RecallAnswer }) => (
  <figure class="confidence">
    <figcaption>Confidence {percent(confidence)}</figcaption>
    <meter min={0} max={1} low={threshold} value={confidence} aria-label="Confidence">
      {percent(confidence)}
    </meter>
    {threshold !== undefined && (
      <span class="mark" style={{ left: `${threshold * 100}%` }} aria-hidden="true" />
    )}
    <dl class="fields">
      {Object.entries(signals).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value.toFixed(3)}</dd>
        </div>
      ))}
    </dl>
  </figure>
);
