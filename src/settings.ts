import { isSecret } from "./auth/signing-keys.ts";
import type { Bindings } from "./bindings.ts";

/** What is wrong with the settings, for /health. Calls go on without what such a setting is about. */
export function settingProblems(env: Bindings): string[] {
  const problems: string[] = [];
  const { CAIRN_SECRET_PREVIOUS: previous = "" } = env;
  if (previous !== "" && !isSecret(previous))
    problems.push("CAIRN_SECRET_PREVIOUS is shorter than 32 bytes: no token is checked with it");
  return problems;
}
