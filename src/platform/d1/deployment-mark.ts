import { withDeadline } from "../deadline.ts";

/** What a database is used as: see migrations/. */
export type Use = { shards: number; shard: number; jurisdiction: string };

const ANSWER_WITHIN_MS = 5_000;
// In one batch with the read: of several that are the first at once, all see what one of them said.
const MARK = `INSERT INTO deployment (one, shards, shard, jurisdiction) VALUES (1, ?1, ?2, ?3) ON CONFLICT DO NOTHING`;
const READ = "SELECT shards, shard, jurisdiction FROM deployment";

/** Tells whether a database is used as it was first used; once that is known, without asking it again. */
export class DeploymentMark {
  readonly #database: D1Database;
  readonly #use: Use;
  /** The same as text, to compare with what is known. */
  readonly #name: string;
  readonly #impossible: string | null;
  readonly #known: WeakMap<D1Database, string>;

  /**
   * `impossible` says why no database can be used as things are bound; `known` is what the isolate knows of the uses of
   * databases, as all of its objects use the same ones.
   */
  constructor(
    database: D1Database,
    use: Use,
    { impossible, known }: { impossible: string | null; known: WeakMap<D1Database, string> },
  ) {
    this.#database = database;
    this.#known = known;
    this.#use = use;
    this.#name = JSON.stringify(use);
    this.#impossible = impossible;
  }

  /** Whether it is known that nothing is wrong. */
  get proven(): boolean {
    return this.#impossible === null && this.#known.get(this.#database) === this.#name;
  }

  /** What is wrong, for a person; null if nothing is, or if the database was not used yet. Rejects when D1 does not answer. */
  async problem(): Promise<string | null> {
    return this.#differenceOf(() => this.#read());
  }

  /** The same, and marks a database that was not used yet: for a call that may use it, which an anonymous one may not. */
  async settle(): Promise<string | null> {
    return this.#differenceOf(async () => (await this.#read()) ?? this.#mark());
  }

  async #differenceOf(use: () => Promise<Use | null>): Promise<string | null> {
    if (this.proven) return null;
    // Not to be noted as what the database is used as.
    if (this.#impossible !== null) return this.#impossible;
    const was = await withDeadline(use(), ANSWER_WITHIN_MS);
    if (was === null) return null;
    const problem = differenceOf(was, this.#use);
    if (problem === null) this.#known.set(this.#database, this.#name);
    return problem;
  }

  /** Almost always there: nearly every isolate only reads. */
  async #read(): Promise<Use | null> {
    return this.#database.prepare(READ).first<Use>();
  }

  /** What the database is used as, which is what the first to use it said: by then it is written down. */
  async #mark(): Promise<Use> {
    const { shards, shard, jurisdiction } = this.#use;
    const mark = this.#database.prepare(MARK).bind(shards, shard, jurisdiction);
    const [, marked] = await this.#database.batch<Use>([mark, this.#database.prepare(READ)]);
    const [now] = marked?.results ?? [];
    if (now === undefined) throw new Error("the mark of a deployment is not there");
    return now;
  }

  /** Rejects if the database is used otherwise than it was; one that was not used yet is empty. */
  async requireUnchanged(): Promise<void> {
    const problem = await this.problem();
    if (problem !== null) throw new Error(problem);
  }

  /** Marks it, and rejects unless the database is used as it was first used: what is read or written elsewhere would seem lost. */
  async requireUse(): Promise<void> {
    const problem = await this.settle();
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
