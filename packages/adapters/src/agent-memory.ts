// Cloudflare's Agent Memory binding over Cairn.
import type { Cairn } from "../../client/src/cairn.ts";
import type { OptionNames } from "../../client/src/known-options.ts";
import { CairnProfile, type Synthesize } from "./agent-memory/profile.ts";
import type { AgentMemoryNamespace } from "./agent-memory/types.ts";
import { limited, limitMethods, type TimeLimit } from "./limits/time-limit.ts";
import { requireMemory } from "./options/require-options.ts";

export type * from "./agent-memory/types.ts";
export type { Synthesize } from "./agent-memory/profile.ts";

export type AgentMemoryOptions = TimeLimit & {
  memory: Cairn;
  /** Before each profile's name in the id of its user; none unless set. Use one where several namespaces share a Cairn. */
  prefix?: string;
  /** Writes the answer of a recall. Without it, the answer lists the best candidates. */
  synthesize?: Synthesize;
};

const OPTIONS: OptionNames<AgentMemoryOptions> = {
  memory: true,
  prefix: true,
  synthesize: true,
  timeoutMs: true,
};
const METHODS = [
  "get",
  "delete",
  "remember",
  "ingest",
  "getSummary",
  "recall",
  "list",
  "deleteSession",
] as const;
/** Characters of a profile's name, as in Agent Memory. */
const NAME = 100;

/**
 * An Agent Memory namespace over Cairn, in place of the binding `env.MEMORY`. A profile is the memory of the user of its name.
 * Throws a `TypeError` if the client is missing or an option is unknown.
 *
 * @example
 * const MEMORY = agentMemory({ memory: cairn({ fetch: env.CAIRN, token }) });
 * const profile = await MEMORY.getProfile("alice");
 */
export function agentMemory(options: AgentMemoryOptions): AgentMemoryNamespace {
  requireMemory("agentMemory", options, OPTIONS);
  const { prefix = "", synthesize } = options;
  const memory = limited(options.memory, options);
  const userOf = (method: string, name: string): string => {
    if (typeof name !== "string" || name === "" || name.length > NAME)
      throw new TypeError(`${method}: the name of a profile has 1 to ${NAME} characters`);
    return prefix + name;
  };
  return {
    async getProfile(name) {
      const user = userOf("getProfile", name);
      const copy = (own: Cairn) => new CairnProfile({ memory: own, user, synthesize });
      return limitMethods(copy(memory), METHODS, options, copy, CairnProfile.prototype);
    },
    async deleteProfile(name) {
      await memory.erasures.user(userOf("deleteProfile", name));
    },
  };
}
