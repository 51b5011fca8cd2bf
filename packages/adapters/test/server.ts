// The Cairn that all tests of adapters call, over real HTTP: what wrangler builds, in a workerd that is started once for all of their
// files. Wrangler's own server puts a proxy before it, which costs more than Cairn does.
import type { TestProject } from "vitest/node";
import { startCairn } from "../../lab/bench/servers.ts";

declare module "vitest" {
  interface ProvidedContext {
    cairn: { url: string; secret: string };
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { url, secret, stop } = await startCairn();
  provide("cairn", { url: url.origin, secret });
  return stop;
}
