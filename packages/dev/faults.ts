// npm run faults: 1,000 random histories of memories and 1,000 of ingests under faults, or the one of CAIRN_SEED.
import { spawnSync } from "node:child_process";

const { CAIRN_SEED, CAIRN_HISTORIES = "1000" } = process.env;
// Other histories each time.
const { CAIRN_FIRST_SEED = String(Math.floor(Math.random() * 1_000_000_000)) } = process.env;

console.log(
  CAIRN_SEED === undefined
    ? `${CAIRN_HISTORIES} histories from the seed ${CAIRN_FIRST_SEED} on`
    : `the history of the seed ${CAIRN_SEED}`,
);
const { status } = spawnSync("vitest", ["run", "--project", "faults"], {
  env: { ...process.env, CAIRN_HISTORIES, CAIRN_FIRST_SEED },
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exit(status ?? 1);
