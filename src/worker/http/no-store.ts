/** For what no cache on the way is to keep. */
export const NO_STORE = { "Cache-Control": "no-store" } as const;
