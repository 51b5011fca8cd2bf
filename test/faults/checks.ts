import { rowOf, type StoredRow } from "../../src/platform/d1/memory-rows.ts";
import { termsOf } from "../../src/platform/d1/memory-terms.ts";
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { userHash } from "../../src/domain/ids.ts";
import { modelTag, vectorId } from "../../src/platform/vectors/vector-id.ts";
import { control } from "../doubles/control.ts";
import type { VectorizeDouble } from "../doubles/vectorize.ts";
import { active, face, faces, type Shown } from "./candidates.ts";
import type { User } from "./user.ts";
import { said, type World } from "./world.ts";

/** No memory has one of these words. */
const BY_MEANING = "a short note";

/** Recall shows exactly what the user's memories may be, whatever D1 does. */
export async function checkRecalled(user: User): Promise<void> {
  const shown = await user.recalled();
  const back = shown.filter(({ id }) => user.known.has(id) && !user.model.mayHave(id));
  if (back.length > 0) throw new Error(`${user.name} recalls what was forgotten: ${faces(back).join(", ")}`);
  if (!user.model.seen(shown))
    throw new Error(
      `${user.name} recalls ${JSON.stringify(faces(shown))}, and not ${possible(user.model.worlds)}`,
    );
}

/** Nothing that was forgotten comes back by its meaning, although Vectorize goes on naming it. */
export async function checkMeant(user: User): Promise<void> {
  control.vectorizeReads = "stale";
  const shown = await user.recalled(BY_MEANING);
  control.vectorizeReads = "ok";
  const back = shown.filter(({ id }) => user.known.has(id) && !user.model.mayHave(id));
  if (back.length > 0)
    throw new Error(`${user.name} recalls by meaning what was forgotten: ${faces(back).join(", ")}`);
}

/** D1 shows what was acknowledged, nothing that was forgotten, and else what may have been written. */
export async function checkRecord(user: User): Promise<void> {
  const { worlds, leaving } = user.model;
  const listed = await user.listed();
  const shown = new Set(listed.map(face));
  if (shown.size < listed.length && worlds.every(facesDiffer) && leaving.length === 0)
    throw new Error(`${user.name} has twice: ${JSON.stringify(faces(listed))}`);
  const [first = [], ...others] = worlds.map((world) => new Set(world.map((memo) => face(said(memo)))));
  for (const one of first)
    if (others.every((other) => other.has(one)) && !shown.has(one))
      throw new Error(`${user.name} was promised ${one}, and D1 has ${JSON.stringify(faces(listed))}`);
  const may = new Set([
    ...worlds.flat().map((memo) => face(said(memo))),
    ...leaving.flatMap(({ versions }) => versions.map(face)),
  ]);
  for (const one of shown)
    if (!may.has(one))
      throw new Error(`${user.name} finds ${one} in D1, and it may only be ${possible(worlds)}`);
  await checkGone(user, listed);
}

/** No id brings back a memory that was seen once and is not possible any more. */
async function checkGone(user: User, listed: readonly Shown[]): Promise<void> {
  for (const { id } of listed) user.known.add(id);
  if (user.model.leaving.length > 0) return;
  for (const id of [...user.known].filter((one) => !user.model.mayHave(one)).slice(-1)) {
    const { status } = await user.ask({ path: `memories/${id}` });
    if (status !== 404) throw new Error(`${user.name} gets ${id}, which was forgotten: ${status}`);
  }
}

const facesDiffer = (world: World): boolean =>
  new Set(world.map((memo) => face(said(memo)))).size === world.length;
const possible = (worlds: readonly World[]): string =>
  worlds.map((world) => JSON.stringify(faces(active(world).map(said)))).join(" or ");

/** When all is quiet, every store agrees with the others and with one of the worlds. */
export async function checkQuiet(user: User, vectorize: VectorizeDouble): Promise<void> {
  const hash = await userHash(user.name);
  const { results } = await env.DB.prepare("SELECT * FROM memories WHERE user_hash = ? ORDER BY version")
    .bind(hash)
    .all<StoredRow>();
  const inside = await runInDurableObject(await user.object(), (_, { storage }) => insideOf(storage.sql));
  const versions = results.map(({ version }) => Number(version));
  const rows = results.map(rowOf);
  equal(user, "rows", { object: inside.memories.map(rowOf), d1: rows });
  equal(user, "terms", { d1: results.map(({ terms }) => terms), rows: rows.map(termsOf) });
  equal(user, "words", { index: inside.words, rows: versions });
  equal(user, "vectors", { index: inside.vectors.map(({ n }) => n), rows: versions });
  equal(user, "left", { left: inside.left, none: {} });
  const ids = inside.vectors.map(async ({ n, model }) => vectorId(hash, n, await modelTag(model)));
  const there = vectorize.ids().filter((id) => id.startsWith(hash));
  equal(user, "Vectorize", { vectorize: there, object: (await Promise.all(ids)).toSorted() });
  // All have their vectors now, in memory or in Vectorize.
  const [byWords, byMeaning] = [await user.recalled(), await user.recalled(BY_MEANING)];
  equal(user, "hits", { words: faces(byWords), meaning: faces(byMeaning) });
  const listed = await user.listed();
  const counts = Map.groupBy(rows, ({ id }) => id);
  const found = listed.map((one) => `${face(one)} ×${counts.get(one.id)?.length}`).toSorted();
  const told = (world: World) =>
    world.map((memo) => `${face(said(memo))} ×${memo.versions.length}`).toSorted();
  if (!user.model.resolve((world) => JSON.stringify(told(world)) === JSON.stringify(found)))
    throw new Error(
      `in the end ${user.name} has ${JSON.stringify(found)}, and not ${user.model.worlds.map((world) => JSON.stringify(told(world))).join(" or ")}`,
    );
}

function insideOf(sql: SqlStorage) {
  const numbers = (query: string) =>
    sql
      .exec<{ n: number }>(query)
      .toArray()
      .map(({ n }) => n);
  const left: Record<string, number> = {};
  for (const table of [
    "intents",
    "unembedded",
    "vector_outbox",
    "erasures",
    "erasing_versions",
    "tombstones",
  ]) {
    const [n = 0] = numbers(`SELECT COUNT(*) AS n FROM ${table}`);
    if (n > 0) left[table] = n;
  }
  const aside = sql
    .exec<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE name GLOB 'erased_[0-9]*' AND name NOT GLOB '*_words_*'",
    )
    .toArray();
  for (const { name } of aside.filter((one) => !one.name.includes("autoindex")))
    if (numbers(`SELECT COUNT(*) AS n FROM ${name}`)[0] !== 0) left[name] = 1;
  const [answers = 0] = numbers(
    "SELECT COUNT(*) AS n FROM answer_memories WHERE memory_id NOT IN (SELECT id FROM memories)",
  );
  if (answers > 0) left.answers = answers;
  return {
    memories: sql.exec("SELECT * FROM memories ORDER BY version").toArray(),
    words: numbers("SELECT rowid AS n FROM words ORDER BY rowid"),
    vectors: sql
      .exec<{ n: number; model: string }>(
        "SELECT n, name AS model FROM vectors JOIN models ON models.id = vectors.model ORDER BY n",
      )
      .toArray(),
    left,
  };
}

function equal(user: User, what: string, pair: Record<string, unknown>): void {
  const [a, b] = Object.values(pair);
  if (JSON.stringify(a) !== JSON.stringify(b))
    throw new Error(`the ${what} of ${user.name} do not agree: ${JSON.stringify(pair)}`);
}
