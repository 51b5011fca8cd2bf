// The commands that measure and show, over next to nothing: that they work, and that they fail where something is wrong.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run } from "./run.ts";

const about = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

async function ended(script: string, args: string[]) {
  const running = run(script, args);
  const code = await running.ended;
  return { code, ...running.output };
}

describe("npm run smoke", () => {
  it("runs the benchmark, the evaluation and the demo", () => {
    const commands = ["bench", "eval", "demo"].map((name) => `npm run ${name} -- --smoke`);
    expect(about.scripts["smoke"]).toBe(commands.join(" && "));
  });

  it("measures every operation of the benchmark on Cairn and on its floor", async () => {
    const { code, stdout, stderr } = await ended("bench/main.ts", ["--smoke"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const operation of ["KV get", "append of one message", "recall among 100", "cold recall"])
      expect(stdout).toContain(`| ${operation} |`);
    expect(stdout).not.toContain("NaN");
  }, 120_000);

  it("counts the rows that each call costs, and the bytes at rest", async () => {
    const { code, stdout, stderr } = await ended("bench/main.ts", ["--smoke", "--rows"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const written = (name: string) =>
      Number(
        stdout
          .split("\n")
          .find((row) => row.startsWith(`| ${name} |`))
          ?.split("|")[2],
      );
    for (const name of ["remember one", "append one", "put an entry"])
      expect(written(name)).toBeGreaterThan(0);
    // On a busy machine, the alarms of earlier operations may be among the counts.
    expect(written("recall among 2,000")).toBeLessThan(1);
    expect(stdout).toMatch(/takes \d\.\d\d × its text in the object/);
  });

  it("fails a benchmark that measures nothing", async () => {
    const { code, stderr } = await ended("bench/main.ts", ["--smoke", "--only", "nothing"]);
    expect(code).toBe(1);
    expect(stderr).toContain("no operation has 'nothing' in its name");
  });

  it("evaluates every set of the project, and facts that were asked for before", async () => {
    const { code, stdout, stderr } = await ended("evals/main.ts", ["--smoke"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const set of ["paraphrases", "home-cook", "moving-house", "all sets"])
      expect(stdout).toContain(`${set}: `);
    expect(stdout).toMatch(/\| Cairn \|/);
    expect(stdout).toContain("fact under twelve asks: worst rank");
  }, 300_000);

  it("fails an evaluation without a question", async () => {
    const { code, stderr } = await ended("evals/main.ts", ["--file", "test/node/no-question.json"]);
    expect(code).toBe(1);
    expect(stderr).toContain("no-question has no question");
  }, 120_000);
});
