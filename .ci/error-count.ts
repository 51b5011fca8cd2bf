// A reporter of Vitest, for `test-run.ts`: how many errors no test caught. The report in JSON does not say it.
import { writeFileSync } from "node:fs";

export default class ErrorCount {
  onTestRunEnd(_modules: unknown, errors: readonly unknown[]): void {
    const file = process.env["CAIRN_ERROR_COUNT"];
    if (file !== undefined) writeFileSync(file, String(errors.length));
  }
}
