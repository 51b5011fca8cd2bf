import { fail, type Result } from "../../domain/errors.ts";
import { hash16 } from "../../domain/hash.ts";
import { newThreadId } from "../../domain/ids.ts";
import { ownerOf, type Writer } from "../../domain/memory/record.ts";
import { present } from "../../domain/present.ts";
import { canonicalJson } from "../../domain/prompt-cache/canonical-json.ts";
import { threadOwner } from "../../domain/thread-id.ts";
import type { Json } from "../../domain/schema/bounds.ts";
import { futureTimeFailure } from "../../domain/schema/message-time.ts";
import type { Ingest, IngestBody, Ingested } from "../../domain/schema/ingest.ts";
import type { IngestRequest } from "../../contract/user-memory.ts";
import type { IdempotencyKey } from "../../contract/storage.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "userMemory" | "now">;

/** Time that a call with the mode `wait` takes at most. */
const WAIT_MS = 25_000;

/** `bodies`: the messages as JSON in UTF-8. */
type Ingesting = {
  body: IngestBody;
  bodies: readonly Uint8Array[];
  by: Writer;
  once?: IdempotencyKey | undefined;
};

/** Stores the messages of a conversation that are not stored yet, and starts the extraction of memories from them. */
export async function ingest(
  { userMemory, now }: Needs,
  user: string,
  { body, bodies, by, once }: Ingesting,
): Promise<Result<Ingested>> {
  const owner = await ownerOf(user);
  const { threadId, scope, owners, extracted, mode } = body;
  if (threadId !== undefined && threadOwner(threadId) !== owner.hash) return noThread;
  const ahead = futureTimeFailure(body.createdAt, now());
  if (ahead !== null) return ahead;
  const request: IngestRequest = {
    // Ids of ingests have the form of a thread's.
    id: newThreadId(owner.hash, now()),
    newThreadId: newThreadId(owner.hash, now()),
    bodies,
    kinds: body.extract ?? (extracted === undefined ? ["facts", "episodes"] : []),
    by,
    ...present({ threadId, extracted, scope, owners, session: await sessionOf(body), times: timesOf(body) }),
    ...(mode === "wait" && { waitMs: WAIT_MS }),
  };
  const started = await userMemory(owner.hash).ingest(owner, request, once);
  return threadId !== undefined && !started.ok && started.code === "not_found" ? noThread : started;
}

const noThread = fail("not_found", {
  details: [{ path: "body.threadId", message: "is no thread of this user" }],
});

export async function readIngest({ userMemory }: Needs, id: string): Promise<Result<Ingest>> {
  const owner = threadOwner(id);
  return owner === null ? fail("not_found") : userMemory(owner).readIngest(id);
}

export async function retryIngest({ userMemory }: Needs, id: string): Promise<Result<Ingest>> {
  const owner = threadOwner(id);
  return owner === null ? fail("not_found") : userMemory(owner).retryIngest(id);
}

/** A conversation without an id of the caller's is found by its first message. */
async function sessionOf({ sessionId, messages }: IngestBody): Promise<IngestRequest["session"]> {
  if (sessionId !== undefined)
    return { key: await hash16(JSON.stringify(["session", sessionId])), isNamed: true };
  const [first] = messages ?? [];
  if (first === undefined) return undefined;
  return { key: await hash16(JSON.stringify(["first", canonicalJson(first as Json)])), isNamed: false };
}

function timesOf({ createdAt, messages = [] }: IngestBody): number[] | undefined {
  if (createdAt === undefined) return undefined;
  return Array.isArray(createdAt) ? createdAt : messages.map(() => createdAt);
}
