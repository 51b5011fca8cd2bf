// The files of the site that programs read. CI builds the pages, and a dead link fails there.
import { posix } from "node:path";
import { expect, it } from "vitest";
import { addressOf, pages, parts } from "../../../packages/site/.vitepress/pages.ts";
import { texts } from "../../../packages/site/.vitepress/texts.ts";

const linksOf = (text: string): string[] =>
  Array.from(text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link);

it("links from each text to another text, or to an address", async () => {
  const files = texts();
  const dead: string[] = [];
  for (const [file, make] of files) {
    // It has the texts of all pages, in another folder.
    if (file === "llms-full.txt" || file === "openapi.json") continue;
    const relative = linksOf(await make()).filter((link) => !/^(?:https?:|#)/.test(link));
    const missing = relative.filter(
      (link) => !files.has(posix.join(posix.dirname(file), link.replace(/#.*/, ""))),
    );
    dead.push(...missing.map((link) => `${file}: ${link}`));
  }
  expect(dead).toEqual([]);
  expect(await files.get("adapters/index.md")?.()).toContain("](ai-sdk.md)");
  expect(await files.get("reference/openapi.md")?.()).toContain(
    "](https://github.com/edgecairn/cairn/blob/main/packages/python/README.md)",
  );
});

it("has every page in the text of all, once and in the order of the list", async () => {
  const full = String(await texts().get("llms-full.txt")?.());
  const addresses = Array.from(full.matchAll(/^<!-- (\/\S*) -->$/gm), ([, address]) => address);
  expect(addresses.length).toBe(pages().length);
  expect(new Set(addresses).size).toBe(pages().length);
  // The names that a code block is compiled with are for no reader.
  expect(full).not.toContain("<!-- names");
});

it("has the routes of this Cairn in its OpenAPI document", async () => {
  const document: { openapi: string; paths: object } = JSON.parse(
    String(await texts().get("openapi.json")?.()),
  );
  expect(document.openapi).toMatch(/^3\.1/);
  expect(Object.keys(document.paths)).toContain("/v1/users/{user}/recall");
});

it("navigates by the parts of docs/README.md, and to the pages of the adapters by their titles", () => {
  expect(parts().map(({ text }) => text)).toEqual(["Start", "Guides", "Adapters", "Reference", "Internals"]);
  const items = parts().flatMap((part) => part.items);
  const inside = items.map(({ link }) => link).filter((link) => !link.startsWith("https://github.com/"));
  // The index itself is the first page.
  expect(["/", ...inside].toSorted()).toEqual(pages().map(addressOf).toSorted());
  expect(items).toContainEqual({ text: "Keyv", link: "/adapters/keyv" });
  expect(items).toContainEqual({ text: "OpenAPI", link: "/reference/openapi" });
});
