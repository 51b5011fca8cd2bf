import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const TYPES: Record<string, string> = { css: "text/css", js: "text/javascript", json: "application/json" };

/** Stands for the binding ASSETS: serves the files of a folder by their paths. */
export const assetsOf = (folder: string) => ({
  fetch: async (asked: Request | string): Promise<Response> => {
    const { pathname } = new URL(typeof asked === "string" ? asked : asked.url);
    const type = TYPES[pathname.slice(pathname.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    try {
      // A parsed path has no `..` left in it.
      const file = await readFile(join(folder, pathname));
      return new Response(file, { headers: { "Content-Type": type } });
    } catch {
      return new Response(null, { status: 404 });
    }
  },
});

/** The texts of D1's migrations, in their order. */
export const migrationsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .map((name) => readFileSync(join(folder, name), "utf8"));
