import { withDeadline } from "../deadline.ts";
import { D1Store } from "./d1-store.ts";

/** The use of a database: see migrations/. */
type Use = { shards: number; shard: number; jurisdiction: string };
/** `marks`: an unused database is marked. Only for authenticated calls. */
export type Marking = { marks: boolean };

const ANSWER_WITHIN_MS = 5_000;
/** The time that a request waits for D1, and the pause after a failure. */
const ASK_WITHIN_MS = 1_000;
const ASK_AGAIN_MS = 5_000;

// In one batch with the read: of concurrent first users, all see the mark of one.
const MARK = `INSERT INTO deployment (one, shards, shard, jurisdiction) VALUES (1, ?1, ?2, ?3) ON CONFLICT DO NOTHING`;
const READ = "SELECT shards, shard, jurisdiction FROM deployment";

/** Checks that a database is used as it was first used. A verified use is not checked again. */
export class DeploymentMark extends D1Store {
  readonly #use: Use;
  /** `#use` as text, to compare. */
  readonly #name: string;
  readonly #bindingsProblem: string | null;
  readonly #known: WeakMap<D1Database, string>;

  /** `bindingsProblem`: why these bindings cannot be used. `known`: the uses that this isolate has verified. */
  constructor(
    database: D1Database,
    use: Use,
    { bindingsProblem, known }: { bindingsProblem: string | null; known: WeakMap<D1Database, string> },
  ) {
    super(database);
    this.#known = known;
    this.#use = use;
    this.#name = JSON.stringify(use);
    this.#bindingsProblem = bindingsProblem;
  }

  get isVerified(): boolean {
    return this.#bindingsProblem === null && this.#known.get(this.database) === this.#name;
  }

  /** The problem in words; null if there is none, or the database is unused. Rejects when D1 does not answer. */
  async problem({ marks }: Marking): Promise<string | null> {
    if (this.isVerified) return null;
    // Never marked.
    if (this.#bindingsProblem !== null) return this.#bindingsProblem;
    const use = await withDeadline(this.#firstUse(marks), ANSWER_WITHIN_MS);
    if (use === null) return null;
    const problem = differenceOf(use, this.#use);
    if (problem === null) this.#known.set(this.database, this.#name);
    return problem;
  }

  /** Rejects if the database was first used differently: data in another one would seem lost. */
  async require(marking: Marking): Promise<void> {
    const problem = await this.problem(marking);
    if (problem !== null) throw new Error(problem);
  }

  async #firstUse(marks: boolean): Promise<Use | null> {
    const use = await this.row<Use>(READ);
    return use === null && marks ? this.#mark() : use;
  }

  /** The mark of the first user, which may be another isolate. */
  async #mark(): Promise<Use> {
    const { shards, shard, jurisdiction } = this.#use;
    const statements = [this.prepare(MARK, shards, shard, jurisdiction), this.prepare(READ)];
    const [, marked] = await this.database.batch<Use>(statements);
    const [use] = marked?.results ?? [];
    if (use === undefined) throw new Error("the mark of a deployment is not there");
    return use;
  }
}

/** Checks that the bindings are those that the tenant's data were stored with. */
export class Deployment {
  readonly #marks: readonly DeploymentMark[];
  #askAgainAt = 0;

  /** The first mark is of the main database, which answers for the tenant. */
  constructor(marks: readonly DeploymentMark[]) {
    this.#marks = marks;
  }

  /** The first problem of any database, or null. Marks none. Rejects when one does not answer. */
  async problem(): Promise<string | null> {
    const problems = await Promise.all(this.#marks.map((mark) => mark.problem({ marks: false })));
    return problems.find((problem) => problem !== null) ?? null;
  }

  /**
   * Why requests are refused, or null. Also null when D1 does not answer: objects work without it, and each database is
   * checked again before its use. Returns no promise once the main database is verified.
   */
  refusal(now: number): Promise<string | null> | null {
    const [main] = this.#marks;
    return main === undefined || main.isVerified || now < this.#askAgainAt ? null : this.#ask(main, now);
  }

  async #ask(main: DeploymentMark, now: number): Promise<string | null> {
    try {
      return await withDeadline(main.problem({ marks: true }), ASK_WITHIN_MS);
    } catch (error) {
      this.#askAgainAt = now + ASK_AGAIN_MS;
      console.error({ message: "D1 does not say what it was first used as", error: String(error) });
      return null;
    }
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
