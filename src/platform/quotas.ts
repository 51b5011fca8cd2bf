/** The variables that bound what one user may hold. */
export type QuotaBindings = {
  QUOTA_ENTRIES?: string;
  QUOTA_MEMORIES?: string;
  QUOTA_THREADS?: string;
  QUOTA_BYTES?: string;
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

const NAMES = {
  entries: "QUOTA_ENTRIES",
  memories: "QUOTA_MEMORIES",
  threads: "QUOTA_THREADS",
  bytes: "QUOTA_BYTES",
} as const satisfies Record<keyof Quotas, keyof QuotaBindings>;

export const quotasOf = (env: QuotaBindings): Quotas => ({
  entries: wholeNumber(env.QUOTA_ENTRIES),
  memories: wholeNumber(env.QUOTA_MEMORIES),
  threads: wholeNumber(env.QUOTA_THREADS),
  bytes: wholeNumber(env.QUOTA_BYTES),
});

/** Quotas with a value that is no whole number. They do not apply. */
export const quotaProblems = (env: QuotaBindings): string[] =>
  Object.values(NAMES)
    .filter((name) => (env[name] ?? "") !== "" && wholeNumber(env[name]) === null)
    .map((name) => `${name} is no whole number: users have no such quota`);

const wholeNumber = (given = ""): number | null => (/^\d{1,15}$/.test(given) ? Number(given) : null);
