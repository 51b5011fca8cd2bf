// The resources of a tenant in the account, read and created by wrangler. The account is the only state.
import { z } from "zod";
import { Stopped } from "./stopped.ts";
import { type Answer, failure, type Secrets, type Wrangler } from "./wrangler.ts";

const Databases = z.array(
  z.object({ uuid: z.string(), name: z.string(), jurisdiction: z.string().nullish() }),
);
const Indexes = z.array(z.object({ name: z.string(), config: z.object({ dimensions: z.int() }) }));
const MetadataIndexes = z.array(z.object({ propertyName: z.string() }));
const SecretNames = z.array(z.object({ name: z.string() }));
const Mark = z.array(
  z.object({ results: z.array(z.object({ shards: z.int(), shard: z.int(), jurisdiction: z.string() })) }),
);
const Tables = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));
const Deployed = z.object({ type: z.literal("deploy"), targets: z.array(z.string()).optional() });

type Database = z.infer<typeof Databases>[number];
type Mark = z.infer<typeof Mark>[number]["results"][number];

const SECRET = "CAIRN_SECRET";

/** The account that a tenant's configuration is of: `config` is the path of that file. */
export class Account {
  readonly #wrangler: Wrangler;
  readonly #config: readonly [string, string];

  constructor(wrangler: Wrangler, config: string) {
    this.#wrangler = wrangler;
    this.#config = ["-c", config];
  }

  databases(): Promise<Database[]> {
    return this.#list(["d1", "list", "--json"], Databases);
  }

  /**
   * Makes a database, and answers its id; null where wrangler does not say it. To list all databases for it would take a
   * call of the API for every ten of them, after each one that is made.
   */
  async createDatabase(
    name: string,
    { jurisdiction, location }: { jurisdiction: string | null; location?: string | undefined },
  ): Promise<string | null> {
    const within = [
      ...(jurisdiction === null ? [] : ["--jurisdiction", jurisdiction]),
      ...(location === undefined ? [] : ["--location", location]),
    ];
    // Wrangler would write the database into the configuration by itself, in its own way.
    const { stdout } = await this.#run(["d1", "create", name, ...within, "--update-config=false"]);
    return /"?database_id"?\s*[=:]\s*"([0-9a-f-]{36})"/.exec(stdout)?.[1] ?? null;
  }

  async deleteDatabase(name: string): Promise<void> {
    await this.#run(["d1", "delete", name, "--skip-confirmation"]);
  }

  async applyMigrations(binding: string): Promise<void> {
    await this.#run(["d1", "migrations", "apply", binding, "--remote"]);
  }

  /** The tables of a database, but for those of the platform and of migrations. */
  async tablesOf(binding: string): Promise<string[]> {
    const query = "SELECT name FROM sqlite_master WHERE type = 'table'";
    const answers = await this.#list(
      ["d1", "execute", binding, "--remote", "--json", "--command", query],
      Tables,
    );
    const names = answers.flatMap(({ results }) => results.map(({ name }) => name));
    return names.filter((name) => !/^(_cf_|sqlite_|d1_migrations$)/.test(name));
  }

  /** The use of a database that the Worker recorded in it; null before its first call. */
  async markOf(binding: string): Promise<Mark | null> {
    const query = "SELECT shards, shard, jurisdiction FROM deployment";
    const answers = await this.#list(
      ["d1", "execute", binding, "--remote", "--json", "--command", query],
      Mark,
    );
    return answers[0]?.results[0] ?? null;
  }

  indexes(): Promise<z.infer<typeof Indexes>> {
    return this.#list(["vectorize", "list", "--json"], Indexes);
  }

  async createIndex(name: string, dimensions: number): Promise<void> {
    const shape = [`--dimensions=${dimensions}`, "--metric=cosine"];
    await this.#run(["vectorize", "create", name, ...shape, "--update-config=false"]);
  }

  async deleteIndex(name: string): Promise<void> {
    await this.#run(["vectorize", "delete", name, "--force"]);
  }

  async metadataIndexes(name: string): Promise<string[]> {
    const indexes = await this.#list(["vectorize", "list-metadata-index", name, "--json"], MetadataIndexes);
    return indexes.map(({ propertyName }) => propertyName);
  }

  async createMetadataIndex(name: string, property: string): Promise<void> {
    const index = [`--property-name=${property}`, "--type=string"];
    await this.#run(["vectorize", "create-metadata-index", name, ...index]);
  }

  /** Deploys, with this secret unless it is null, and answers the addresses that wrangler prints. */
  async deploy(secret: string | null): Promise<string[]> {
    const { entries } = await this.#run(["deploy"], secret === null ? null : { [SECRET]: secret });
    for (const line of entries.split("\n").filter((text) => text !== "")) {
      const deployed = Deployed.safeParse(JSON.parse(line));
      if (deployed.success) return deployed.data.targets ?? [];
    }
    return [];
  }

  /** True if the Worker has its secret; null if there is no Worker of that name. */
  async hasSecret(worker: string): Promise<boolean | null> {
    const args = ["secret", "list", "--name", worker, "--format", "json", ...this.#config];
    const answer = await this.#wrangler.ask(args);
    // Anything else that is not found (an account, a host) is a failure.
    if (!answer.ok && `${answer.stdout}${answer.stderr}`.includes(`Worker "${worker}" not found`))
      return null;
    return this.#read(args, answer, SecretNames).some(({ name }) => name === SECRET);
  }

  async deleteWorker(worker: string): Promise<void> {
    await this.#run(["delete", worker, "--force"]);
  }

  #run(args: readonly string[], secrets: Secrets | null = null): Promise<Answer> {
    return this.#wrangler.run([...args, ...this.#config], secrets);
  }

  async #list<T>(args: readonly string[], shape: z.ZodType<T>): Promise<T> {
    const all = [...args, ...this.#config];
    return this.#read(all, await this.#wrangler.ask(all), shape);
  }

  #read<T>(args: readonly string[], answer: Answer, shape: z.ZodType<T>): T {
    if (!answer.ok) throw failure(args, answer);
    try {
      return shape.parse(JSON.parse(answer.stdout));
    } catch {
      throw new Stopped(`wrangler ${args.join(" ")} answered what is not understood:\n${answer.stdout}`, 1);
    }
  }
}
