import { Stopped } from "./stopped.ts";

/** A resource's name has at most 63 characters (a label of DNS): `cairn-NAME-facts-99` has to fit. */
const NAME_LENGTH = 40;
const NAME = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;
/** Shard 0 of the tenant `a` is `cairn-a-facts-0`: a tenant of that name would have the same database. */
const SHARD = /-facts-[0-9]+$/;

/** The one deployment of wrangler.toml itself, by the name of its own files. No tenant can have it, for its dot. */
export const ONE = "wrangler.deploy";

/**
 * The configuration of the last run of a deployment that wrangler.toml describes whole. A later run reads the ids of its
 * databases, and nothing else: they tell another account, and let wrangler deploy to the database that was found.
 */
export const LAST = `${ONE}.last`;

export const workerOf = (name: string): string => `cairn-${name}`;
/** The name of a database by its binding, and by that of the main one. */
export const databaseOf = (main: string, binding: string): string =>
  binding === "DB" ? main : `${main}-${binding.toLowerCase().replace("_", "-")}`;

/** Refuses what the platform would refuse as the name of a Worker, a database, an index or a host, or take for another's. */
export function requireName(name: string | undefined): string {
  if (name === undefined) throw new Stopped("Which tenant? Give its name.");
  if (name.length > NAME_LENGTH || !NAME.test(name) || name.includes("--"))
    throw new Stopped(
      `'${name}' is no name for a tenant: small letters, digits and single hyphens, a letter first and no hyphen last, ` +
        `${NAME_LENGTH} characters at most.`,
    );
  if (SHARD.test(name))
    throw new Stopped(
      `'${name}' is no name for a tenant: databases of another one's shards end in -facts-N.`,
    );
  return name;
}

/** The databases of a tenant by the names of their bindings: `DB`, and with several shards one for each. */
export const bindingsOf = (shards: number): string[] => [
  "DB",
  ...(shards > 1 ? Array.from({ length: shards }, (_, shard) => `FACTS_${shard}`) : []),
];
