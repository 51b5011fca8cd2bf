import type { UserHash } from "../../src/domain/ids.ts";
import type { Ports } from "../../src/platform/bindings.ts";
import type { Chore } from "../storage/chores.ts";
import { ContextService } from "./context/context-service.ts";
import { ContextStore } from "./context/context-store.ts";
import type { OwnerObject } from "./context/shared-owners.ts";
import { assembleFences, assembleGround, type Ground } from "./assemble/ground.ts";
import {
  assembleChanges,
  assembleErasure,
  assembleIngest,
  assembleMemories,
  assembleRecall,
  assembleRestore,
  assembleRetention,
  assembleThreads,
  assembleTransfer,
  type Memories,
  type Recalls,
  type Threads,
} from "./assemble/rooms.ts";

export type UserMemoryParts = ReturnType<typeof assemble>;

/** Builds the parts of a user's object from its storage and the ports, from the lowest floor up. */
export function assemble(ctx: DurableObjectState, ports: Ports, objectOf: (owner: UserHash) => OwnerObject) {
  const ground = assembleGround(ctx, ports);
  const fences = assembleFences(ground, ports);
  const threads = assembleThreads(ground, ports, fences);
  const memories = assembleMemories(ground, ports, fences);
  const recalls = assembleRecall(ground, ports, threads);
  const retentions = assembleRetention(ground, ports, { ...threads, ...memories });
  const restores = assembleRestore(ground, ports, { ...threads, ...memories, ...retentions });
  const contexts = new ContextStore(ground.sql);
  const rooms = {
    ...threads,
    ...memories,
    ...recalls,
    ...assembleChanges(ground, ports, memories),
    ...assembleTransfer(ground, ports, { ...threads, ...memories }),
    ...assembleIngest(ground, ports, { ...threads, ...memories }),
    ...retentions,
    ...restores,
    ...assembleErasure(ground, ports, {
      ...fences,
      ...threads,
      ...memories,
      ...recalls,
      ...restores,
      abort: () => ctx.abort("the storage was not made anew"),
    }),
    contexts,
    context: new ContextService({
      ...ground,
      store: contexts,
      messages: threads.messages,
      recall: recalls.recall,
      log: ground.recallLog,
      beginnings: threads.beginnings,
      objectOf,
      tokenCounter: ports.tokenCounter,
    }),
  };
  return { ...ground, ...rooms, ...choresOf(ground, rooms) };
}

type Working = Threads &
  Memories &
  Pick<Recalls, "embedding"> &
  ReturnType<typeof assembleChanges> &
  ReturnType<typeof assembleTransfer> &
  ReturnType<typeof assembleIngest> &
  ReturnType<typeof assembleRetention> &
  ReturnType<typeof assembleErasure>;

/** The chores of the alarm. Each start of the object schedules the resumable ones too. */
function choresOf({ vectors, merger, pages, answers, entries }: Ground, rooms: Working) {
  const { embedding, expiry, listing, purger } = rooms;
  const currentModel = () => embedding.target()?.model ?? null;
  const resumable: Record<string, Chore> = {
    memories: expiry,
    retention: rooms.retentionDrive,
    reindex: rooms.reindexer,
    vectors: {
      run: () => vectors.drain(currentModel()),
      nextDue: () => vectors.nextDue(currentModel()),
    },
    messages: purger,
    words: merger,
    erasures: rooms.erasureDrive,
    // Last: a receiver may take 15 seconds, and a model longer.
    webhook: rooms.webhookDelivery,
    ingests: rooms.ingestRunner,
  };
  let morePieces = false;
  const chores: Record<string, Chore> = {
    size: { run: () => pages.note(), nextDue: () => null },
    embedding,
    "word pieces": {
      run: async () => {
        morePieces = await embedding.cut();
      },
      nextDue: (time) => (morePieces ? time : null),
    },
    entries: entries.expirySweep,
    answers,
    catalogue: listing,
    ...resumable,
  };
  return { chores, resumable };
}
