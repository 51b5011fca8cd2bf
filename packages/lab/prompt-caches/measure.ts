import { type Model, models } from "../models.ts";
import type { Call, Played } from "./play.ts";
import { cachedShare, commonLength, dollarsOf, PromptCache, totalOf, type Usage } from "./prompt-cache.ts";
import { CAIRN, WITHOUT } from "./ways.ts";

/** The bill of one model for prompts sent one after the other. */
export type Bill = {
  usages: readonly Usage[];
  input: number;
  /** The share of the input tokens that came from the cache. */
  cached: number;
  dollars: number;
};
/** The bills of all models for a scenario played in one way, and for the turn after something was forgotten. */
export type Result = {
  way: string;
  calls: readonly Call[];
  bills: readonly Bill[];
  afterForgetting: readonly Bill[];
};

export function resultOf(way: string, { calls, afterForgetting }: Played): Result {
  const both = models.map((model) => {
    const cache = new PromptCache(model.rules);
    const bill = (some: readonly Call[]) =>
      billOf(
        model,
        some.map((call) => cache.send(call)),
      );
    return [bill(calls), bill(afterForgetting)] as const;
  });
  return {
    way,
    calls,
    bills: both.map(([bill]) => bill),
    afterForgetting: afterForgetting.length === 0 ? [] : both.map(([, bill]) => bill),
  };
}

function billOf({ prices }: Model, usages: readonly Usage[]): Bill {
  const total = totalOf(usages);
  return { usages, input: total.input, cached: cachedShare(total), dollars: dollarsOf(total, prices) };
}

/** A way's cached share of the input tokens, as a part of that without a memory; the least of all models that cache without. */
export function relativeShare({ bills }: Result, results: readonly Result[]): number {
  const without = results.find(({ way }) => way === WITHOUT)?.bills ?? [];
  const parts = bills.map(({ cached }, i) => cached / (without[i]?.cached ?? 0));
  return Math.min(...parts.filter(Number.isFinite));
}

/** The least part of the cached share without a memory that Cairn has to keep. */
const GOAL = 0.95;
/** Every cache lives as long at least. */
const SHORTEST_LIFE_MS = Math.min(...models.map(({ rules }) => rules.lifetimeMs));

/** The sections that Cairn's prompts show at the end of a scenario: without it, they would keep a cache for no reason. */
const SHOWN = ["profile", "changes", "recalled"];

/** A sentence for each goal that Cairn misses. */
export function missed(scenario: string, results: readonly Result[]): string[] {
  const cairn = results.find(({ way }) => way === CAIRN);
  if (cairn === undefined) return [`${scenario}: Cairn was not played`];
  const share = relativeShare(cairn, results);
  const isKept = Number.isFinite(share) && share >= GOAL;
  const low = `the cached share is ${share.toFixed(3)} of that without a memory, and not ${GOAL}`;
  const last = cairn.calls.at(-1)?.text ?? "";
  const absent = SHOWN.filter((layer) => !last.includes(`<${layer}>\n`));
  return [
    ...(isKept ? [] : [low]),
    ...absent.map((layer) => `the last prompt has no ${layer}`),
    ...changedBeginnings(cairn.calls),
  ].map((sentence) => `${scenario}: ${sentence}`);
}

/** Each prompt has to begin with the one before, as long as a cache may hold that. Tells of the first that does not. */
function changedBeginnings(calls: readonly Call[]): string[] {
  const changed = calls.flatMap((call, i) => {
    const before = calls[i - 1];
    if (before === undefined || call.at - before.at > SHORTEST_LIFE_MS || call.text.startsWith(before.text))
      return [];
    const at = commonLength(before.text, call.text);
    const around = ({ text }: Call) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 80));
    return `turn ${call.turn} changes character ${at} of the prompt before: ${around(before)}, then ${around(call)}`;
  });
  return changed.slice(0, 1);
}
