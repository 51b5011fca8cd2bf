import { loginSettingsOf } from "./auth/login-settings.ts";
import type { Bindings } from "../platform/bindings.ts";
import { quotaProblems } from "../platform/quotas.ts";
import { isSecret } from "../domain/token.ts";

/** Days that the audit log goes back unless AUDIT_DAYS says otherwise. */
export const AUDIT_DAYS = 90;

/** What AUDIT_DAYS says; null where it says nothing, or no whole number from 1 to 3,650. */
export function auditDaysOf({ AUDIT_DAYS: given = "" }: Bindings): number | null {
  const days = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  return days >= 1 && days <= 3650 ? days : null;
}

/** What no browser would ever send as its origin. */
function originProblems({ CORS_ORIGINS: given = "" }: Bindings): string[] {
  const odd = given
    .split(",")
    .map((one) => one.trim().replace(/\/$/, ""))
    .filter((one) => one !== "" && one !== "*" && !isOrigin(one));
  return odd.map((one) => `CORS_ORIGINS has ${one}, which is no origin, as https://app.example is one`);
}

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

/** What is wrong with the settings, for /health. Calls go on without what such a setting is about. */
export function settingProblems(env: Bindings): string[] {
  const problems: string[] = [];
  const { CAIRN_SECRET_PREVIOUS: previous = "", AUDIT_DAYS: days = "" } = env;
  if (previous !== "" && !isSecret(previous))
    problems.push("CAIRN_SECRET_PREVIOUS is shorter than 32 bytes: no token is checked with it");
  if (days !== "" && auditDaysOf(env) === null)
    problems.push(`AUDIT_DAYS is no whole number from 1 to 3650: the audit log goes back ${AUDIT_DAYS} days`);
  problems.push(...originProblems(env), ...quotaProblems(env));
  const logins = loginSettingsOf(env).problem;
  if (logins !== undefined) problems.push(logins);
  return problems;
}
