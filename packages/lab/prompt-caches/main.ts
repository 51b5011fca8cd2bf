// `npm --prefix packages/adapters run bench`: what Cairn's context does to a provider's prompt cache and bill. docs/internals/context.md shows it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bars, plot } from "../plot.ts";
import { printTable } from "../table.ts";
import { budgetPicture } from "./budget-picture.ts";
import { type Bill, missed, relativeShare, type Result, resultOf } from "./measure.ts";
import { models } from "../models.ts";
import { play } from "./play.ts";
import { cachedShare } from "./prompt-cache.ts";
import { agentRun, chat, type Scenario } from "./scenario.ts";
import { CAIRN, ways } from "./ways.ts";

const { values: options } = parseArgs({
  // For CI: checks the goals, and draws nothing.
  options: { smoke: { type: "boolean", default: false } },
});
const docs = join(import.meta.dirname, "../../../docs/internals");

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const cents = (dollars: number): string => `${(100 * dollars).toFixed(1)} ¢`;

async function resultsOf(scenario: Scenario): Promise<Result[]> {
  const results: Result[] = [];
  for (const way of ways) results.push(resultOf(way.name, await play(scenario, way)));
  return results;
}

function print({ name }: Scenario, results: readonly Result[]): void {
  const rows = results.map((result) => [
    result.way,
    ...cellsOf(result.bills),
    relativeShare(result, results).toFixed(2),
  ]);
  const cairn = results.find(({ way }) => way === CAIRN)?.afterForgetting ?? [];
  if (cairn.length > 0) rows.push([`${CAIRN}, the turn after a fact was forgotten`, ...cellsOf(cairn), ""]);
  printTable([name, "input tokens", ...models.map((model) => model.name), "share, to no memory's"], rows);
}

const cellsOf = (bills: readonly Bill[]): string[] => [
  (bills[0]?.input ?? 0).toLocaleString("en"),
  ...bills.map(({ cached, dollars }) => `${percent(cached)}, ${cents(dollars)}`),
];

/** The cached share of each call, by the first model. */
const panelOf = (x: string, results: readonly Result[]) => ({
  x,
  y: "% of the input tokens from the cache",
  linear: true,
  lines: results.map(({ way, bills }) => ({
    name: way,
    points: (bills[0]?.usages ?? []).map((usage, i) => [i + 1, 100 * cachedShare(usage)] as const),
  })),
});

const [ofChat, ofRun] = [await resultsOf(chat), await resultsOf(agentRun)];
console.log(
  "For each model: the share of the input tokens that comes from its cache, and the bill for all of them.",
);
print(chat, ofChat);
print(agentRun, ofRun);
if (!options.smoke) {
  const groups = models.map(({ name }, i) => ({
    name,
    bars: ofChat.map(({ way, bills }) => ({ name: way, value: 100 * (bills[i]?.dollars ?? 0) })),
  }));
  const x = "input tokens of a chat of 20 turns, in US cents";
  writeFileSync(
    join(docs, "cache-bill.svg"),
    bars(groups, { x, inWords: (value) => `${value.toFixed(1)} ¢` }),
  );
  writeFileSync(
    join(docs, "cache-by-turn.svg"),
    plot([
      panelOf("turn of the chat", ofChat),
      panelOf("call of the agent run; 9: the turn after it", ofRun),
    ]),
  );
  writeFileSync(join(docs, "context-budget.svg"), budgetPicture());
}
const sentences = [...missed(chat.name, ofChat), ...missed(agentRun.name, ofRun)];
for (const sentence of sentences) console.error(sentence);
process.exitCode = sentences.length > 0 ? 1 : 0;
