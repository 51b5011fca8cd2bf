/** The codes of Workers AI for it, by its documentation and as it answers; its words are the same. */
const USED_UP = /\b(?:3036|4006)(?=:)|daily free allocation/i;

/** True if the account's free neurons of the day are used up: until 0:00 UTC, Workers AI refuses each call. */
export const isFreeAllocationUsedUp = (error: unknown): boolean => USED_UP.test(String(error));
