// `npm run doctor` says what is wrong with a deployment, and what to do.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { run } from "../../node/run.ts";

const HEALTH = {
  status: "ok",
  embedder: { model: "static2-en-256", dimensions: 256 },
  languageModel: null,
  vectorIndex: "object",
};
type Served = {
  health?: object | string;
  reindex?: [status: number, body: object];
  date?: string;
  docs?: number;
};

/** A deployment that answers so. */
async function deployment({
  health = HEALTH,
  reindex = [200, { status: "none" }],
  date,
  docs = 200,
}: Served) {
  const server = createServer(({ url = "" }, response) => {
    const [status, body] = url === "/v1/reindex" ? reindex : [url === "/docs" ? docs : 200, health];
    if (date !== undefined) response.setHeader("Date", date);
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  // It listens, so it has a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function doctor(url: string, args: string[] = []) {
  const { output, ended } = run("packages/cli/doctor.ts", ["--url", url, ...args], { CAIRN_TOKEN: "" });
  return { code: await ended, ...output };
}

it("finds nothing to do where all is well", async () => {
  const { code, stdout } = await doctor(await deployment({}), ["--token", "t"]);
  expect([code, stdout.includes("FIX ")]).toEqual([0, false]);
  expect(stdout).toContain("ok    embedder: static2-en-256, vectors in the object");
  expect(stdout).toContain("ok    cron: rebuild of the indexes: none");
});

it.each<[string, Served, RegExp]>([
  [
    "a secret that is not set",
    {
      health: {
        ...HEALTH,
        status: "unavailable",
        problems: ["CAIRN_SECRET is not set, or shorter than 32 bytes"],
      },
    },
    /FIX {3}health: CAIRN_SECRET is not set.*\n {6}Make one, keep its file, .*wrangler secret put CAIRN_SECRET/,
  ],
  [
    "a clock that is wrong",
    { date: "Thu, 01 Jan 2026 00:00:00 GMT" },
    /FIX {3}clock: \d+ s behind the one here/,
  ],
  ["assets that are missing", { docs: 404 }, /FIX {3}API reference: \/docs is 404\n {6}Deploy again/],
  ["a token of another secret", { reindex: [401, {}] }, /FIX {3}token: refused\n.*this deployment's secret/],
  ["a token that is no administrator's", { reindex: [403, {}] }, /FIX {3}token: taken\n.*scope admin/],
  [
    "a cron that does not ring",
    { reindex: [200, { status: "running", startedAt: 0 }] },
    /FIX {3}cron: a rebuild .*\n {6}See that the Worker has its cron trigger/,
  ],
])("says what to do about %s", async (_, served, says) => {
  const { code, stdout } = await doctor(await deployment(served), ["--token", "t"]);
  expect(stdout).toMatch(says);
  expect(code).toBe(1);
});

it("prints its findings as JSON", async () => {
  const problems = ["AUDIT_DAYS is not a whole number from 1 to 3650: the audit log keeps 365 days"];
  const url = await deployment({ health: { ...HEALTH, status: "degraded", problems } });
  const { code, stdout } = await doctor(url, ["--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    healthy: false,
    findings: expect.arrayContaining([
      { check: "health", found: problems[0], todo: expect.stringContaining("docs/reference/settings.md") },
    ]),
  });
});

it("ends with 2 where no Cairn answers", async () => {
  const other = await doctor(await deployment({ health: "<html>hello" }));
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining("but not as a Cairn does: 200 <html>"),
  ]);
  const nobody = await doctor("http://127.0.0.1:9");
  expect([nobody.code, nobody.stderr]).toEqual([
    2,
    expect.stringContaining("No answer from http://127.0.0.1:9"),
  ]);
  expect((await doctor("ftp://x")).code).toBe(2);
});
