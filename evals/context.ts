// `npm run eval -- --context`: whether the answer is in the memory of a prompt, and nothing is recalled for small talk.
import type { Cairn } from "../client/src/index.ts";
import type { Told } from "./ask.ts";
import type { Question } from "./dataset.ts";
import { progress } from "./demo/terminal.ts";
import { mean } from "./metrics.ts";
import { percent, printTable } from "./table.ts";

/** Tokens of the memory of a prompt. */
const BUDGET = 1_000;

/** One query and what its prompt had. `held`: the share of the answer's parts; undefined for a question without an answer. */
export type Prompted = { set: string; kind: string; held?: number; tokens: number; isEmpty: boolean };

/** Gets the memory of a prompt for each query. */
export async function promptEach(
  client: Cairn,
  { user, corpus, names }: Told,
  queries: readonly { query: string; kind: string; relevant?: Question["relevant"] }[],
): Promise<Prompted[]> {
  const prompted: Prompted[] = [];
  const draw = progress(`prompts of ${corpus.name}`, queries.length);
  for (const { query, kind, relevant } of queries) {
    const { recalled, candidates = [] } = await client.context(user, {
      query,
      budget: BUDGET,
      explain: true,
    });
    const shown = new Set(
      candidates.filter(({ why }) => why === "fits").map(({ id }) => names.get(id) ?? id),
    );
    const isHeld = (part: ReadonlySet<string>) => Number([...part].some((id) => shown.has(id)));
    prompted.push({
      set: corpus.set,
      kind,
      ...(relevant && { held: mean(relevant.map(isHeld)) }),
      tokens: recalled.tokens,
      isEmpty: recalled.text === "",
    });
    draw(prompted.length);
  }
  return prompted;
}

/** Prints, per set, how much of the answers the prompts held, and for how many queries without an answer nothing was recalled. */
export function printPrompted(all: readonly Prompted[]): void {
  const kinds = [...new Set(all.filter(({ held }) => held === undefined).map(({ kind }) => kind))];
  const row = (name: string, some: readonly Prompted[]) => {
    const answerable = some.filter(({ held }) => held !== undefined);
    return [
      name,
      String(answerable.length),
      percent(mean(answerable.map(({ held = 0 }) => held))),
      percent(mean(answerable.map(({ held = 0 }) => Number(held > 0)))),
      mean(answerable.map(({ tokens }) => tokens)).toFixed(0),
      ...kinds.map((kind) => {
        const ours = some.filter((one) => one.kind === kind);
        return ours.length === 0 ? "" : percent(mean(ours.map(({ isEmpty }) => Number(isEmpty))));
      }),
    ];
  };
  const sets = [...new Set(all.map(({ set }) => set))];
  printTable(
    [
      `in ${BUDGET} tokens`,
      "questions",
      "% of the answer",
      "% any of it",
      "tokens recalled",
      ...kinds.map((kind) => `${kind}: % empty`),
    ],
    [
      ...sets.map((set) =>
        row(
          set,
          all.filter((one) => one.set === set),
        ),
      ),
      ...(sets.length > 1 ? [row("all sets", all)] : []),
    ],
  );
}
