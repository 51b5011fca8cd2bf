// The commands that measure and show, over next to nothing: that they work, and that they fail where something is wrong.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { run } from "../../node/run.ts";

const about = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

const rowsOf = (output: string): string[] => output.split("\n").filter((line) => line.startsWith("|"));

async function ended(script: string, args: string[], env: Record<string, string> = {}) {
  const running = run(script, args, env);
  const code = await running.ended;
  return { code, ...running.output };
}

describe("npm run soak", () => {
  const short = ["--minutes", "0.02", "--users", "1"];

  it("prints the memory of workerd, and fails over a bound", async () => {
    const over = await ended("packages/lab/bench/soak.ts", [...short, "--most", "1"]);
    expect(over).toMatchObject({ code: 1, stderr: "workerd has more than 1 MB.\n" });
    expect(over.stdout).toMatch(/^0 \| 1 \| 0 \| [1-9]\d* MB \| [1-9]/m);
  });

  it("says how it is called", async () => {
    for (const args of [
      ["--rate", "many"],
      ["--rate", "0"],
      ["--turns", "9"],
    ])
      expect(await ended("packages/lab/bench/soak.ts", args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("--minutes"),
      });
  });
});

describe("npm run smoke", () => {
  it("runs the benchmark, the evaluation and the demo", () => {
    const commands = ["bench", "eval", "demo"].map((name) => `npm run ${name} -- --smoke`);
    expect(about.scripts["smoke"]).toBe(commands.join(" && "));
  });

  it("measures every operation of the benchmark on Cairn and on its floor", async () => {
    const { code, stdout, stderr } = await ended("packages/lab/bench/main.ts", ["--smoke"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const operation of ["KV get", "append of one message", "recall among 100", "cold recall"])
      expect(stdout).toContain(`| ${operation} |`);
    expect(stdout).not.toContain("NaN");
  });

  it("counts what each call, a day and a language model cost, as docs/reference/costs.md has it", async () => {
    const { code, stdout, stderr } = await ended("packages/lab/bench/main.ts", ["--smoke", "--rows"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const costs = readFileSync(join(import.meta.dirname, "../../../docs/reference/costs.md"), "utf8");
    const figures = (line: string): number[] =>
      Array.from(line.matchAll(/\d[\d,]*(?:\.\d+)?/g), ([figure]) => Number(figure.replaceAll(",", "")));
    const named = (page: string) =>
      new Map(
        rowsOf(page).map((row): [string, string] => {
          const [, name = "", ...cells] = row.split("|");
          return [name.trim(), cells.join("|")];
        }),
      );
    const [printed, documented] = [named(stdout), named(costs)];
    expect(printed.size).toBeGreaterThan(18);
    for (const [name, cells] of printed) {
      const [found, said] = [figures(cells), figures(documented.get(name) ?? "")];
      // A row read costs a thousandth of one written: the second figure may be off by some, as more parts wake. The time at which a step
      // of an ingest ends decides if it sets an alarm of its own.
      const least = name.includes("ingested") ? 1 : 0.25;
      const most = (one: number, i: number) =>
        i === 1 ? Math.max(12, one / 20) : Math.max(least, one / 100);
      const off = found.filter((one, i) => !(Math.abs(one - (said[i] ?? NaN)) <= most(one, i)));
      expect.soft(off, `${name}: ${found.join(", ")}, and the page says ${said.join(", ")}`).toEqual([]);
    }
    for (const [day, sentence] of [
      [
        /day of a user with the model in the Worker: (.*)\./,
        /day with the model in the Worker writes (.*?)\./s,
      ],
      [/day of a user with the model of a service: (.*)\./, /day with\s+Workers AI writes (.*?):/s],
    ] as const) {
      const [found, said] = [figures(day.exec(stdout)?.[1] ?? ""), figures(sentence.exec(costs)?.[1] ?? "")];
      expect(found).toHaveLength(4);
      // "D1" has a figure, too. Pages of the index of words are merged at their own times.
      for (const [i, one] of found.entries()) expect(Math.abs(one - (said[i] ?? NaN))).toBeLessThanOrEqual(1);
    }
    const [object] = figures(/An object with one memory: .*/.exec(stdout)?.[0] ?? "");
    expect(Math.abs((object ?? NaN) * 1.024 - Number(/, and (\d+) KB/.exec(costs)?.[1]))).toBeLessThan(20);
    expect(stdout).toMatch(/takes \d\.\d\d × its text in the object/);
  });

  it("fails a benchmark that measures nothing", async () => {
    const { code, stderr } = await ended("packages/lab/bench/main.ts", ["--smoke", "--only", "nothing"]);
    expect(code).toBe(1);
    expect(stderr).toContain("no operation has 'nothing' in its name");
  });

  it("evaluates every set of the project, and facts that were asked for before", async () => {
    const { code, stdout, stderr } = await ended("packages/lab/evals/main.ts", ["--smoke"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const set of ["paraphrases", "home-cook", "moving-house", "all sets"])
      expect(stdout).toContain(`${set}: `);
    expect(stdout).toMatch(/\| Cairn \|/);
    expect(stdout).toContain("fact under twelve asks: worst rank");
  });

  it("judges what is extracted, with the recorded answers of a model and without one", async () => {
    let asked = 0;
    // Finds one fact in the messages that name a town, and nothing else. Agrees to it when it sees it again.
    const model = createServer((request, response) => void answerAs(request, response));
    const answerAs = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      asked++;
      const { messages } = JSON.parse(await text(request)) as { messages: { content: string }[] };
      const lines = messages.flatMap(({ content }) => content.split("\n"));
      const line = lines.findLast((one) => one.startsWith("{") && one.includes("I live in Ghent"));
      const { n } = JSON.parse(line ?? "{}") as { n?: number };
      const facts =
        n === undefined ? [] : [{ subject: "user", predicate: "lives in", object: "Ghent", sources: [n] }];
      const looks = [{ n: 1, object: "Ghent", says: true, subject: true, fact: true, now: true }];
      const [{ content: system } = { content: "" }] = messages;
      const content = JSON.stringify(
        system.includes('"looks"') ? { looks } : system.includes('"facts"') ? { facts } : { episodes: [] },
      );
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message: { content } }] }));
    };
    await new Promise<void>((resolve) => void model.listen(0, "127.0.0.1", resolve));
    const { port } = model.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), "cairn-answers-"));
    const args = ["--extract", "--file", "examples/support-case.json"];
    const answers = ["--answers", join(folder, "answers.json")];
    try {
      const real = { LLM_URL: `http://127.0.0.1:${port}/v1`, LLM_MODEL: "scripted" };
      const recorded = await ended("packages/lab/evals/main.ts", [...args, ...answers], real);
      expect({ code: recorded.code, stderr: recorded.stderr }).toEqual({ code: 0, stderr: "" });
      expect(recorded.stdout).toContain("Facts of scripted");
      expect(recorded.stdout).toContain("| 1 of 1 (100.0 %) |");
      expect(asked).toBeGreaterThan(0);
      // The answers of second looks are recorded too.
      expect(readFileSync(join(folder, "answers.json"), "utf8")).toContain("looks");
      asked = 0;
      const replayed = await ended("packages/lab/evals/main.ts", [...args, ...answers], {
        LLM_URL: "",
        LLM_MODEL: "",
      });
      expect(replayed.code).toBe(0);
      expect(rowsOf(replayed.stdout)).toEqual(rowsOf(recorded.stdout));
      expect(asked).toBe(0);
    } finally {
      model.close();
      rmSync(folder, { recursive: true, force: true });
    }
    const alone = await ended("packages/lab/evals/main.ts", args, { LLM_URL: "", LLM_MODEL: "" });
    expect({ code: alone.code, stderr: alone.stderr }).toEqual({ code: 0, stderr: "" });
    expect(alone.stdout).toContain("Without a model");
    expect(alone.stdout).toMatch(/\| support-case \| 12 \| [1-9]/);
  });

  it("asks a store what comes first and where nothing comes, and fails below a bound", async () => {
    const asked = ["--truth", "test/packages/lab/one-truth.json", "--verbose"];
    const bounds = ["--min-right", "0.8", "--min-kind", "0.7"];
    const { code, stdout, stderr } = await ended("packages/lab/evals/main.ts", [...asked, ...bounds]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "all: 75.0 % are right, below 80.0 %\n" });
    const all = rowsOf(stdout).find((row) => row.startsWith("| all |"));
    expect(all).toContain("| 1 | 4 | 75.0 (");
    expect(all).toMatch(/\| 1 of 2 \| 1 of 1 \| 0 of 1 \| 1 of 1 \| 1 of 1 \|$/);
    expect(stdout).toContain("update-1: Where do I keep my ticket?");
    expect(stdout).toContain("  said  I keep the ticket in my hat.");
  });

  it("fails an evaluation without a question", async () => {
    const { code, stderr } = await ended("packages/lab/evals/main.ts", [
      "--file",
      "test/packages/lab/no-question.json",
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("no-question has no question");
  });
});
