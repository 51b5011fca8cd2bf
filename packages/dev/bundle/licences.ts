import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The licences of the packages in these folders, as they ask to be handed on with their code. */
export function licencesOf(folders: Iterable<string>): string {
  const texts = [...folders].toSorted().map((folder) => {
    // The fields that npm demands of a package.
    const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      name: string;
      version: string;
      license?: string;
    };
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    const text =
      file === undefined
        ? `License: ${about.license ?? "unknown"}\n`
        : readFileSync(join(folder, file), "utf8");
    return `${about.name} ${about.version}\n\n${text.trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
