import type { ContextAnswer, ContextBody } from "edgecairn";
import { diffLines } from "diff";
import { useRef } from "preact/hooks";
import { Copy } from "../parts/copy.tsx";
import { Field } from "../parts/field.tsx";
import { useLoad } from "../parts/load.ts";
import { percent } from "../parts/numbers.ts";
import { Empty, Shown } from "../parts/states.tsx";
import { curlOf, typescriptOf } from "../recall/requests.ts";
import { setQuery, to, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";
import { Table } from "../parts/table.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { type Line, linesOf } from "./lines.ts";

const BUDGET = 2_000;

/** The memory of a prompt as a model would get it, and why each part is in. */
export function ContextPage({ user }: { user: string }) {
  const { memory } = useSession();
  const { query: given } = useRoute();
  const query = given.get("query") ?? "";
  const budget = Number(given.get("budget") ?? BUDGET);
  // Without a thread: a look must not keep a block that a conversation is then sent with.
  const body: ContextBody = { ...(query !== "" && { query }), budget };
  const before = useRef<ContextAnswer | null>(null);
  const last = useRef<ContextAnswer | null>(null);
  const answer = useLoad(
    async (signal) => {
      const value = await memory.context(user, { ...body, explain: true }, { signal });
      before.current = last.current;
      last.current = value;
      return value;
    },
    [user, body],
    { keep: true },
  );
  return (
    <section aria-label="Context">
      <SearchForm
        label="The user’s message"
        value={query}
        search={(text) => setQuery({ query: text })}
        action="Make"
        main
      >
        <label>
          Budget{" "}
          <Field
            type="number"
            min={100}
            max={100_000}
            step={100}
            value={budget}
            change={(field) => setQuery({ budget: field.valueAsNumber || undefined })}
          />
        </label>
      </SearchForm>
      <Shown of={answer}>
        {(value) => (
          <>
            <Budget answer={value} budget={budget} />
            <Block
              title="Stable block"
              note="first in the prompt, the same from turn to turn"
              text={value.stable.text}
            />
            <Block title="Turn’s block" note="before the user’s message" text={value.recalled.text} />
            {value.abstained && (
              <p role="status">Nothing that is stored answers the message: nothing is recalled.</p>
            )}
            <Difference before={before.current} now={value} />
            <Candidates user={user} answer={value} />
          </>
        )}
      </Shown>
      <div class="row">
        <Copy label="As curl" text={curlOf(user, "context", body)} />
        <Copy label="As TypeScript" text={typescriptOf(user, "context", body)} />
      </div>
    </section>
  );
}

/** The budget as a picture: a part for each layer, and what is free. */
function Budget({ answer: { sections, tokens }, budget }: { answer: ContextAnswer; budget: number }) {
  const used = sections.filter((section) => section.tokens > 0);
  const scale = Math.max(budget, tokens);
  return (
    <figure class="budget">
      <figcaption>
        {tokens} of {budget} tokens ({percent(tokens / budget)})
      </figcaption>
      <div
        class="parts"
        role="img"
        aria-label={used.map(({ layer, tokens: n }) => `${layer} ${n} tokens`).join(", ")}
      >
        {used.map(({ layer, tokens: n, slot }) => (
          <span
            key={`${layer} ${slot}`}
            class={`part layer-${layer}`}
            style={{ width: `${(n / scale) * 100}%` }}
          />
        ))}
      </div>
      <Table
        columns={["Layer", "Block", "Tokens", "Items", "Left out", "Status"]}
        numbers={["Tokens", "Items", "Left out"]}
      >
        {sections.map(({ layer, slot, block, tokens: n, items, dropped, status }) => (
          <tr key={`${layer} ${slot}`}>
            <td>
              <span class={`swatch layer-${layer}`} aria-hidden="true" /> {layer}
            </td>
            <td>{block}</td>
            <td class="number">{n}</td>
            <td class="number">{items}</td>
            <td class="number">{dropped}</td>
            <td>
              <span class={`chip ${status}`}>{status}</span>
            </td>
          </tr>
        ))}
      </Table>
    </figure>
  );
}

/** A block, each line in the colour of its layer. */
function Block({ title, note, text }: { title: string; note: string; text: string }) {
  return (
    <section>
      <h2>
        {title} <span class="quiet">{note}</span>
      </h2>
      {text === "" ? (
        <Empty>Empty: nothing belongs here yet.</Empty>
      ) : (
        <pre class="block" tabIndex={0}>
          {linesOf(text).map(({ layer, text: line }: Line, i) => (
            <span key={i} class={layer === null ? "line" : `line layer-${layer}`}>
              {line}
              {"\n"}
            </span>
          ))}
        </pre>
      )}
    </section>
  );
}

const whole = ({ stable, recalled }: ContextAnswer): string => `${stable.text}\n${recalled.text}`;

/** The lines in which this context differs from the one that the page made before. */
function Difference({ before, now }: { before: ContextAnswer | null; now: ContextAnswer }) {
  if (before === null || before === now) return null;
  const changes = diffLines(whole(before), whole(now));
  const isSame = before.stable.etag === now.stable.etag;
  return (
    <details>
      <summary>
        Difference from the last one: the stable block{" "}
        {isSame ? "is the same, so a cache holds" : "is another one"}
      </summary>
      <pre class="diff" tabIndex={0}>
        {changes.map(({ added, removed, value }, i) => (
          <span key={i} class={added ? "added" : removed ? "removed" : ""}>
            {added ? "+ " : removed ? "− " : "  "}
            {value}
          </span>
        ))}
      </pre>
    </details>
  );
}

const WHY = { fits: "is in", budget: "left out for the budget", known: "is in elsewhere" } as const;

/** Each candidate, and why it is in or out. */
function Candidates({ user, answer: { candidates } }: { user: string; answer: ContextAnswer }) {
  if (candidates === undefined || candidates.length === 0) return null;
  return (
    <details>
      <summary>Why is this in? {candidates.length} candidates</summary>
      <Table columns={["Layer", "Text", "Score", "So it"]} numbers={["Score"]}>
        {candidates.map(({ layer, id, text, score, why }) => (
          <tr key={`${layer} ${id}`}>
            <td>{layer}</td>
            <td>
              <a href={placeOf(user, id)}>
                <bdi>{text.slice(0, 200)}</bdi>
              </a>
            </td>
            <td class="number">{score?.toFixed(2)}</td>
            <td>{WHY[why]}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** A message's id ends with its seq; an entry's is its key, which the memories do not know. */
function placeOf(user: string, id: string): string {
  const [, thread, seq] = /^([\w-]{22}\..+):(\d+)$/.exec(id) ?? [];
  return thread === undefined
    ? to(["users", user, "memories", id])
    : to(["users", user, "threads", thread], { seq });
}
