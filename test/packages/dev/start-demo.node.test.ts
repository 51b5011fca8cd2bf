// `npm start -- --demo`: what it prints, and what its examples answer to plain questions.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cairn } from "../../../packages/client/src/index.ts";
import { developmentToken, freePort } from "../../../packages/dev/local-server.ts";
import { run, type Running } from "../../node/run.ts";

/** A user, a question, and words of the fact that answers it today. */
const QUESTIONS = [
  ["home-cook", "How much may we spend on food?", "£95"],
  ["home-cook", "Which day is the veg box delivered?", "veg box comes on Tuesdays"],
  ["home-cook", "What's the date of Dad's birthday lunch?", "11 April"],
  ["home-cook", "What spice is in Gran's Welsh cakes?", "mace"],
  ["home-cook", "When will Maeve come to stay?", "21 March"],
  ["home-cook", "Which birthday cake would Dad like?", "Black Forest"],
  ["home-cook", "Do I eat coriander?", "raw coriander"],
  ["home-cook", "How many do I cook for?", "cooks for three"],
  ["coding-agent", "What port is borrowd on?", "8090"],
  ["coding-agent", "How do our members log in?", "server-side sessions"],
  ["coding-agent", "Which driver do we use for SQLite?", "modernc"],
  ["coding-agent", "How much are late fees?", "50p"],
  ["coding-agent", "What is the command to log in on the Pi?", "2202"],
  ["coding-agent", "What code does a tool get?", "five characters"],
] as const;

const state = mkdtempSync(join(tmpdir(), "cairn-test-"));
let running: Running;
let url = "";

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  running = run("packages/dev/start.ts", ["--demo"], { PORT: String(port), CAIRN_STATE: state });
  while (!running.output.stdout.includes("coding-agent: ")) {
    if (running.child.exitCode !== null)
      throw new Error(`it ended: ${running.output.stdout}${running.output.stderr}`);
    await sleep(50);
  }
});
afterAll(async () => {
  running.child.kill("SIGTERM");
  await running.ended;
  rmSync(state, { recursive: true, force: true });
});

describe("npm start -- --demo", () => {
  it("ends by three questions with their answers, and says what was so before", () => {
    const said = running.output.stdout;
    expect(said).toContain(
      "home-cook: What is our food budget?\n  The family's food budget is £95 a week.\n  Until 2026-03-01: The family's food budget is £85 a week.\n",
    );
    expect(said).toContain(
      "support-case: Where does Annika live?\n  Annika lives at Merelstraat 8 in Leuven.\n  Until 2026-02-05: Annika lives in Ghent.\n",
    );
    expect(said).toContain(
      "coding-agent: How do I log in on the Pi?\n  To log in on the Pi in the shed: ssh -p",
    );
  });

  it("answers plain questions with the fact that holds today first", async () => {
    const memory = cairn({ url, token: await developmentToken("*") });
    const missed: string[] = [];
    for (const [user, query, words] of QUESTIONS) {
      const [first] = (await memory.recall(user, { query, k: 10 })).hits;
      if (first?.kind !== "fact" || !first.text.includes(words)) missed.push(`${query} ${first?.text}`);
    }
    expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(1);
  });
});
