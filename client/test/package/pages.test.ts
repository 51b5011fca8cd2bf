// The examples on the adapters' pages.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

describe("the adapters' pages", () => {
  const root = join(import.meta.dirname, "../../..");
  const pages = readdirSync(join(root, "docs/adapters")).filter((page) => page !== "README.md");
  const read = (file: string) => readFileSync(join(root, file), "utf8");

  it("have one line for the client, as README and examples, with the variables that npm start prints", () => {
    const files = [
      ...pages.map((page) => `docs/adapters/${page}`),
      "README.md",
      "examples/node-agent/README.md",
      "examples/node-agent/agent.js",
    ];
    let whole = 0;
    for (const file of files) {
      const text = read(file);
      expect(text, file).not.toMatch(/\$TOKEN|\bexport TOKEN|process\.env\.(TOKEN|URL)\b|`(TOKEN|URL)`/);
      for (const [, options] of text.matchAll(/cairn\((\{[^)]*process\.env[^)]*\})\)/g)) {
        whole++;
        expect(options, file).toBe(
          '{ url: process.env.CAIRN_URL ?? "", token: process.env.CAIRN_TOKEN ?? "" }',
        );
      }
    }
    // A whole example a page.
    expect(whole).toBe(pages.length);
  });

  it("have whole examples in TypeScript that a strict compiler takes", () => {
    const folder = mkdtempSync(join(tmpdir(), "cairn-pages-"));
    symlinkSync(join(root, "client/node_modules"), join(folder, "node_modules"));
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    for (const page of pages)
      for (const [, code = ""] of read(`docs/adapters/${page}`).matchAll(/```ts\n([^]*?)```/g))
        if (code.includes("process.env")) write(page.replace(".md", ".ts"), code);
    // Not among what is installed here.
    write("away.d.ts", `declare module "@ai-sdk/openai";`);
    const paths = {
      "cairn-memory": [join(root, "client/src/index.ts")],
      "cairn-memory/adapters/*": [join(root, "client/src/adapters/*.ts")],
    };
    const types = { types: ["node"], typeRoots: [join(root, "node_modules/@types")] };
    const more = { strict: true, noUnusedLocals: false, noUnusedParameters: false, ...types, paths };
    const config = { extends: join(root, "tsconfig.json"), compilerOptions: more, include: ["."] };
    write("tsconfig.json", JSON.stringify(config));
    write("package.json", `{ "type": "module" }`);
    expect(readdirSync(folder).filter((name) => /^[^.]+\.ts$/.test(name)).length).toBeGreaterThan(4);
    const tsc = join(root, "node_modules/typescript/lib/tsc.js");
    const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    rmSync(folder, { recursive: true });
    expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
  });
});
