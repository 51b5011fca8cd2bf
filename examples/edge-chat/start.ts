// `npm start`: Cairn and the chat in one process, on loopback, without an account. Ctrl-C stops both.
import { join } from "node:path";
import { askedToStop, CannotStart, startLocalServer } from "../../packages/dev/local-server.ts";

const here = import.meta.dirname;
const port = Number(process.env.PORT ?? 8788);
const state = process.env.CAIRN_STATE ?? join(here, "../../.wrangler/state");

async function main(): Promise<number> {
  console.log("Setting up the local database and starting both Workers …");
  const asked = askedToStop();
  const before = { config: join(here, "wrangler.toml"), path: "/" };
  const server = await Promise.race([startLocalServer({ port, state, before }), asked]);
  // What has been started by then ends with this process.
  if (server === "asked") process.exit(130);
  console.log(`\nThe chat is up at ${server.url}. Ctrl-C stops it; what it remembers stays.`);
  const why = await Promise.race([asked, server.ended]);
  await server.stop();
  return why === "asked" ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof CannotStart)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
