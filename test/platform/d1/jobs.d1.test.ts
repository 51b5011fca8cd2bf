// The jobs of the cron name users: the restore of one, and those whom a pass over all did not reach.
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { D1Jobs } from "../../../src/platform/d1/jobs.ts";
import { newUser } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { erased, eraseUser, erasure, ring } from "../../erasure-calls.ts";
import { remember } from "../../memory-calls.ts";

afterEach(restore);

const put = (name: string, detail: unknown, startedAt = 0) =>
  env.DB.prepare("INSERT INTO jobs (name, detail, started_at) VALUES (?, ?, ?)")
    .bind(name, JSON.stringify(detail), startedAt)
    .run();
const naming = async (hash: string) =>
  (
    await env.DB.prepare("SELECT name FROM jobs WHERE instr(name || detail, ?)")
      .bind(hash)
      .all<{ name: string }>()
  ).results.map(({ name }) => name);

async function namedUser() {
  const user = newUser();
  await remember(user, { text: "stays" });
  const [hash, other] = [await userHash(user), await userHash(newUser())];
  await put(`restore ${hash}`, { at: 1 });
  await put(`reindex 1 ${hash.slice(0, 4)}`, [other, hash]);
  return { user, hash, other };
}

it("an erasure takes its user out of all jobs, and leaves other users", async () => {
  const { user, hash, other } = await namedUser();
  const { body } = await eraseUser(user);
  await erased(user, body.id);
  expect(await naming(hash)).toEqual([]);
  expect(await naming(other)).toHaveLength(1);
});

it("a restore after the erasure began stays", async () => {
  const { user, hash } = await namedUser();
  const { body } = await eraseUser(user);
  await env.DB.prepare("UPDATE jobs SET started_at = ? WHERE name = ?")
    .bind(clock() + 60_000, `restore ${hash}`)
    .run();
  await erased(user, body.id);
  expect(await naming(hash)).toEqual([`restore ${hash}`]);
});

it("an outage of D1 between both delays the receipt", async () => {
  const { user, hash } = await namedUser();
  control.signIns = "fail";
  const { body } = await eraseUser(user);
  for (let i = 0; i < 3; i++) await ring(user);
  expect((await erasure(body.id)).status).toBe("running");
  control.signIns = "ok";
  expect(await erased(user, body.id)).toMatchObject({ receipt: expect.any(String) });
  expect(await naming(hash)).toEqual([]);
});

it("a pass writes back no user whom an erasure has taken out since it read its note", async () => {
  const jobs = new D1Jobs(env.DB);
  const hash = await userHash(newUser());
  const name = `reindex 2 ${hash}`;
  const note = { name, detail: JSON.stringify([hash]), finishedAt: null };
  await put(name, [hash]);
  expect(await jobs.unfinished(name, 1)).toMatchObject([note]);
  await jobs.forget(hash, 0);
  expect(await jobs.rewrite(note, note)).toBe(false);
  expect(await jobs.rewrite({ name, detail: "[]" }, { detail: "[]", finishedAt: 1 })).toBe(true);
  await jobs.remove(name);
});
