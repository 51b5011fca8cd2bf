import { withDeadline } from "../deadline.ts";

/** The use of a database: see migrations/. */
type Use = { shards: number; shard: number; jurisdiction: string };

const ANSWER_WITHIN_MS = 5_000;
// In one batch with the read: of concurrent first users, all see the mark of one.
const MARK = `INSERT INTO deployment (one, shards, shard, jurisdiction) VALUES (1, ?1, ?2, ?3) ON CONFLICT DO NOTHING`;
const READ = "SELECT shards, shard, jurisdiction FROM deployment";

/** Checks that a database is used as it was first used. A verified use is not checked again. */
export class DeploymentMark {
  readonly #database: D1Database;
  readonly #use: Use;
  /** `#use` as text, to compare. */
  readonly #name: string;
  readonly #bindingsProblem: string | null;
  readonly #known: WeakMap<D1Database, string>;

  /**
   * `bindingsProblem`: why these bindings cannot be used. `known`: the uses that this isolate has verified.
   */
  constructor(
    database: D1Database,
    use: Use,
    { bindingsProblem, known }: { bindingsProblem: string | null; known: WeakMap<D1Database, string> },
  ) {
    this.#database = database;
    this.#known = known;
    this.#use = use;
    this.#name = JSON.stringify(use);
    this.#bindingsProblem = bindingsProblem;
  }

  get isVerified(): boolean {
    return this.#bindingsProblem === null && this.#known.get(this.#database) === this.#name;
  }

  /** The problem in words; null if there is none, or the database is unused. Rejects when D1 does not answer. */
  async problem(): Promise<string | null> {
    return this.#differenceOf(() => this.#read());
  }

  /** As `problem`, and marks an unused database. Only for authenticated calls. */
  async verifyOrMark(): Promise<string | null> {
    return this.#differenceOf(async () => (await this.#read()) ?? this.#mark());
  }

  async #differenceOf(use: () => Promise<Use | null>): Promise<string | null> {
    if (this.isVerified) return null;
    // Never marked.
    if (this.#bindingsProblem !== null) return this.#bindingsProblem;
    const was = await withDeadline(use(), ANSWER_WITHIN_MS);
    if (was === null) return null;
    const problem = differenceOf(was, this.#use);
    if (problem === null) this.#known.set(this.#database, this.#name);
    return problem;
  }

  async #read(): Promise<Use | null> {
    return this.#database.prepare(READ).first<Use>();
  }

  /** The mark of the first user, which may be another isolate. */
  async #mark(): Promise<Use> {
    const { shards, shard, jurisdiction } = this.#use;
    const mark = this.#database.prepare(MARK).bind(shards, shard, jurisdiction);
    const [, marked] = await this.#database.batch<Use>([mark, this.#database.prepare(READ)]);
    const [now] = marked?.results ?? [];
    if (now === undefined) throw new Error("the mark of a deployment is not there");
    return now;
  }

  /** Rejects if the database was first used differently. An unused one is empty, and passes. */
  async requireUnchanged(): Promise<void> {
    const problem = await this.problem();
    if (problem !== null) throw new Error(problem);
  }

  /** As `requireUnchanged`, and marks an unused database. Data in another database would seem lost. */
  async requireUse(): Promise<void> {
    const problem = await this.verifyOrMark();
    if (problem !== null) throw new Error(problem);
  }
}

function differenceOf(was: Use, is: Use): string | null {
  if (was.jurisdiction !== is.jurisdiction)
    return (
      `this tenant's objects are in ${jurisdictionName(was.jurisdiction)}, and JURISDICTION names ` +
      `${jurisdictionName(is.jurisdiction)}, where there are none: set it back, or make another tenant`
    );
  if (was.shards !== is.shards)
    return (
      `this tenant's users are spread over ${was.shards} database(s), and ${is.shards} are bound: bind FACTS_0 to ` +
      "FACTS_n as before, or make another tenant"
    );
  if (was.shard !== is.shard)
    return `a database is bound as ${bindingOf(is.shard)} that was ${bindingOf(was.shard)}: bind each as before`;
  return null;
}

const jurisdictionName = (name: string): string =>
  name === "" ? "no jurisdiction" : `the jurisdiction '${name}'`;
const bindingOf = (shard: number): string => (shard === -1 ? "DB beside shards" : `shard ${shard}`);
