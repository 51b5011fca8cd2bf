// The order of the test files. Vitest begins with the largest; the slowest of these are small, and one that began last would run alone.
import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, in a browser or with servers of their own. */
const SLOWEST: ReadonlySet<string> = new Set([
  "hostile.browser.test.ts",
  "large-values.long.test.ts",
  "package.test.ts",
  "pages.browser.test.ts",
  "pages.test.ts",
  "smoke.node.test.ts",
]);

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- no array: the order of the base class
    const sorted = await super.sort(files);
    // Files of one project stay together.
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    const place = ({ project, moduleId }: TestSpecification): number =>
      2 * projects.indexOf(project.name) + (SLOWEST.has(basename(moduleId)) ? 0 : 1);
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}
