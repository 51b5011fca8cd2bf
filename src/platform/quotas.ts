/** The variables that bound what one user may hold. */
export type QuotaBindings = {
  QUOTA_ENTRIES?: string;
  QUOTA_MEMORIES?: string;
  QUOTA_THREADS?: string;
  QUOTA_BYTES?: string;
};

/** What one user may hold; null: as much as there is room for. */
export type Quotas = {
  entries: number | null;
  /** Memories with all their versions counted once. */
  memories: number | null;
  threads: number | null;
  /** All that the user's object stores: entries, threads, messages, memories and their search index. */
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

/** The quotas that are set to what is no whole number, and so are none. */
export const quotaProblems = (env: QuotaBindings): string[] =>
  Object.values(NAMES)
    .filter((name) => (env[name] ?? "") !== "" && wholeNumber(env[name]) === null)
    .map((name) => `${name} is no whole number: users have no such quota`);

const wholeNumber = (given = ""): number | null => (/^\d{1,15}$/.test(given) ? Number(given) : null);
