import { runInDurableObject } from "cloudflare:test";
import { control } from "../doubles/control.ts";
import type { Fault } from "./steps.ts";
import type { User } from "./user.ts";

export async function inject(user: User, fault: Fault): Promise<void> {
  // D1 does not refuse what it has taken before.
  const fresh = fault.d1?.includes("refused") && (await openIntents(user)) === 0;
  control.d1NextWrites = (fault.d1 ?? []).map((how) => (how === "refused" && !fresh ? "before" : how));
  if (fault.d1Reads) control.d1Reads = "fail";
  if (fault.embedder) control.embedder = "fail";
  control.failingTransactions = fault.transactions ?? 0;
  control.vectorizeWrites = fault.vectorize ?? "ok";
  if (fault.vectorizeReads) control.vectorizeReads = "fail";
}

export function heal(): void {
  const healthy = {
    d1Writes: "ok" as const,
    d1NextWrites: [],
    d1Reads: "ok" as const,
    embedder: "ok" as const,
    failingTransactions: 0,
    vectorizeWrites: "ok" as const,
    vectorizeReads: "ok" as const,
    duringD1Write: async () => {},
    duringD1Read: async () => {},
    duringEmbed: async () => {},
    duringVectorizeWrite: async () => {},
    hanging: false,
  };
  Object.assign(control, healthy);
}

export const openIntents = async (user: User): Promise<number> =>
  runInDurableObject(
    await user.object(),
    (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM intents").one().n,
  );
