// `npm run bench -- --binding`: the CPU of a call over a service binding, by the client and by the binding's own methods, and of
// the same call over HTTP.
import { join } from "node:path";
import { printTable } from "../table.ts";
import { startCaller } from "./servers.ts";
import { median } from "./summary.ts";

const CALLS = ["get", "set", "recall", "remember"] as const;
type Call = (typeof CALLS)[number];
const WAYS = ["http", "binding", "methods"] as const;
type Over = (typeof WAYS)[number];

const names: Record<Call, string> = {
  get: "get an entry",
  set: "set an entry",
  recall: "recall among 100",
  remember: "remember one",
};
/** Calls of a round. */
const times: Record<Call, number> = { get: 1_000, set: 500, recall: 200, remember: 100 };
/** The most CPU that a call over the binding may take of that over HTTP. */
const goals: Partial<Record<Call, number>> = { get: 0.75, set: 0.75, recall: 0.85 };

const props = { users: ["*"], scopes: ["read", "write", "cache"] };

/** Microseconds of CPU per call, of both Workers and the objects together. */
type Round = Record<Over, number>;

export async function measureBinding({
  smoke,
  rounds: count,
  only = "",
}: {
  smoke: boolean;
  rounds: number;
  only?: string;
}): Promise<void> {
  const server = await startCaller(join(import.meta.dirname, "binding-worker.ts"), props);
  try {
    const run = async (call: Call, over: Over, n: number): Promise<number> => {
      const before = server.cpu();
      const answer = await fetch(new URL(`/?call=${call}&over=${over}&times=${n}`, server.url));
      const text = await answer.text();
      if (text !== "done") throw new Error(`${call} over ${over}: ${answer.status} ${text}`);
      return (((server.cpu() ?? 0) - (before ?? 0)) * 1000) / n;
    };
    await run("remember", "http", smoke ? 5 : 100);
    await run("set", "http", 100);
    const rows = [];
    for (const call of CALLS.filter((one) => names[one].includes(only))) {
      const n = smoke ? 3 : times[call];
      const rounds: Round[] = [];
      // The first only warms up. They take turns in who begins.
      for (let i = 0; i <= count; i++) {
        const order = i % 2 === 0 ? WAYS : WAYS.toReversed();
        const round: Round = { http: 0, binding: 0, methods: 0 };
        // oxlint-disable-next-line no-await-in-loop -- one measurement after another
        for (const over of order) round[over] = await run(call, over, n);
        if (i > 0) rounds.push(round);
      }
      const of = (over: Over) => median(rounds.map((round) => round[over])).toFixed(0);
      const ratioOf = (over: Over) => median(rounds.map((round) => round[over] / round.http)).toFixed(2);
      const goal = goals[call];
      rows.push([
        names[call],
        ...WAYS.map(of),
        ratioOf("binding"),
        ratioOf("methods"),
        goal === undefined ? "" : `at most ${goal}`,
      ]);
    }
    printTable(
      ["call", "µs of CPU over HTTP", "by the client", "by methods", "client ratio", "methods ratio", "goal"],
      rows,
    );
  } finally {
    await server.stop();
  }
}
