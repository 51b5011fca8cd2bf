// The Cairn that is asked: a running one, or one of the evaluation's own.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cairn, cairn } from "#client/index.ts";
import { developmentToken, freePort, startLocalServer } from "../../dev/local-server.ts";
import type { EmbedderKind } from "#domain/ranking/weights.ts";
import { staticModel } from "#platform/embeddings/models.ts";

export type Server = { client: Cairn; embedder: EmbedderKind; model: string; stop: () => Promise<void> };

/** `vars`: variables of the evaluation's own server. */
/** What an evaluation stores is nobody's: `.dev.vars` may name a receiver. */
const NO_WEBHOOK = { WEBHOOK_URL: "", WEBHOOK_SECRET: "" };

export async function connect({
  url,
  token,
  vars,
}: {
  url?: string | undefined;
  token?: string | undefined;
  vars: Readonly<Record<string, string>>;
}): Promise<Server> {
  if (url !== undefined && token !== undefined) {
    return described({ client: cairn({ url, token }), stop: async () => {} });
  }
  const state = mkdtempSync(join(tmpdir(), "cairn-eval-"));
  process.once("exit", () => rmSync(state, { recursive: true, force: true }));
  const local = await startLocalServer({ port: await freePort(), state, vars: { ...NO_WEBHOOK, ...vars } });
  return described({
    client: cairn({ url: local.url, token: await developmentToken("*") }),
    stop: local.stop,
  });
}

async function described(server: Pick<Server, "client" | "stop">): Promise<Server> {
  const { embedder, problems } = await server.client.tenant.health();
  if (problems !== undefined) {
    await server.stop();
    throw new Error(problems.join("; "));
  }
  return {
    ...server,
    model: embedder.model,
    embedder: embedder.model === staticModel.name ? "static" : "contextual",
  };
}
