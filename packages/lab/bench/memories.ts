import type { Call, Client } from "./load.ts";
import type { Operation } from "./operations.ts";

const BATCH = 500;
const PAGE = 50;
/** Users who write at the same time: one user's writes are done one after another. */
const WRITERS = 16;
/** Memories of each of many users. */
const OF_MANY = 20;
/** Rows that one statement fills in. */
const SLICE = 100_000;

const post = (path: string, body: object, status: number): Call => ({
  method: "POST",
  path,
  body: JSON.stringify(body),
  status,
});
const text = (i: number): string =>
  `Note ${i}: the ferry to the island leaves at ${i % 24} o'clock, seats go fast.`;
const memoriesOf = (user: string): string => `/v1/users/${user}/memories`;

const holds = (count: number) => (answer: string) =>
  (JSON.parse(answer) as { items: unknown[] }).items.length === count;

let written = 0;
/** Texts that no call had before: the same text would be the same memory. */
const next = (): { text: string } => ({ text: text(written++) });

export type Sizes = {
  /** Memories of others in D1. */
  memories: number;
  /** Memories of a user who recalls. */
  recall: readonly number[];
  /** Memories of each of so many users whose objects are evicted. */
  cold: readonly (readonly [memories: number, users: number])[];
  /** Users with a few memories each. */
  users: number;
};

/** Fills one server's D1 with the memories of others, and answers the operations on memories. */
export async function prepareMemories(
  client: Client,
  { memories: others, recall, cold, users }: Sizes,
): Promise<Operation[]> {
  await fill(client, others);
  for (const size of recall) await tell(client, `recaller-${size}`, size);
  for (const [size, count] of cold)
    // One more, who is not measured.
    for (let i = 0; i <= count; i++) await tell(client, `recaller-cold-${size}-${i}`, size);
  await tellMany(client, users);
  const most = Math.max(...recall);
  await tell(client, "tagged", most);
  const threadId = await tellThread(client, `recaller-${most}`);
  await client.call(
    post(`${memoriesOf("lister")}/batch`, { memories: Array.from({ length: 200 }, next) }, 200),
  );
  return [
    {
      name: "remember one",
      next: (i) => post(memoriesOf(`writer-${i % WRITERS}`), next(), 201),
      check: (answer) => answer.startsWith("{"),
      settles: true,
    },
    {
      name: `remember ${BATCH}`,
      next: (i) =>
        post(
          `${memoriesOf(`batcher-${i % WRITERS}`)}/batch`,
          { memories: Array.from({ length: BATCH }, next) },
          200,
        ),
      check: holds(BATCH),
      settles: true,
    },
    ...recall.map((size) => ({
      name: `recall among ${size.toLocaleString("en-US")}`,
      next: (i: number) => recallOf(`recaller-${size}`, i),
      check: finds,
    })),
    ...recall.map((size) => ({
      name: `recall among ${size.toLocaleString("en-US")}, with an unknown name`,
      next: (i: number) =>
        recallOf(`recaller-${size}`, i, { query: `${sentence(i * 7 + 3, 6)} ${nameOf(i)}` }),
      check: finds,
      flatAgainst: `recall among ${size.toLocaleString("en-US")}`,
    })),
    // The floor searches only.
    ...recall.map((size) => ({
      name: `context among ${size.toLocaleString("en-US")}`,
      next: (i: number) =>
        post(`/v1/users/recaller-${size}/context`, { query: sentence(i * 7 + 3, 6), answerable: "off" }, 200),
      check: remembers,
      flatAgainst: `recall among ${size.toLocaleString("en-US")}`,
    })),
    ...Object.entries(narrow(threadId)).map(([how, condition]) => ({
      name: `recall among ${most.toLocaleString("en-US")}, ${how}`,
      next: (i: number) => recallOf(`recaller-${most}`, i, condition),
      check: finds,
      flatAgainst: `recall among ${most.toLocaleString("en-US")}`,
    })),
    ...cold.map(([size, count]) => ({
      name: `cold recall among ${size.toLocaleString("en-US")}`,
      next: (i: number) => recallOf(`recaller-cold-${size}-${i}`, i),
      check: finds,
      cold: count,
    })),
    {
      name: `list ${FEW} memories by tag among ${most.toLocaleString("en-US")}`,
      next: () => ({
        method: "GET",
        path: `${memoriesOf("tagged")}?limit=${FEW}&tag=rare`,
        status: 200,
      }),
      check: holds(Math.min(FEW, most)),
    },
    ...recall.map((size) => againstHop(client, size)),
    {
      name: `recall by ${users.toLocaleString("en-US")} users in turn`,
      next: (i) => recallOf(`recaller-of-many-${(i * 7919) % users}`, i),
      check: finds,
    },
    {
      name: `list ${PAGE} memories among ${others.toLocaleString("en-US")} of others`,
      next: () => ({ method: "GET", path: `${memoriesOf("lister")}?limit=${PAGE}`, status: 200 }),
      check: holds(PAGE),
    },
  ];
}

/** Words of a made-up language of two syllables: some are in one text of ten, most in one of hundreds. */
const SYLLABLES = "ka lo mi tur ben sa rof del wun pix gra hol nem vid tos lam".split(" ");
export function sentence(seed: number, words: number): string {
  let state = seed;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const word = () => {
    // Small numbers more often than large ones.
    const i = Math.floor(below(1000) ** 2 / 1000);
    return `${SYLLABLES[i % 16]}${SYLLABLES[Math.floor(i / 16) % 16]}${SYLLABLES[Math.floor(i / 256) % 16]}`;
  };
  return Array.from({ length: words }, word).join(" ");
}

/** A name that no memory has and no model knows. Each comes up again, as in a conversation. */
const NAMES = "Zoltan Okonkwo Thorvald Brzezinski Ximenes Sorensen Kowalczyk Ngozi Eszter Siobhan".split(" ");
const nameOf = (i: number): string => NAMES[i % NAMES.length] ?? "";

const recallOf = (user: string, i: number, condition: object = {}): Call =>
  post(`/v1/users/${user}/recall`, { query: sentence(i * 7 + 3, 6), ...condition }, 200);

/** Memories that a narrowed recall may find. */
const FEW = 20;
/** What a recall is narrowed by. The floor does not narrow. */
const narrow = (threadId: string) => ({
  "by a tag": { tags: ["rare"] },
  "by a scope": { scope: "rare" },
  "by a rare kind": { kinds: ["reflection"] },
  "by kinds that exclude none": { kinds: ["fact", "episode", "procedure", "reflection", "message"] },
  "in a thread": { threadId },
});

type Blocks = { stable: { tokens: number }; recalled: { tokens: number } };
/** The floor answers hits in place of blocks. */
function remembers(answer: string): boolean {
  const { stable, recalled } = JSON.parse(answer) as Partial<Blocks>;
  return stable === undefined ? finds(answer) : stable.tokens > 0 && (recalled?.tokens ?? 0) > 0;
}

const finds = (answer: string) => (JSON.parse(answer) as { hits: unknown[] }).hits.length > 0;

/** The floor does nothing then but ask an object that answers at once: what any call of an object costs. */
const againstHop = ({ server }: Client, size: number): Operation => {
  const user = `recaller-${size}`;
  const name = `recall among ${size.toLocaleString("en-US")}, over an empty hop`;
  if (server.name !== "floor") return { name, next: (i) => recallOf(user, i), check: finds };
  const hop: Call = { method: "GET", path: `/v1/users/${user}/hop`, status: 200 };
  return { name, next: () => hop, check: (answer) => answer === "" };
};

/** Many users with a few memories each. */
async function tellMany(client: Client, users: number): Promise<void> {
  for (let from = 0; from < users; from += WRITERS)
    await Promise.all(
      Array.from({ length: Math.min(WRITERS, users - from) }, (_, i) =>
        tell(client, `recaller-of-many-${from + i}`, OF_MANY),
      ),
    );
}

/** One user's memories, each a sentence. */
async function tell(client: Client, user: string, size: number): Promise<void> {
  for (let from = 0; from < size; from += BATCH) {
    const memories = Array.from({ length: Math.min(BATCH, size - from) }, (_, i) => ({
      text: `${sentence(from + i, 12)} ${from + i}`,
      ...((from + i) % Math.ceil(size / FEW) === 0 && { kind: "reflection", tags: ["rare"], scope: "rare" }),
    }));
    await client.call(post(`/v1/users/${user}/memories/batch`, { memories }, 200));
  }
}

/** A thread of a few messages. */
async function tellThread(client: Client, user: string): Promise<string> {
  const made = await client.call(post(`/v1/users/${user}/threads`, {}, 201));
  const { id } = JSON.parse(made) as { id: string };
  const messages = Array.from({ length: FEW }, (_, i) => ({ role: "user", content: sentence(i, 12) }));
  await client.call(post(`/v1/threads/${id}/messages`, { messages }, 201));
  return id;
}

/** Straight into D1: a million memories by calls would take the better part of an hour. */
async function fill({ server }: Client, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += SLICE)
    await server.database
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.min(from + SLICE, rows) - 1})
         INSERT INTO memories (user_hash, id, version, user_id, kind, status, text, tags, trust, dedupe_key, created_at, updated_at,
           valid_from, recorded_at)
         SELECT printf('other-%016d', i / 1000), printf('memory-%d', i), i % 1000 + 1, printf('other %d', i / 1000), 'fact',
           'active', printf('Note %d of another user, about this and that', i), '[]', 'user', printf('text %d', i), i, i, i, i FROM n`,
      )
      .run();
}
