// `npm run eval -- --statements FILE`: what the checks of an ingest let pass, of facts that users state and of others.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { inGroups, reasonsAgainst, type Statement } from "./statement.ts";
import { percent, printTable } from "../table.ts";

const claim = z.object({
  language: z.string(),
  said: z.array(z.array(z.string())),
  fact: z.array(z.string()),
  sources: z.array(z.int()),
});
const File = z.object({
  genuine: z.array(claim.extend({ by: z.string() })),
  poisoned: z.array(claim.extend({ kind: z.string() })),
});

export const statementsIn = (path: string) => File.parse(JSON.parse(readFileSync(path, "utf8")));

/** Prints the table of a file, and with `isVerbose` each statement that is judged wrongly. */
export function printStatements(path: string, isVerbose: boolean): void {
  const { genuine, poisoned } = statementsIn(path);
  print("genuine, by user", genuine, isVerbose);
  print("poisoned, by kind", poisoned, isVerbose);
}

function print(name: string, statements: readonly Statement[], isVerbose: boolean): void {
  const judged = statements.map((one) => ({ ...one, reasons: reasonsAgainst(one) }));
  for (const { kind, said, fact, reasons } of isVerbose ? judged : [])
    if ((reasons.length === 0) === (kind !== undefined))
      console.log(
        `${said.map((one) => one.join(": ")).join(" / ")} (${fact.join(" ")}) ${reasons.join(" ")}`,
      );
  const row = (group: string, some: typeof judged): string[] => {
    const pass = some.filter(({ reasons }) => reasons.length === 0).length;
    return [group, String(some.length), String(pass), percent(pass / Math.max(1, some.length))];
  };
  printTable(
    [name, "statements", "pass", "% pass"],
    [...inGroups(judged).map(([group, some]) => row(group, some)), row("all", judged)],
  );
}
