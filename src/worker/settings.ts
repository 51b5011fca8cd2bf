import { loginSettingsOf, signInSettingsOf } from "./auth/login-settings.ts";
import type { Bindings } from "../platform/bindings.ts";
import { quotaProblems } from "../platform/quotas.ts";
import { daysOf, QUARANTINE_DAYS } from "../platform/whole-days.ts";
import { tracesProblem } from "../platform/traces/traces-from-bindings.ts";
import { webhookProblem } from "../platform/webhooks/webhook-from-bindings.ts";
import { isSecret } from "../domain/token.ts";

/** The default of AUDIT_DAYS. */
export const AUDIT_DAYS = 90;

export const auditDaysOf = (env: Bindings): number | null => daysOf(env.AUDIT_DAYS);

/** `cookie`: a reload may keep the session. */
export type ConsoleSettings = { issuer?: string; cookie?: true };
/** The console's demands on its users; null if it is off. */
export function consoleOf(env: Bindings): ConsoleSettings | null {
  const { CONSOLE: mode = "", CONSOLE_COOKIE: keeps = "" } = env;
  const cookie = keeps === "on" && { cookie: true as const };
  if (mode === "") return { ...cookie };
  const { settings: logins } = loginSettingsOf(env);
  // A setting that is wrong must not open what somebody meant to close.
  return mode === "logins" && logins != null ? { issuer: logins.issuer, ...cookie } : null;
}

/** Origins have no slash at the end, though people write one. */
export const originsOf = ({ CORS_ORIGINS: list = "" }: Bindings): string[] =>
  list.split(",").flatMap((one) => one.trim().replace(/\/$/, "") || []);

/** Finds origins that no browser ever sends. */
const originProblems = (env: Bindings): string[] =>
  originsOf(env)
    .filter((one) => one !== "*" && !isOrigin(one))
    .map((one) => `CORS_ORIGINS has ${one}, which is not an origin such as https://app.example`);

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

/** The platform's counters by caller, by user, and of registered apps by address; null where none is bound. */
export type RateLimits = Record<"caller" | "user" | "register", RateLimit | null>;

/** The counters of calls: none where they are off, or not bound. */
export function rateLimitsOf(env: Bindings): RateLimits {
  const { CALLER_RATE: caller = null, USER_RATE: user = null, REGISTER_RATE: register = null } = env;
  return env.RATES === "off" ? { caller: null, user: null, register: null } : { caller, user, register };
}

/** Wrong settings, for /health. Calls go on without them. */
export function settingProblems(env: Bindings): string[] {
  return [
    ...daysProblems(env),
    ...originProblems(env),
    ...quotaProblems(env),
    loginSettingsOf(env).problem,
    signInSettingsOf(env).problem,
    ...switchProblems(env),
    webhookProblem(env),
    tracesProblem(env),
  ].filter((problem) => typeof problem === "string");
}

type Checks = readonly (readonly [isWrong: boolean, problem: string])[];
const problemsIn = (checks: Checks): string[] =>
  checks.flatMap(([isWrong, problem]) => (isWrong ? problem : []));

function daysProblems(env: Bindings): string[] {
  const { CAIRN_SECRET_PREVIOUS: previous = "", AUDIT_DAYS: days = "", QUARANTINE_DAYS: wait = "" } = env;
  return problemsIn([
    [
      previous !== "" && !isSecret(previous),
      "CAIRN_SECRET_PREVIOUS is shorter than 32 bytes, so it is not used",
    ],
    [
      days !== "" && auditDaysOf(env) === null,
      `AUDIT_DAYS is not a whole number from 1 to 3650: the audit log keeps ${AUDIT_DAYS} days`,
    ],
    [
      wait !== "" && daysOf(wait) === null,
      `QUARANTINE_DAYS is not a whole number from 1 to 3650: memories wait ${QUARANTINE_DAYS} days in quarantine`,
    ],
  ]);
}

function switchProblems(env: Bindings): string[] {
  const { CONSOLE: page = "", CONSOLE_COOKIE: cookie = "", RATES: rates = "" } = env;
  return problemsIn([
    [!["", "off"].includes(rates), `RATES is ${rates}: it is off, or not set. Calls are counted`],
    [
      !["", "off", "logins"].includes(page),
      `CONSOLE is ${page}: it is off or logins, or not set. The console is off`,
    ],
    [
      !["", "on"].includes(cookie),
      `CONSOLE_COOKIE is ${cookie}: it is on, or not set. A reload of the console forgets the session`,
    ],
    [
      page === "logins" && consoleOf(env) === null,
      "CONSOLE is logins, and no identity provider is set: the console is off",
    ],
  ]);
}
