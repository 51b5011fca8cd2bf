import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { shards } from "./databases.ts";

for (const database of [env.DB, ...shards]) await applyD1Migrations(database, env.MIGRATIONS);
