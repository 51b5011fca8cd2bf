import type { Hit, RecallAnswer, RecallBody } from "edgecairn";
import { Copy } from "../parts/copy.tsx";
import { Field } from "../parts/field.tsx";
import { useLoad } from "../parts/load.ts";
import { percent, plural } from "../parts/numbers.ts";
import { Empty, Shown } from "../parts/states.tsx";
import { localOf, Time, timeOfLocal } from "../parts/times.tsx";
import { setQuery, to, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";
import { ARMS, type Part, partNames, PARTS } from "./parts.ts";
import { Table } from "../parts/table.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { curlOf, typescriptOf } from "./requests.ts";

const KINDS = ["fact", "episode", "procedure", "reflection", "message"] as const;
const ROLES = ["user", "assistant", "tool"] as const;
/** Hits that are asked for beyond those that the caller would get, to show what is left out. */
const BEYOND = 10;
const MOST = 100;

/** The form, as the address has it. */
type Form = {
  query: string;
  k: number;
  kinds: string[];
  roles: string[];
  minScore: number;
  asOf?: number;
  referenceDate?: number;
  answerable: boolean;
  timeMode: boolean;
  weights: Partial<Record<Part, number>>;
};

function formOf(query: URLSearchParams): Form {
  const number = (name: string) => (query.has(name) ? Number(query.get(name)) : undefined);
  const list = (name: string) => query.get(name)?.split(",").filter(Boolean) ?? [];
  const weights = partNames.flatMap((part) => {
    const weight = number(`w-${part}`);
    return weight === undefined || Number.isNaN(weight) ? [] : [[part, weight] as const];
  });
  const [asOf, referenceDate] = [number("asOf"), number("referenceDate")];
  return {
    query: query.get("query") ?? "",
    k: number("k") ?? 10,
    kinds: list("kinds"),
    roles: list("roles"),
    minScore: number("minScore") ?? 0,
    ...(asOf !== undefined && { asOf }),
    ...(referenceDate !== undefined && { referenceDate }),
    answerable: query.get("answerable") === "auto",
    timeMode: query.get("timeMode") !== "off",
    weights: Object.fromEntries(weights),
  };
}

/** The body of the call, as a program would send it. */
function bodyOf({ kinds, roles, minScore, answerable, timeMode, weights, ...form }: Form): RecallBody {
  return {
    ...form,
    // The form offers the known kinds only.
    ...(kinds.length > 0 && { kinds: kinds as NonNullable<RecallBody["kinds"]> }),
    ...(roles.length > 0 && { roles }),
    ...(minScore > 0 && { minScore }),
    ...(answerable && { answerable: "auto" as const }),
    ...(!timeMode && { timeMode: "off" as const }),
    ...(Object.keys(weights).length > 0 && { weights }),
  };
}

/** A query, what it finds, and why. */
export function RecallPage({ user }: { user: string }) {
  const { memory } = useSession();
  const { query: given } = useRoute();
  const form = formOf(given);
  const body = bodyOf(form);
  const answer = useLoad<RecallAnswer | null>(
    async (signal) => {
      if (form.query.trim() === "") return null;
      const { minScore: _all, ...asked } = body;
      const k = Math.min(MOST, form.k + BEYOND);
      return memory.recall(user, { ...asked, k, explain: true }, { signal });
    },
    [user, body],
    { keep: true },
  );
  return (
    <section aria-label="Recall">
      <SearchForm
        label="Query"
        placeholder="Ask, as your program would"
        value={form.query}
        search={(text) => setQuery({ query: text })}
        action="Recall"
        main
      />
      <Options form={form} />
      <Shown of={answer}>
        {(value) =>
          value === null ? (
            <Empty>Ask something, and see what is found and why. No model is asked.</Empty>
          ) : (
            <Answer user={user} answer={value} form={form} />
          )
        }
      </Shown>
      {form.query !== "" && (
        <div class="row">
          <Copy label="As curl" text={curlOf(user, "recall", body)} />
          <Copy label="As TypeScript" text={typescriptOf(user, "recall", body)} />
        </div>
      )}
    </section>
  );
}

function Options({ form }: { form: Form }) {
  const toggle = (name: "kinds" | "roles", all: readonly string[], one: string) => {
    const before = form[name].length === 0 ? all : form[name];
    const after = before.includes(one) ? before.filter((other) => other !== one) : [...before, one];
    setQuery({ [name]: after.length === all.length || after.length === 0 ? undefined : after.join(",") });
  };
  const choice = (name: "kinds" | "roles", all: readonly string[], label: string) => (
    <fieldset class="choice">
      <legend>{label}</legend>
      {all.map((one) => (
        <label key={one}>
          <input
            type="checkbox"
            checked={form[name].length === 0 || form[name].includes(one)}
            onChange={() => toggle(name, all, one)}
          />{" "}
          {one}
        </label>
      ))}
    </fieldset>
  );
  const time = (name: "asOf" | "referenceDate", label: string) => (
    <label>
      {label}{" "}
      <Field
        type="datetime-local"
        value={form[name] === undefined ? "" : localOf(form[name])}
        change={(field) => setQuery({ [name]: timeOfLocal(field.value) })}
      />
    </label>
  );
  return (
    <details class="card">
      <summary>Options</summary>
      <div class="row">
        <label>
          Hits{" "}
          <Field
            type="number"
            min={1}
            max={MOST}
            value={form.k}
            change={(field) => setQuery({ k: field.valueAsNumber || 10 })}
          />
        </label>
        <label>
          Minimum score {form.minScore.toFixed(2)}{" "}
          <input
            type="range"
            min={0}
            max={1}
            step={0.01}
            value={form.minScore}
            onInput={({ currentTarget }) => setQuery({ minScore: currentTarget.valueAsNumber || undefined })}
          />
        </label>
        {time("asOf", "As known on")}
        {time("referenceDate", "Asked on")}
        <label class="check">
          <input
            type="checkbox"
            checked={form.answerable}
            onChange={({ currentTarget }) =>
              setQuery({ answerable: currentTarget.checked ? "auto" : undefined })
            }
          />{" "}
          No hits if nothing fits
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={form.timeMode}
            onChange={({ currentTarget }) =>
              setQuery({ timeMode: currentTarget.checked ? undefined : "off" })
            }
          />{" "}
          Times in the query count
        </label>
      </div>
      {choice("kinds", KINDS, "Kinds")}
      {choice("roles", ROLES, "Messages of")}
      <fieldset class="weights">
        <legend>Weights</legend>
        {partNames.map((part) => (
          <label key={part} title={PARTS[part]}>
            <span>
              {part} × {(form.weights[part] ?? 1).toFixed(1)}
            </span>
            <input
              type="range"
              min={0}
              max={3}
              step={0.1}
              value={form.weights[part] ?? 1}
              onInput={({ currentTarget: { valueAsNumber } }) =>
                setQuery({ [`w-${part}`]: valueAsNumber === 1 ? undefined : valueAsNumber })
              }
            />
          </label>
        ))}
        <button
          type="button"
          onClick={() => setQuery(Object.fromEntries(partNames.map((part) => [`w-${part}`, undefined])))}
        >
          All as they were
        </button>
      </fieldset>
    </details>
  );
}

function Answer({ user, answer, form }: { user: string; answer: RecallAnswer; form: Form }) {
  const { hits, nearest = [], arms, confidence, abstained, degraded, freshness } = answer;
  const all = abstained ? nearest : hits;
  const isIn = (hit: Hit, i: number) => !abstained && i < form.k && hit.score >= form.minScore;
  const shown = all.filter(isIn);
  const leftOut = all.flatMap((hit, i) =>
    isIn(hit, i)
      ? []
      : [
          {
            hit,
            why: abstained
              ? "nothing fits the query"
              : hit.score < form.minScore
                ? "below the minimum score"
                : `after the first ${form.k}`,
          },
        ],
  );
  return (
    <>
      <Confidence answer={answer} />
      <Table
        columns={["Arm", "Status", "Candidates", "ms"]}
        numbers={["Candidates", "ms"]}
        caption={
          <>
            {plural(freshness.indexed, "document")} searched
            {freshness.pending > 0 && `, ${freshness.pending} by words only yet`}
            {degraded && ". An arm failed or was late: there may be better hits."}
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
      {abstained && (
        <p role="status">
          The confidence of {percent(confidence)} is below the threshold: there are no hits.
        </p>
      )}
      {shown.length === 0 && !abstained && <Empty>Nothing is found.</Empty>}
      <ol class="hits">
        {shown.map((hit) => (
          <HitRow key={hit.id} user={user} hit={hit} most={mostOf(all)} />
        ))}
      </ol>
      {leftOut.length > 0 && (
        <details>
          <summary>Left out: {leftOut.length}</summary>
          <ol class="hits">
            {leftOut.map(({ hit, why }) => (
              <HitRow key={hit.id} user={user} hit={hit} most={mostOf(all)} leftOut={why} />
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

/** How likely the hits hold an answer, and where the threshold of `answerable` is. */
function Confidence({ answer: { confidence, threshold, signals = {} } }: { answer: RecallAnswer }) {
  return (
    <figure class="confidence">
      <figcaption>
        Confidence {percent(confidence)}
        {threshold !== undefined && <span class="quiet">, threshold {percent(threshold)}</span>}
      </figcaption>
      <meter min={0} max={1} low={threshold} value={confidence} aria-label="Confidence">
        {percent(confidence)}
      </meter>
      {threshold !== undefined && (
        <span class="mark" style={{ left: `${threshold * 100}%` }} aria-hidden="true" />
      )}
      <details>
        <summary>Signals</summary>
        <dl class="fields">
          {Object.entries(signals).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value.toFixed(3)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </figure>
  );
}

/** The largest sum of parts: bars are drawn on one scale. */
const mostOf = (hits: readonly Hit[]): number =>
  Math.max(
    0.001,
    ...hits.map(({ why }) =>
      Object.values(why.parts ?? {}).reduce((sum, part) => sum + Math.max(0, part ?? 0), 0),
    ),
  );

function HitRow({ user, hit, most, leftOut }: { user: string; hit: Hit; most: number; leftOut?: string }) {
  const { id, kind, text, score, why, threadId, seq, role, passage, createdAt } = hit;
  const address =
    threadId !== undefined && seq !== undefined
      ? to(["users", hit.userId ?? user, "threads", threadId], { seq })
      : to(["users", hit.userId ?? user, "memories", id]);
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
  return (
    <li class="hit">
      <p class="quiet">
        <strong>{score.toFixed(2)}</strong> <span class="chip">{role ?? kind}</span>{" "}
        <Time at={createdAt} day />
        {ranks.length > 0 && <span> ranks: {ranks.join(", ")}</span>}
        {leftOut !== undefined && <span class="chip">{leftOut}</span>}
      </p>
      <p class="text">
        <a href={address}>
          <bdi>
            {passage === undefined ? (
              text.slice(0, 600)
            ) : (
              <>
                {text.slice(Math.max(0, passage.start - 120), passage.start)}
                <mark>{text.slice(passage.start, passage.end)}</mark>
                {text.slice(passage.end, passage.end + 120)}
              </>
            )}
          </bdi>
        </a>
      </p>
      {why.sentence !== undefined && <p class="quiet">{why.sentence}</p>}
      <div
        class="parts"
        role="img"
        aria-label={parts.map(({ part, value }) => `${part} ${value.toFixed(2)}`).join(", ")}
      >
        {parts.map(({ part, value }) => (
          <span
            key={part}
            class={`part ${part}${value < 0 ? " less" : ""}`}
            style={{ width: `${(Math.abs(value) / most) * 100}%` }}
            title={`${part} ${value.toFixed(3)}: ${PARTS[part]}`}
          />
        ))}
      </div>
      {parts.length > 0 && (
        <details>
          <summary>Features</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">Part</th>
                <th scope="col" class="number">
                  adds
                </th>
                <th scope="col">that is</th>
              </tr>
            </thead>
            <tbody>
              {parts.map(({ part, value }) => (
                <tr key={part}>
                  <td>
                    <span class={`part key ${part}`} aria-hidden="true" /> {part}
                  </td>
                  <td class="number">{value.toFixed(3)}</td>
                  <td>{PARTS[part]}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="quiet">
            {Object.entries(why.features ?? {})
              .map(([name, value]) => `${name} ${value.toFixed(2)}`)
              .join(", ")}
          </p>
        </details>
      )}
    </li>
  );
}
