import type { Binding } from "edgecairn";

export type Env = {
  /** The entrypoint of Cairn that wrangler.toml binds. Its props say whose memory it reaches: that of all users. */
  MEMORY: Binding;
  /** Workers AI, where there is an account. */
  AI?: Ai;
};
