// Each build of this repository serves all parts beside the code, wherever it is deployed.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { expect, it } from "vitest";
import { z } from "zod";
import { renderTenant } from "../../packages/tenant/config.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const Build = z.looseObject({
  build: z.object({ command: z.string() }).optional(),
  assets: z.object({ directory: z.string(), binding: z.string() }).optional(),
});

const base = read("wrangler.toml");
const tenant = Build.parse(
  parse(
    renderTenant(
      {
        name: "acme",
        worker: "cairn-acme",
        database: "cairn-acme",
        jurisdiction: null,
        shards: 1,
        model: "static2-en-256",
        index: null,
        databases: new Map(),
        vars: {},
        more: {},
      },
      base,
    ),
  ),
);

/** The arguments of the script: a folder, then the parts. */
const callOf = (command = ""): string[] => command.replace("node packages/dev/assets.ts ", "").split(" ");

it.each([
  ["npm start, the tests and npm run deploy", Build.parse(parse(base))],
  ["npm run tenant", tenant],
])("the build of %s has all parts, in the folder that it serves", (_, { build, assets }) => {
  const [folder, ...parts] = callOf(build?.command);
  expect(parts.toSorted()).toEqual(["console", "docs", "model", "tokenizer"]);
  expect(assets?.binding).toBe("ASSETS");
  expect(assets?.directory.replace("../", "")).toBe(folder);
});

it("is one configuration, with nothing commented out and no id of an account in it", () => {
  const settings = base.split("\n").filter((line) => /^#[| ]*(\[|\w+ = )/.test(line));
  expect(settings).toEqual([]);
  expect(base).not.toMatch(/_id = "(?!\d{4}")/);
  expect(parse(base)).toMatchObject({ ai: { binding: "AI" }, d1_databases: [{ database_name: "cairn" }] });
  expect(parse(base)).not.toHaveProperty("env");
});

it("takes away the files of a former model", () => {
  const out = `build/assets-of-a-test-${process.pid}`;
  const model = join(root, out, "model");
  try {
    mkdirSync(join(model, "former-en-256"), { recursive: true });
    writeFileSync(join(model, "o200k_base.json"), "{}");
    execFileSync(process.execPath, ["packages/dev/assets.ts", out, "model"], { cwd: root });
    expect(readdirSync(model).toSorted()).toEqual([
      "mini-en-256",
      "o200k_base.json",
      "static2-en-256",
      "vocab.txt",
    ]);
  } finally {
    rmSync(join(root, out), { recursive: true });
  }
});

it.each([
  ["vitest.config.ts", ["console", "docs", "model", "tokenizer"]],
  ["packages/embed/scripts/build.ts", ["console", "docs", "model", "tokenizer"]],
])("%s assembles the parts", (file, parts) => {
  const [, call = ""] = /packages\/dev\/assets\.ts"\)?,([^\])]+)[\])]/.exec(read(file)) ?? [];
  const words = [...call.matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word);
  expect(words.slice(1).toSorted()).toEqual(parts);
});
