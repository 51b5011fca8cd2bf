// `npm run python`: writes the client of Python, packages/python/cairn.py, from the OpenAPI document of a local Cairn.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, startLocalServer } from "../dev/local-server.ts";
import { clientOf } from "./source/client.ts";
import type { Document } from "./source/document.ts";

const state = mkdtempSync(join(tmpdir(), "cairn-python-"));
const server = await startLocalServer({ port: await freePort(), state });
try {
  const answer = await fetch(`${server.url}/openapi.json`);
  // The shape is the Worker's promise.
  const document = (await answer.json()) as Document;
  const transport = readFileSync(join(import.meta.dirname, "source/transport.py"), "utf8");
  writeFileSync(join(import.meta.dirname, "cairn.py"), clientOf(document, transport));
} finally {
  await server.stop();
  rmSync(state, { recursive: true, force: true });
}
