// A tenant's configuration, made of the base `wrangler.toml` and of what is its own. TOML is parsed, never patched.
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { parse, stringify, type TomlTable } from "smol-toml";
import { z } from "zod";
import { knownModel, modelsInWorker, staticModel, workersAiModels } from "#platform/embeddings/models.ts";
import { isJurisdiction, type Jurisdiction, jurisdictions } from "#platform/jurisdiction.ts";
import { additionsOf, merged, placesOf } from "./additions.ts";
import { bindingsOf, databaseOf, ONE, workerOf } from "./names.ts";
import { Stopped } from "./stopped.ts";

export type Tenant = {
  /** `ONE`, or that of `npm run tenant`. */
  name: string;
  worker: string;
  /** The name of the main database. */
  database: string;
  jurisdiction: Jurisdiction | null;
  /** Over how many databases the users are spread. */
  shards: number;
  /** The embedding model: of Workers AI, one in the Worker, or of the endpoint that `vars` name. */
  model: string;
  /** The name of its Vectorize index; null: every vector is searched in its user's object. */
  index: string | null;
  /** The ids of its databases by their bindings, as far as they exist. */
  databases: ReadonlyMap<string, string>;
  /** Its own variables: what the base has, and the two that are made here, may be among them. */
  vars: Readonly<Record<string, string>>;
  /** The rest of its file, beside all of this and the base, at any depth: an account, routes, rates, a destination of logs. */
  more: TomlTable;
};

export const isInWorker = (model: string): boolean => modelsInWorker.some(({ name }) => name === model);

// The settings that are read here; all others pass as they are.
const Base = z.looseObject({
  name: z.string(),
  main: z.string(),
  alias: z.record(z.string(), z.string()),
  build: z.looseObject({ watch_dir: z.array(z.string()).optional() }),
  assets: z.looseObject({ directory: z.string() }),
  vars: z.record(z.string(), z.string()).default({}),
  d1_databases: z.tuple([
    z.looseObject({ binding: z.literal("DB"), database_name: z.string(), migrations_dir: z.string() }),
  ]),
});
const Own = z.looseObject({
  name: z.string(),
  vars: z.record(z.string(), z.string()).default({}),
  d1_databases: z.array(
    z.object({ binding: z.string(), database_name: z.string(), database_id: z.string().optional() }),
  ),
  vectorize: z.array(z.object({ binding: z.string(), index_name: z.string() })).default([]),
});

/** The tenant that a file of ours describes. `path` is for messages. */
export function readTenant(
  name: string,
  { text, base, path }: { text: string; base: string; path: string },
): Tenant {
  const table = tableOf(text, path);
  const own = shaped(Own, table, path);
  const { name: worker, database } = namesOf(name, base);
  if (own.name !== worker)
    throw new Stopped(`${path} is of the Worker '${own.name}', and not of '${worker}'.`);
  const { JURISDICTION: jurisdiction = "", EMBEDDINGS_MODEL: model = staticModel.name } = own.vars;
  if (jurisdiction !== "" && !isJurisdiction(jurisdiction))
    throw new Stopped(`${path}: JURISDICTION is one of ${jurisdictions.join(", ")}.`);
  const shards = Math.max(1, own.d1_databases.length - 1);
  const bindings = own.d1_databases.map(({ binding }) => binding).toSorted();
  if (bindings.join() !== bindingsOf(shards).toSorted().join())
    throw new Stopped(`${path}: d1_databases are DB and, for N shards, FACTS_0 to FACTS_(N-1).`);
  const tenant: Tenant = {
    name,
    worker,
    database,
    jurisdiction: jurisdiction === "" ? null : jurisdiction,
    shards,
    model,
    index: own.vectorize.find(({ binding }) => binding === "VECTORIZE")?.index_name ?? null,
    databases: new Map(
      own.d1_databases.flatMap(({ binding, database_id: id }) => (id === undefined ? [] : [[binding, id]])),
    ),
    vars: own.vars,
    more: {},
  };
  return { ...tenant, more: additionsOf(table, madeOf(tenant, base)) ?? {} };
}

/** The names of its Worker and its main database: those of a tenant follow from its own. */
export function namesOf(name: string, base: string): { name: string; database: string } {
  if (name !== ONE) return { name: workerOf(name), database: workerOf(name) };
  const {
    name: worker,
    d1_databases: [main],
  } = shaped(Base, tableOf(base, "wrangler.toml"), "wrangler.toml");
  return { name: worker, database: main.database_name };
}

/** True if wrangler.toml itself says all of the one deployment: then it needs no file of its own. */
export const isAsBase = (tenant: Tenant, base: string): boolean =>
  tenant.name === ONE &&
  isDeepStrictEqual(
    merged(madeOf({ ...tenant, databases: new Map() }, base), tenant.more),
    madeOf(baseTenant(base), base),
  );

/** The one deployment as wrangler.toml says it. */
export function baseTenant(base: string): Tenant {
  const { databases: _, ...tenant } = readTenant(ONE, { text: base, base, path: "wrangler.toml" });
  return { ...tenant, databases: new Map() };
}

/** The tenant's file, from the base: the same for the same tenant, byte for byte. Paths start in `tenants/`; commands run at the root. */
export function renderTenant(tenant: Tenant, base: string): string {
  const made = {
    ...madeOf(tenant, base),
    ...(tenant.name !== ONE && tenant.more.ratelimits === undefined && { ratelimits: ratesOf(tenant.name) }),
  };
  return `${headerOf(tenant.name)}\n${stringify(merged(made, tenant.more))}`;
}

/** The places of what the tenant's file has beside the base. */
export const additionsTo = (tenant: Tenant, base: string): string[] =>
  placesOf(tenant.more, madeOf(tenant, base)).filter((place) => place !== "ratelimits");

/** The variables that the tenant's file sets otherwise than wrangler.toml, but for those of options that it does not set. */
export function variablesOver({ vars, model }: Tenant, base: string): string[] {
  const { vars: ofBase } = shaped(Base, tableOf(base, "wrangler.toml"), "wrangler.toml");
  const { JURISDICTION: _, EMBEDDINGS_MODEL: __, ...others } = vars;
  const own: Record<string, string> =
    "EMBEDDINGS_MODEL" in ofBase ? { ...others, EMBEDDINGS_MODEL: model } : others;
  return Object.keys(own).filter((name) => own[name] !== ofBase[name]);
}

const namesModel = ({ EMBEDDINGS_MODEL: model = "" }: Readonly<Record<string, unknown>>): boolean =>
  model !== "";

/** All but what is the file's alone, and its rates, of which the file may have none. */
function madeOf(tenant: Tenant, base: string): TomlTable {
  const table = tableOf(base, "wrangler.toml");
  const {
    main,
    alias,
    build,
    assets,
    vars,
    d1_databases: [main1],
  } = shaped(Base, table, "wrangler.toml");
  const { watch_dir: watched } = build;
  const isOne = tenant.name === ONE;
  // A tenant counts in namespaces of its own.
  const { ratelimits: _, ...others } = table;
  const rest = isOne ? table : others;
  // A tenant's file is in a folder of its own.
  const up = isOne ? "" : "../";
  return {
    ...rest,
    name: tenant.worker,
    main: `${up}${main}`,
    alias: Object.fromEntries(Object.entries(alias).map(([name, path]) => [name, `${up}${path}`])),
    build: {
      ...build,
      ...(watched !== undefined && { watch_dir: watched.map((folder) => `${up}${folder}`) }),
    },
    assets: { ...assets, directory: `${up}${assets.directory}` },
    vars: {
      ...vars,
      ...tenant.vars,
      // Where a variable names a model, the default one must be named too.
      ...((!isOne || tenant.model !== staticModel.name || namesModel({ ...vars, ...tenant.vars })) && {
        EMBEDDINGS_MODEL: tenant.model,
      }),
      ...(tenant.jurisdiction !== null && { JURISDICTION: tenant.jurisdiction }),
    },
    d1_databases: bindingsOf(tenant.shards).map((binding) => {
      const id = tenant.databases.get(binding);
      return {
        binding,
        database_name: databaseOf(tenant.database, binding),
        ...(id !== undefined && { database_id: id }),
        migrations_dir: `${up}${main1.migrations_dir}`,
      };
    }),
    ...(tenant.index !== null && { vectorize: [{ binding: "VECTORIZE", index_name: tenant.index }] }),
  };
}

/**
 * Most calls in a time: of one token's user, for one user's memory, and of registrations by an address. What the tenant's file says
 * instead stays.
 */
const RATES = {
  CALLER_RATE: { limit: 300, period: 10 },
  USER_RATE: { limit: 1000, period: 10 },
  REGISTER_RATE: { limit: 30, period: 60 },
};

/** Namespaces that no other tenant of the account counts in: numbers of 30 bits, out of the tenant's name. */
function ratesOf(tenant: string) {
  const first = createHash("sha256").update(tenant).digest().readUInt32BE() & 0x3fff_fffc;
  return Object.entries(RATES).map(([name, simple], i) => ({
    name,
    namespace_id: String(first + 1 + i),
    simple,
  }));
}

const headerOf = (name: string): string =>
  name === ONE
    ? `# Made of wrangler.toml by the flags of \`npm run deploy\`, which deploys this from now on, with or without them. What you add stays,
# as in a tenant's file (docs/guides/tenants.md). Deleted, the next deployment is as wrangler.toml says.
`
    : `# The tenant ${name}. Made of ../wrangler.toml by \`npm run tenant\`, and made anew by \`npm run tenant -- upgrade ${name}\`:
# then \`vars\`, the names and ids here, and all that the base has not, in any table and list, stay as they are here. A value that the
# base has is as in the base, and comments go. The number of FACTS databases and JURISDICTION never change.
`;

/** The dimensions of the tenant's embedder. */
export function dimensionsOf({ model, vars }: Pick<Tenant, "model" | "vars">): number {
  const known = [...modelsInWorker, ...workersAiModels].find(({ name }) => name === model)?.dimensions;
  const dimensions = vars.EMBEDDINGS_URL
    ? Number(vars.EMBEDDINGS_DIMENSIONS) || knownModel(model).dimensions
    : known;
  if (dimensions !== undefined) return dimensions;
  if (vars.EMBEDDINGS_URL)
    throw new Stopped(`Set EMBEDDINGS_DIMENSIONS: how many '${model}' has is not known here.`);
  const names = [...modelsInWorker, ...workersAiModels].map(({ name }) => name).join("\n  ");
  throw new Stopped(`'${model}' is no model that is known. Without EMBEDDINGS_URL it is one of:\n  ${names}`);
}

function tableOf(text: string, path: string): TomlTable {
  try {
    return parse(text);
  } catch (error) {
    throw new Stopped(`${path} is no TOML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function shaped<T>(shape: z.ZodType<T>, table: TomlTable, path: string): T {
  const read = shape.safeParse(table);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Stopped(`${path}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not as expected"}`);
}
