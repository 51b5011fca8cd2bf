import { applyD1Migrations, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll } from "vitest";
import { UNLISTED_THREADS } from "../src/platform/unlisted-threads.ts";
import { shards } from "./databases.ts";
import { unbind } from "./doubles/ports.ts";

for (const database of [env.DB, ...shards]) await applyD1Migrations(database, env.MIGRATIONS);

// A wait before a retry is the longest one that chance may draw, so that a test knows when it is over.
Math.random = () => 1 - Number.EPSILON;

// The files of a worker run one after another in one isolate, over the same stores. None leaves its bindings to the next,
// nor a thread that D1 did not take, while which nobody is given the list of all threads.
afterAll(unbind);
afterAll(() =>
  runInDurableObject(
    env.PROMPT_CACHE.getByName(UNLISTED_THREADS),
    (_, { storage }) => void storage.sql.exec("DELETE FROM entries"),
  ),
);
