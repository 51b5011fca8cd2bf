// The code that readers copy compiles as it stands, against the types that are published and each version of its SDK.
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type CodeBlock, codeBlocks } from "./code-blocks.ts";

const adapters = join(import.meta.dirname, "../..");
const root = join(adapters, "../..");
const folder = mkdtempSync(join(tmpdir(), "cairn-code-blocks-"));
// The package beside the SDKs, as an install puts it.
const client = join(folder, "edgecairn");
cpSync(join(root, "packages/client/dist"), client, { recursive: true });
symlinkSync(join(adapters, "node_modules"), join(folder, "node_modules"));
afterAll(() => rmSync(folder, { recursive: true }));

const blocks = globSync(["README.md", "packages/*/README.md", "docs/**/*.md", "examples/*/README.md"], {
  cwd: root,
})
  .toSorted()
  .flatMap(codeBlocks);

/** Modules that are not installed here. */
const AWAY = ["@ai-sdk/openai", "@getzep/zep-cloud"];

/** What every page has: a client, and the user whose memory it is. */
const NAMES = `
declare const memory: import("edgecairn").Cairn;
declare const user: string;
${AWAY.map((name) => `declare module "${name}";`).join("\n")}
`;

const installed = (name: string) => ({
  [name]: [join(adapters, "node_modules", name)],
  [`${name}/*`]: [join(adapters, "node_modules", name, "*")],
});
const published = {
  edgecairn: [join(client, "client/index.d.ts")],
  "edgecairn/binding": [join(client, "client/entrypoint.d.ts")],
  "edgecairn/adapters/*": [join(client, "adapters/*.d.ts")],
  "@edgecairn/embed/*": [join(root, "packages/embed/dist/*.d.ts")],
  ...Object.fromEntries(
    ["hono", "jose", "standardwebhooks"].map((name) => [name, [join(root, "node_modules", name)]]),
  ),
};

/** The compiler's complaints about these blocks; `paths`: where modules are, if they are not those that are installed. */
function problemsOf(
  some: readonly CodeBlock[],
  paths: Record<string, string[]> = {},
  tsc = join(root, "node_modules/typescript/lib/tsc.js"),
): string {
  const project = mkdtempSync(join(folder, "project-"));
  symlinkSync(join(adapters, "node_modules"), join(project, "node_modules"));
  return ["ts", "js"]
    .map((language) => {
      const programs = some.filter(
        (block) => block.language.startsWith(language) && block.language !== "json",
      );
      if (programs.length === 0) return "";
      const source = join(project, language);
      mkdirSync(source);
      for (const { name, language: kind, text } of programs)
        writeFileSync(join(source, `${name}.${kind}`), text);
      writeFileSync(join(source, "names.d.ts"), NAMES);
      const compilerOptions = {
        target: "es2024",
        module: "preserve",
        moduleDetection: "force",
        lib: ["es2024", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
        jsx: "preserve",
        types: ["node"],
        typeRoots: [join(root, "node_modules/@types")],
        // A page in JavaScript has no types of its own.
        strict: language === "ts",
        checkJs: true,
        skipLibCheck: true,
        noEmit: true,
        paths: { ...published, ...paths },
      };
      writeFileSync(join(source, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["."] }));
      const { status, error, stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", "."], {
        cwd: source,
        encoding: "utf8",
      });
      // A compiler that is killed, or that is missing for this platform, complains about nothing.
      return status === 0 && error === undefined ? stdout : `tsc ends with ${status}: ${stdout}${stderr}`;
    })
    .join("");
}

/** Versions other than those that are installed under the SDK's name. */
const others = [
  ["ai", 5, installed("ai5")],
  ["ai", 6, installed("ai6")],
  ["keyv", 6, installed("keyv6")],
] as const;

const uses = (sdk: string) => {
  const own = new RegExp(`"(?:${sdk}(?:/[^"]*)?|edgecairn/adapters/${sdk}[^"]*)"`);
  return ({ text }: CodeBlock) => own.test(text);
};

describe("the code blocks of the documents", () => {
  it("compile with the newest SDKs", () => {
    expect(blocks.length).toBeGreaterThan(30);
    expect(problemsOf(blocks)).toBe("");
  });

  it.each(others)("compile with %s %i where they use it", (sdk, version, paths) => {
    const some = blocks
      .filter(uses(sdk))
      .filter(({ only }) => only === undefined || only === `${sdk} ${version}`);
    expect(some).not.toEqual([]);
    const moved = Object.fromEntries(
      Object.entries(paths).map(([name, path]) => [name.replace(`${sdk}${version}`, sdk), path]),
    );
    expect(problemsOf(some, moved)).toBe("");
  });

  it.each([
    ["ts", 'const day: number = await memory.user("anna").recall({ query: "tea" });'],
    ["js", "memory.nowhere();"],
  ])("do not compile where they are wrong, in %s", (language, text) => {
    const block = { name: "wrong", language, only: undefined, text };
    expect(problemsOf([block])).toMatch(/^tsc ends with \d: wrong\.\w+\(1,\d+\): error TS\d+/);
  });

  it("are not taken for right where the compiler does not run", () => {
    const block = { name: "right", language: "ts", only: undefined, text: "export {};" };
    expect(problemsOf([block], {}, join(folder, "nowhere.js"))).toContain("tsc ends with 1");
  });

  it("are JSON where they say so, but for what they leave out", () => {
    const whole = blocks.filter(({ language, text }) => language === "json" && !text.includes("…"));
    expect(whole).not.toEqual([]);
    for (const { name, text } of whole) expect(() => JSON.parse(text) as unknown, name).not.toThrow();
  });
});
