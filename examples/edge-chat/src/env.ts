export type Env = {
  CAIRN: Fetcher;
  /** Cairn's own: tokens are signed with it. */
  CAIRN_SECRET: string;
  /** Workers AI, where there is an account. */
  AI?: Ai;
};
