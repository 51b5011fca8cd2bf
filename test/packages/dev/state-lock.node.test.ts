import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../packages/dev/local-server.ts";
import { holderOf, stateIn } from "../../../packages/dev/server-address.ts";
import { holdState } from "../../../packages/dev/state-lock.ts";
import { run, type Running } from "../../node/run.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-test-"));
let servers: Running[] = [];

afterEach(async () => {
  for (const { child } of servers) child.kill("SIGTERM");
  for (const { ended } of servers) await ended;
  servers = [];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each start of a server may take a minute on a busy machine. */
const LONG = { timeout: 300_000 };

const newState = (): string => join(mkdtempSync(join(folder, "state-")), "state");

function start(state: string, port: number): Running {
  const server = run("packages/dev/start.ts", [], { PORT: String(port), CAIRN_STATE: state });
  servers.push(server);
  return server;
}

/** Once it serves: its token of alice. */
async function tokenOf({ child, output }: Running): Promise<string> {
  for (;;) {
    const [, token] = /CAIRN_TOKEN=(\S+)\n/.exec(output.stdout) ?? [];
    if (token !== undefined) return token;
    if (child.exitCode !== null) throw new Error(`it ended: ${output.stdout}${output.stderr}`);
    await sleep(50);
  }
}

async function remember(port: number, token: string, text: string): Promise<string[]> {
  const url = `http://127.0.0.1:${port}/v1/users/alice/memories`;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  expect((await fetch(url, { method: "POST", headers, body: JSON.stringify({ text }) })).status).toBe(201);
  const { items } = (await (await fetch(url, { headers })).json()) as { items: { text: string }[] };
  return items.map((item) => item.text).toSorted();
}

type Process = { pid: number; group: number; name: string };

const processes = (): Process[] =>
  execFileSync("ps", ["-axo", "pid=,pgid=,comm="])
    .toString()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, group, name = ""]) => ({ pid: Number(pid), group: Number(group), name }));

/** Kills a process, unless it has ended meanwhile. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

it(
  "gives one state to one of two servers that start at the same moment, and tells the other where it runs",
  LONG,
  async () => {
    const state = newState();
    const ports = [await freePort(), await freePort()];
    const both = ports.map((port) => start(state, port));
    const loser = await Promise.race(both.map(async (server) => server.ended.then(() => server)));
    const winner = both.findIndex((server) => server !== loser);
    const port = ports[winner] ?? 0;
    expect(await loser.ended).toBe(1);
    expect(loser.output.stderr)
      .toMatch(`Cairn of this folder runs at http://127.0.0.1:${port} with the state ${state}.
A second one needs a state and a port of its own: CAIRN_STATE=${state}-2 PORT=`);
    const token = await tokenOf(both[winner] ?? loser);
    const texts = ["one", "two", "three"];
    for (const text of texts) await remember(port, token, text);

    // On the same port too: its state is what it may not have.
    const third = start(state, port);
    expect(await third.ended).toBe(1);
    expect(third.output.stderr).toContain(`Cairn of this folder runs at http://127.0.0.1:${port}`);
  },
);

it(
  "takes over the state of a server that was killed, and ends what that one left running",
  LONG,
  async () => {
    const state = newState();
    const port = await freePort();
    const first = start(state, port);
    await remember(port, await tokenOf(first), "before");
    first.child.kill("SIGKILL");
    await first.ended;

    const second = start(state, port);
    expect(await remember(port, await tokenOf(second), "between")).toEqual(["before", "between"]);
    // All but workerd, which serves on.
    const group = holderOf(state)?.pid;
    const left = () => processes().filter((one) => one.group === group);
    const others = left().filter(({ name }) => !name.includes("workerd"));
    // At once: who sees another one end would end the rest.
    for (const { pid } of others) kill(pid);
    second.child.kill("SIGKILL");
    await second.ended;
    expect(left().some(({ name }) => name.includes("workerd"))).toBe(true);

    const third = start(state, port);
    expect(await remember(port, await tokenOf(third), "after")).toEqual(["after", "before", "between"]);
    expect(left()).toEqual([]);
  },
);

it("leaves the server of the folder alone that a state was copied from", LONG, async () => {
  const state = newState();
  const port = await freePort();
  const token = await tokenOf(start(state, port));
  await remember(port, token, "first");
  const copy = `${state}-copy`;
  // The caches of a running server come and go.
  cpSync(state, copy, { recursive: true, filter: (path) => !/-(?:wal|shm)$/.test(path) });
  expect(holderOf(copy)).toBeNull();
  await tokenOf(start(copy, await freePort()));
  expect(await remember(port, token, "second")).toEqual(["first", "second"]);
});

it.each(["wrangler dev", "wrangler dev --persist-to /another/state"])(
  "leaves a group alone that has the number of the last keeper, but runs %s",
  async (command) => {
    const state = mkdtempSync(join(folder, "state-"));
    const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", ...command.split(" ")], {
      detached: true,
      stdio: "ignore",
    });
    onTestFinished(() => void stranger.kill("SIGKILL"));
    const last = { pid: stranger.pid, url: "http://127.0.0.1:1", state };
    writeFileSync(join(state, "server.json"), JSON.stringify(last));
    const outcome = await holdState(state, { pid: process.pid, url: "http://127.0.0.1:2", state });
    expect(outcome.held).toBe(true);
    if (outcome.held) outcome.giveBack();
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
  },
);

it("gives a folder to one of many processes that ask at once, and to another when that one was killed", async () => {
  const state = mkdtempSync(join(folder, "state-"));
  const keeper = async (n: number) => {
    const child = fork(
      join(import.meta.dirname, "../../../packages/dev/state-keeper.ts"),
      [state, `http://${n}`],
      {
        execArgv: ["--disable-warning=ExperimentalWarning"],
        detached: true,
      },
    );
    const [outcome] = (await once(child, "message")) as [{ held: boolean; holder?: { url: string } }];
    return { child, n, ...outcome };
  };
  for (let round = 0; round < 3; round++) {
    const all = await Promise.all([1, 2, 3, 4, 5, 6].map(keeper));
    const [holder, ...others] = all.filter(({ held }) => held);
    expect(others).toEqual([]);
    expect(all.filter(({ held }) => !held).map((one) => one.holder?.url)).toEqual(
      Array.from({ length: 5 }, () => `http://${holder?.n}`),
    );
    holder?.child.kill("SIGKILL");
    if (holder !== undefined) await once(holder.child, "exit");
  }
});

it.each([
  ["that cannot be made", () => "/proc/cairn/state"],
  [
    "whose lock is a folder",
    () => {
      const state = newState();
      mkdirSync(join(state, "lock"), { recursive: true });
      return state;
    },
  ],
  [
    "whose lock is another file",
    () => {
      const state = newState();
      mkdirSync(state, { recursive: true });
      writeFileSync(join(state, "lock"), "not a database, but a text that somebody put here ".repeat(20));
      return state;
    },
  ],
  [
    "in which a file has the name of the stored data's folder",
    () => {
      const state = newState();
      mkdirSync(state, { recursive: true });
      writeFileSync(join(state, "v3"), "");
      return state;
    },
  ],
])("says in a few lines that it cannot use a folder %s", LONG, async (_, folderOf) => {
  const state = folderOf();
  const { ended, output } = start(state, await freePort());
  expect(await ended).toBe(1);
  expect(output.stderr).toContain(state);
  expect(output.stderr).not.toMatch(/\n\s+at /);
  expect(output.stderr.trim().split("\n").length).toBeLessThan(4);
});

it("takes an empty CAIRN_STATE for none", () => {
  expect(stateIn({ CAIRN_STATE: "" })).toBe(stateIn({}));
  expect(stateIn({ CAIRN_STATE: "/data/state" })).toBe("/data/state");
});
