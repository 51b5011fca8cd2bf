/** The variables that bound what one user may hold. */
export type QuotaBindings = {
  QUOTA_ENTRIES?: string;
  QUOTA_MEMORIES?: string;
  QUOTA_THREADS?: string;
  QUOTA_BYTES?: string;
  QUOTA_MODEL_CALLS?: string;
  QUOTA_MODEL_TOKENS?: string;
  QUOTA_TENANT_MODEL_CALLS?: string;
  QUOTA_TENANT_MODEL_TOKENS?: string;
};

/** The most that one user may store; null: no limit. */
export type Quotas = {
  entries: number | null;
  /** Memories; all versions of one count once. */
  memories: number | null;
  threads: number | null;
  /** Bytes of the user's object: entries, threads, messages, memories and their search index. */
  bytes: number | null;
};

/** The most calls, and tokens, of the language model in a day (UTC), for one user or for all; null: no limit. */
export type ModelQuota = { calls: number | null; tokens: number | null };

/** A day of a busy user: about 50 windows of 40 messages, with facts and episodes. It bounds the bill where nobody set a quota. */
const MODEL_CALLS = 100;
const MODEL_TOKENS = 500_000;
/** A day of all users: 2 to 6 dollars of the model that docs/reference/ingest.md recommends. */
const TENANT_MODEL_CALLS = 10_000;
const TENANT_MODEL_TOKENS = 20_000_000;

/** `none` for no limit. */
export const modelQuotaOf = (env: QuotaBindings): ModelQuota => ({
  calls: quotaOr(env.QUOTA_MODEL_CALLS, MODEL_CALLS),
  tokens: quotaOr(env.QUOTA_MODEL_TOKENS, MODEL_TOKENS),
});

/** The same of all users together. */
export const tenantModelQuotaOf = (env: QuotaBindings): ModelQuota => ({
  calls: quotaOr(env.QUOTA_TENANT_MODEL_CALLS, TENANT_MODEL_CALLS),
  tokens: quotaOr(env.QUOTA_TENANT_MODEL_TOKENS, TENANT_MODEL_TOKENS),
});

const quotaOr = (given: string | undefined, otherwise: number): number | null =>
  given === "none" ? null : (wholeNumber(given) ?? otherwise);

const NAMES = {
  entries: "QUOTA_ENTRIES",
  memories: "QUOTA_MEMORIES",
  threads: "QUOTA_THREADS",
  bytes: "QUOTA_BYTES",
} as const satisfies Record<keyof Quotas, keyof QuotaBindings>;

const MODEL_NAMES = [
  "QUOTA_MODEL_CALLS",
  "QUOTA_MODEL_TOKENS",
  "QUOTA_TENANT_MODEL_CALLS",
  "QUOTA_TENANT_MODEL_TOKENS",
] as const;

export const quotasOf = (env: QuotaBindings): Quotas => ({
  entries: wholeNumber(env.QUOTA_ENTRIES),
  memories: wholeNumber(env.QUOTA_MEMORIES),
  threads: wholeNumber(env.QUOTA_THREADS),
  bytes: wholeNumber(env.QUOTA_BYTES),
});

/** Quotas with a value that is no whole number. They do not apply. */
export const quotaProblems = (env: QuotaBindings): string[] => [
  ...Object.values(NAMES)
    .filter((name) => isWrong(env[name]))
    .map((name) => `${name} is no whole number: users have no such quota`),
  ...MODEL_NAMES.filter((name) => env[name] !== "none" && isWrong(env[name])).map(
    (name) => `${name} is neither a whole number nor none: the default holds`,
  ),
];

const isWrong = (given = ""): boolean => given !== "" && wholeNumber(given) === null;

const wholeNumber = (given = ""): number | null => (/^\d{1,15}$/.test(given) ? Number(given) : null);
