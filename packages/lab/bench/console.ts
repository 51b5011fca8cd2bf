// `npm run bench:console`: how long the console takes to show something, and to scroll through a conversation of 100,000 messages,
// beside a conversation of 100 messages and the API reference. `-- --smoke`: 2,000 messages, as CI runs it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type Cairn, cairn } from "#client/index.ts";
import { launchChromium } from "../../dev/chromium.ts";
import { developmentToken, freePort, startLocalServer } from "../../dev/local-server.ts";

const MESSAGES = process.argv.includes("--smoke") ? 2_000 : 100_000;
const FEW = 100;
const [OPENED, STEPS] = process.argv.includes("--smoke") ? [1, 20] : [5, 200];
const PER_CALL = 1_000;
const USER = "bench";

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const percentile95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;
const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

async function threadOf(memory: Cairn, length: number): Promise<string> {
  const { id } = await memory.threads.create(USER, { title: `${length} messages`, indexing: "lexical" });
  for (let from = 0; from < length; from += PER_CALL)
    await memory.threads.append(
      id,
      Array.from({ length: Math.min(PER_CALL, length - from) }, (_, i) => ({
        role: i % 2 === 0 ? "user" : "assistant",
        content: `Message ${from + i}. ${"It says a little more than this. ".repeat((from + i) % 7)}`,
      })),
    );
  return id;
}

/** The time until something of use is there, each time in a window that has loaded nothing yet. */
async function opened(open: () => Promise<Page>, address: string, wanted: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < OPENED; i++) {
    const page = await open();
    const began = performance.now();
    await page.goto(address);
    await page.locator(wanted).first().waitFor();
    times.push(performance.now() - began);
    await page.context().close();
  }
  return median(times);
}

/** Milliseconds of each frame while a thread is scrolled from its end to its beginning, and the most rows in the document. */
async function scrolled(page: Page): Promise<{ frames: number[]; rows: number }> {
  return page.evaluate(`new Promise((resolve) => {
    const scroller = document.querySelector(".scroller");
    const frames = [];
    let [step, rows, last] = [${STEPS}, 0, performance.now()];
    const frame = (now) => {
      frames.push(now - last);
      last = now;
      rows = Math.max(rows, document.querySelectorAll(".virtual-row").length);
      if (step-- === 0) return resolve({ frames: frames.slice(1), rows });
      scroller.scrollTop = (scroller.scrollHeight * step) / ${STEPS};
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })`);
}

async function main(): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), "cairn-bench-console-"));
  const server = await startLocalServer({ port: await freePort(), state });
  const browser = await launchChromium();
  try {
    const token = await developmentToken("*");
    const memory = cairn({ url: server.url, token });
    const [few, many] = [await threadOf(memory, FEW), await threadOf(memory, MESSAGES)];
    const open = async (): Promise<Page> => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
      await context.addInitScript(`sessionStorage.setItem("cairn-token", ${JSON.stringify(token)})`);
      return context.newPage();
    };
    const threadAddress = (id: string) => `${server.url}/console#/users/${USER}/threads/${id}`;
    const reference = await opened(open, `${server.url}/docs`, ".opblock");
    const short = await opened(open, threadAddress(few), ".message .text");
    const long = await opened(open, threadAddress(many), ".message .text");
    const times: { p95: number; rows: number }[] = [];
    for (const id of [few, many]) {
      const page = await open();
      await page.goto(threadAddress(id));
      await page.locator(".message .text").first().waitFor();
      const { frames, rows } = await scrolled(page);
      times.push({ p95: percentile95(frames), rows });
      await page.context().close();
    }
    const [ofFew = { p95: 0, rows: 0 }, ofMany = { p95: 0, rows: 0 }] = times;
    const count = MESSAGES.toLocaleString("en-US");
    console.log(`
                                    ${FEW} messages   ${count} messages   times
until the conversation is shown   ${ms(short).padStart(12)}${ms(long).padStart(18)}${(long / short).toFixed(2).padStart(8)}
a frame while scrolling, p95      ${ms(ofFew.p95).padStart(12)}${ms(ofMany.p95).padStart(18)}${(ofMany.p95 / ofFew.p95).toFixed(2).padStart(8)}
most rows in the document         ${String(ofFew.rows).padStart(12)}${String(ofMany.rows).padStart(18)}

The API reference is shown after ${ms(reference)}, ${(reference / long).toFixed(1)} times as long as the long conversation.`);
    if (ofMany.rows > FEW)
      throw new Error(`${ofMany.rows} rows of the long conversation were in the document at once`);
  } finally {
    await browser.close();
    await server.stop();
    rmSync(state, { recursive: true, force: true });
  }
}

await main();
