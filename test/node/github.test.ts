// The files that GitHub reads: that what they name is there. GitHub alone can run them.
import { accessSync, constants, existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { places, version, versionIn } from "../../packages/dev/versions.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const manifest = z
  .object({
    scripts: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
    engines: z.object({ node: z.string() }),
  })
  .parse(JSON.parse(read("package.json")));

const Step = z.strictObject({
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  run: z.string().optional(),
});
const Workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: z.record(z.string(), z.enum(["read", "write"])),
  concurrency: z.unknown().optional(),
  jobs: z.record(
    z.string(),
    z.strictObject({
      name: z.string(),
      if: z.string().optional(),
      "runs-on": z.literal("ubuntu-latest"),
      "timeout-minutes": z.number(),
      permissions: z.record(z.string(), z.enum(["read", "write"])).optional(),
      environment: z.literal("github-pages").optional(),
      strategy: z
        .strictObject({ "fail-fast": z.boolean(), matrix: z.record(z.string(), z.array(z.unknown())) })
        .optional(),
      steps: z.array(Step),
    }),
  ),
});

const files = globSync(".github/workflows/*.yml", { cwd: root }).toSorted();
const workflows = files.map((file) => ({ file, ...Workflow.parse(parse(read(file))) }));
const jobs = workflows.flatMap(({ file, jobs: some }) =>
  Object.entries(some).map(([name, job]) => ({ job: `${file} ${name}`, ...job })),
);
const steps = jobs.flatMap(({ job, steps: some }) => some.map((step) => ({ job, ...step })));

/** Why a command cannot run, if its script, its file or its tests are not there. */
function missingOf(command: string): string | null {
  const [program = "", ...args] = command.split(" ");
  const [, folder = "."] = /^npm (?:--prefix (\S+) )?ci$/.exec(command) ?? [null, null];
  if (folder !== null) return existsSync(join(root, folder, "package-lock.json")) ? null : "no lock";
  if (/^npm install --no-save --package-lock=false \S+@\d+\.\d+\.\d+$/.test(command)) return null;
  if (program === "npm") {
    const name = args[0] === "run" ? args[1] : args[0];
    return name !== undefined && name in manifest.scripts ? null : `no script ${name}`;
  }
  if (command.startsWith("npx vitest run --project ")) {
    const missing = args.slice(4).filter((file) => !existsSync(join(root, file)));
    return missing.length === 0 && args.length > 4 ? null : `no test ${missing.join()}`;
  }
  if (args.length > 0) return "an unknown kind of command";
  accessSync(join(root, program), constants.X_OK);
  return null;
}

it("run only what is there", () => {
  const commands = steps.flatMap(({ run = [] }) => run);
  commands.push(
    ...steps.flatMap(({ with: more = {} }) =>
      [more["version-script"], more["publish-script"]].filter(
        (script): script is string => typeof script === "string",
      ),
    ),
  );
  expect(commands).toContain(".ci/run");
  expect(commands).toContain("npm run release");
  expect(commands.map((command) => [command, missingOf(command)]).filter(([, missing]) => missing)).toEqual(
    [],
  );
  expect(missingOf("npm run no-such-script")).toBe("no script no-such-script");
});

it("use actions of a version, and no more rights than their jobs name", () => {
  const actions = steps.flatMap(({ uses = [] }) => uses);
  expect(actions.filter((action) => !/^[\w-]+\/[\w-]+(?:\/[\w-]+)?@v\d+$/.test(action))).toEqual([]);
  expect(workflows.filter(({ permissions }) => Object.values(permissions).includes("write"))).toEqual([]);
  // What a pull request of a stranger starts may write nothing but findings.
  const writing = jobs.filter(({ permissions = {} }) => Object.values(permissions).includes("write"));
  expect(writing.map(({ job }) => job)).toEqual([
    ".github/workflows/codeql.yml analyze",
    ".github/workflows/release.yml release",
    ".github/workflows/site.yml publish",
  ]);
  for (const publishing of ["Release", "Site"])
    expect(workflows.find(({ name }) => name === publishing)?.on).toEqual({ push: { branches: ["main"] } });
  expect(workflows.every(({ on }) => !("pull_request_target" in on))).toBe(true);
  // A secret in a workflow is one that leaks.
  expect(files.filter((file) => read(file).includes("secrets."))).toEqual([]);
});

it("begin with the Node that is developed with, and with each that is supported", () => {
  const developed = manifest.devDependencies.node?.replace("^", "");
  expect(read(".nvmrc").trim()).toBe(developed);
  const matrix = jobs.find(({ job }) => job.endsWith("ci.yml node"))?.strategy?.matrix.node ?? [];
  const [, oldest] = /^>=(\d+)/.exec(manifest.engines.node) ?? [];
  expect(matrix.map(String)).toEqual([oldest, "22", developed]);
});

it("update each folder of dependencies, and the actions", () => {
  const Update = z.object({
    "package-ecosystem": z.string(),
    directory: z.string().optional(),
    directories: z.array(z.string()).optional(),
  });
  const { updates } = z.object({ updates: z.array(Update) }).parse(parse(read(".github/dependabot.yml")));
  const foldersOf = (ecosystem: string) =>
    updates
      .filter((one) => one["package-ecosystem"] === ecosystem)
      .flatMap(({ directory = [], directories = [] }) => [...directories, directory].flat())
      .toSorted();
  const locks = globSync(
    ["package-lock.json", "packages/*/package-lock.json", "packages/*/*/package-lock.json"],
    {
      cwd: root,
      exclude: ["**/node_modules/**"],
    },
  );
  const folders = locks.map((file) => (dirname(file) === "." ? "/" : `/${dirname(file)}`));
  expect(foldersOf("npm")).toEqual(folders.toSorted());
  expect(foldersOf("github-actions")).toEqual(["/"]);
});

describe("a form", () => {
  const Field = z.strictObject({
    type: z.enum(["textarea", "input", "dropdown"]),
    id: z.string().regex(/^[\w-]+$/),
    attributes: z.strictObject({
      label: z.string().min(1),
      description: z.string().optional(),
      placeholder: z.string().optional(),
      options: z.array(z.string()).min(1).optional(),
    }),
    validations: z.strictObject({ required: z.boolean() }).optional(),
  });
  const Form = z.strictObject({
    name: z.string(),
    description: z.string(),
    labels: z.array(z.string()),
    body: z.array(Field).min(1),
  });
  const forms = globSync(".github/ISSUE_TEMPLATE/*.yml", { cwd: root }).filter(
    (file) => !file.endsWith("config.yml"),
  );

  it.each(forms)("has fields with names and options: %s", (file) => {
    const { body } = Form.parse(parse(read(file)));
    const ids = body.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { type, attributes } of body)
      expect(attributes.options !== undefined).toBe(type === "dropdown");
  });

  it("of a pull request names commands that there are", () => {
    const named = [...read(".github/pull_request_template.md").matchAll(/`(npm [^`]+)`/g)];
    expect(named.length).toBeGreaterThan(1);
    expect(named.map(([, command = ""]) => missingOf(command)).filter((missing) => missing !== null)).toEqual(
      [],
    );
  });
});

it("AGENTS.md and the page of releases name commands, files and tests that there are", () => {
  for (const page of ["AGENTS.md", "docs/internals/release.md", ".changeset/README.md"]) {
    const text = read(page);
    const commands = [...text.matchAll(/`((?:npm|npx vitest) [^`]+)`/g)].map(([, command = ""]) => command);
    const missing = commands
      .filter((command) => command !== "npm run" && !command.includes("&&"))
      .map((command) => [command, missingOf(command)])
      .filter(([, why]) => why !== null);
    expect(missing, page).toEqual([]);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) => link);
    expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
  }
});

describe("the version", () => {
  it("is one in every package, lock and client", () => {
    expect(places().length).toBeGreaterThan(3);
    expect(places().map((place) => [place.file, versionIn(place)])).toEqual(
      places().map(({ file }) => [file, version()]),
    );
  });

  it("is set by one version of changesets", () => {
    const named = ["package.json", ".github/workflows/release.yml", "docs/internals/release.md"].flatMap(
      (file) => [...read(file).matchAll(/@changesets\/cli@([\d.]+)/g)].map(([, number]) => number),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(new Set(named).size).toBe(1);
  });
});
