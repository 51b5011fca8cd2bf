// Each build of this repository serves all parts beside the code, wherever it is deployed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { expect, it } from "vitest";
import { z } from "zod";
import { renderTenant } from "../../scripts/tenant/config.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const Build = z.looseObject({
  build: z.object({ command: z.string() }).optional(),
  assets: z.object({ directory: z.string(), binding: z.string() }).optional(),
});
const Config = Build.extend({ env: z.record(z.string(), Build).default({}) });

const base = read("wrangler.toml");
/** As docs/deploy.md says to uncomment it. */
const byHand = Config.parse(parse(base.replaceAll(/^#\| ?/gm, "")));
const tenant = Config.parse(
  parse(
    renderTenant(
      {
        name: "acme",
        jurisdiction: null,
        shards: 1,
        model: "static-en-256",
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
const callOf = (command = ""): string[] => command.replace("node scripts/assets.ts ", "").split(" ");

it.each([
  ["npm start and the tests", byHand],
  // An environment has what is above it, unless it says otherwise.
  ...Object.entries(byHand.env).map(([name, own]): [string, typeof own] => [
    `a deployment by hand (${name})`,
    { ...byHand, ...own },
  ]),
  ["npm run tenant", tenant],
])("the build of %s has all parts, in the folder that it serves", (_, { build, assets }) => {
  const [folder, ...parts] = callOf(build?.command);
  expect(parts.toSorted()).toEqual(["console", "docs", "minilm", "model", "tokenizer"]);
  expect(assets?.binding).toBe("ASSETS");
  expect(assets?.directory.replace("../", "")).toBe(folder);
});

it("the environment for a deployment by hand is among them", () => {
  expect(Object.keys(byHand.env)).toEqual(["production"]);
});

it.each([
  ["vitest.config.ts", ["console", "docs", "minilm", "model", "tokenizer"]],
  // minilm-l6 is made on the machine that deploys.
  ["client/scripts/build.ts", ["console", "docs", "model", "tokenizer"]],
])("%s assembles the parts", (file, parts) => {
  const [, call = ""] = /scripts\/assets\.ts"\)?,([^\])]+)[\])]/.exec(read(file)) ?? [];
  const words = [...call.matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word);
  expect(words.slice(1).toSorted()).toEqual(parts);
});
