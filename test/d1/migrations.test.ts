// A database that has had a later migration before an earlier one, as one of a branch is that was joined.
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

it("gets 0007 where it has 0008 already, with the users of its memories and threads", async () => {
  await reset();
  const isErasures = ({ name }: { name: string }) => name.startsWith("0007");
  expect(env.MIGRATIONS.filter(isErasures)).toHaveLength(1);
  await applyD1Migrations(
    env.DB,
    env.MIGRATIONS.filter((one) => !isErasures(one)),
  );
  const thread = `INSERT INTO threads (id, user_hash, user_id, title, created_at, updated_at) VALUES (?, ?, ?, '', 1, 1)`;
  await env.DB.batch([
    env.DB.prepare("INSERT INTO memory_writes (user_hash, seq) VALUES ('h', 7)"),
    env.DB.prepare(thread).bind("h.1", "h", "alice"),
    env.DB.prepare(thread).bind("n.1", "n", null),
  ]);
  await applyD1Migrations(env.DB, env.MIGRATIONS);
  const { results } = await env.DB.prepare("SELECT * FROM users").all();
  expect(results).toEqual([{ user_hash: "h", user_id: "alice", epoch: 0 }]);
  expect(await env.DB.prepare("SELECT * FROM memory_writes").all()).toMatchObject({
    results: [{ user_hash: "h", seq: 7, erased_up_to: 0, epoch: 0 }],
  });
});
