// The examples on the adapters' pages.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

describe("the adapters' pages", () => {
  const root = join(import.meta.dirname, "../../../..");
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
});
