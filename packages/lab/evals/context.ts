// `npm run eval -- --context`: whether the answer is in the memory of a prompt, and nothing is recalled for small talk.
import { USUAL_LAYERS } from "#domain/context/plan.ts";
import type { Cairn } from "#client/index.ts";
import type { Told } from "./ask.ts";
import type { Question } from "./dataset.ts";
import { progress } from "./demo/terminal.ts";
import { mean } from "./metrics.ts";
import { percent, printTable } from "../table.ts";

/** The kind of a message that asks nothing, and to which something that is stored matters. */
export const STATEMENT = "statement";
/** Tokens of the memory of a prompt, and the most hits in it. */
export type PromptBounds = { budget: number; k?: number };

/** One query and what its prompt had. `held`: the share of the answer's parts; undefined for a question without an answer. */
export type Prompted = { set: string; kind: string; held?: number; tokens: number; isEmpty: boolean };

/** Gets the memory of a prompt for each query. */
export async function promptEach(
  client: Cairn,
  { user, corpus, names, within }: Told,
  queries: readonly { query: string; kind: string; relevant?: Question["relevant"] }[],
  { budget, k }: PromptBounds,
): Promise<Prompted[]> {
  const layers = USUAL_LAYERS.map((layer) =>
    layer.type === "recalled" && k !== undefined ? { ...layer, k } : layer,
  );
  const prompted: Prompted[] = [];
  const draw = progress(`prompts of ${corpus.name}`, queries.length);
  for (const { query, kind, relevant } of queries) {
    const { recalled: block, candidates = [] } = await client.context(user, {
      query,
      budget,
      layers,
      explain: true,
    });
    const shown = new Set(
      candidates
        .filter(({ why }) => why === "fits")
        .flatMap(({ id }) => within?.get(id) ?? names.get(id) ?? id),
    );
    const isHeld = (part: ReadonlySet<string>) => Number([...part].some((id) => shown.has(id)));
    prompted.push({
      set: corpus.set,
      kind,
      ...(relevant && { held: mean(relevant.map(isHeld)) }),
      tokens: block.tokens,
      isEmpty: block.text === "",
    });
    draw(prompted.length);
  }
  return prompted;
}

const held = ({ held: share = 0 }: Prompted): number => share;

/** Prints, per set, how much of the answers the prompts held, and for how many queries without an answer nothing was recalled. */
export function printPrompted(all: readonly Prompted[], budget: number): void {
  const kinds = [...new Set(all.filter((one) => one.held === undefined).map(({ kind }) => kind))];
  const row = (name: string, some: readonly Prompted[]) => {
    const answered = some.filter((one) => one.held !== undefined);
    return [
      name,
      String(answered.length),
      ...shares(answered),
      ...kinds.map((kind) => empty(some.filter((one) => one.kind === kind))),
    ];
  };
  const statements = all.filter(({ kind }) => kind === STATEMENT);
  const others = all.filter(({ kind }) => kind !== STATEMENT);
  const sets = [...new Set(all.map(({ set }) => set))];
  printTable(
    [
      `in ${budget} tokens`,
      "queries",
      "% of the answer",
      "% any of it",
      "tokens recalled",
      "% empty",
      ...kinds.map((kind) => `${kind}: % empty`),
    ],
    [
      ...sets.map((set) =>
        row(
          set,
          others.filter((one) => one.set === set),
        ),
      ),
      ...(sets.length > 1 ? [row("all sets", others)] : []),
      ...(statements.length > 0 ? [row("statements", statements)] : []),
    ],
  );
}

/** Of queries with an answer: how much of it their prompts held, in how many tokens, and how many prompts were empty. */
const shares = (some: readonly Prompted[]): string[] => [
  percent(mean(some.map(held))),
  percent(mean(some.map((one) => Number(held(one) > 0)))),
  mean(some.map(({ tokens }) => tokens)).toFixed(0),
  empty(some),
];

const empty = (some: readonly Prompted[]): string =>
  some.length === 0 ? "" : percent(mean(some.map(({ isEmpty }) => Number(isEmpty))));
