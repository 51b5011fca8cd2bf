// `npm run restore` lists what is lost first, and sets users back when it is told to.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { run } from "../../node/run.ts";

const LOST = { threads: 1, messages: 2, memoryVersions: 0, entries: 0 };
const NOTHING = { threads: 0, memories: 0 };
const AT = "2026-11-20T10:00:00Z";

/** A Cairn with alice and bob, where each restore takes two calls; that of bob fails, but for the look. Notes the calls. */
async function cairn() {
  const calls: string[] = [];
  const statuses = ["running", "done"];
  const users = { items: ["alice", "bob"].map((userId) => ({ userId, userHash: userId })) };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { url = "", method } = request;
    const body = await text(request);
    calls.push(`${method} ${url} ${body}`);
    const status = body.includes("false") && !url.includes("bob") ? statuses.shift() : "dryRun";
    response
      .writeHead(url.includes("bob") && body.includes("false") ? 400 : 200)
      .end(JSON.stringify(url.endsWith("/restore") ? { lost: LOST, back: NOTHING, status } : users));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  // It listens, so it has a port.
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function restore(url: string, ...args: string[]) {
  const { output, ended } = run("packages/cli/restore.ts", ["--url", url, "--token", "t", ...args], {});
  return { code: await ended, ...output };
}

it("only lists what is lost, unless --yes is given", async () => {
  const { calls, url } = await cairn();
  const { code, stdout } = await restore(url, "--user", "alice", "--at", AT);
  expect([code, stdout]).toEqual([
    0,
    "alice: loses 1 threads, 2 messages; gets back nothing\nNothing was changed. --yes sets 1 user back.\n",
  ]);
  expect(calls.filter((one) => one.startsWith("POST"))).toEqual([
    `POST /v1/users/alice/restore {"at":${Date.parse(AT)},"dryRun":true}`,
  ]);
});

it("sets each user back until it is done, and names those that it cannot", async () => {
  const { calls, url } = await cairn();
  const { code, stdout, stderr } = await restore(url, "--all", "--at", AT, "--yes");
  expect([code, stdout.trim().split("\n").at(-1)]).toEqual([
    1,
    "1 user set back to 2026-11-20T10:00:00.000Z.",
  ]);
  expect(stderr).toContain("/v1/users/bob/restore answered 400");
  expect(calls.filter((one) => one.includes("false") && one.includes("alice"))).toHaveLength(2);
});

it.each([
  ["no user", ["--at", AT], "Say either --all or --user."],
  ["no time", ["--user", "alice", "--at", "yesterday"], "'yesterday' is no time"],
])("refuses %s", async (_, args, reason) => {
  const { code, stderr } = await restore("http://127.0.0.1:1", ...args);
  expect([code, stderr.includes(reason)]).toEqual([2, true]);
});
