import type { UserHash } from "../../src/domain/ids.ts";
import type { Ports } from "../../src/platform/bindings.ts";
import type { Chore } from "../storage/chores.ts";
import { assembleGround } from "./assemble/ground.ts";
import {
  assembleChanges,
  assembleIngest,
  assembleMemories,
  assembleRecall,
  assembleThreads,
} from "./assemble/rooms.ts";
import { assembleUpkeep } from "./assemble/upkeep.ts";
import { ContextService } from "./context/context-service.ts";
import { ContextStore } from "./context/context-store.ts";
import type { OwnerObject } from "./context/shared-owners.ts";

type Rooms = ReturnType<typeof assembleRooms>;
export type UserMemoryParts = ReturnType<typeof assemble>;

/** Builds the parts of a user's object from its storage and the ports, and the chores of its alarm. */
export function assemble(ctx: DurableObjectState, ports: Ports, objectOf: (owner: UserHash) => OwnerObject) {
  const rooms = assembleRooms(ctx, ports, objectOf);
  return { ...rooms, ...choresOf(rooms) };
}

/** From the lowest floor up. */
function assembleRooms(ctx: DurableObjectState, ports: Ports, objectOf: (owner: UserHash) => OwnerObject) {
  const ground = assembleGround(ctx, ports);
  const threads = assembleThreads(ground, ports);
  const memories = assembleMemories(ground, ports);
  const recalls = assembleRecall(ground, ports, threads);
  const rooms = { ...ground, ...threads, ...memories, ...recalls };
  const contexts = new ContextStore(ground.sql);
  return {
    ...rooms,
    ...assembleChanges(ground, ports, memories),
    ...assembleIngest(ground, ports, rooms),
    ...assembleUpkeep(ports, rooms, () => ctx.abort("the storage was not made anew")),
    contexts,
    context: new ContextService({
      ...rooms,
      entries: ground.entryStore,
      store: contexts,
      log: ground.recallLog,
      objectOf,
      tokenCounter: ports.tokenCounter,
    }),
  };
}

/** The chores of the alarm. Each start of the object schedules the resumable ones too. */
function choresOf({ vectors, merger, pages, answers, entryStore, embedding, ...rooms }: Rooms) {
  const currentModel = () => embedding.target()?.model ?? null;
  const resumable: Record<string, Chore> = {
    memories: rooms.expiry,
    retention: rooms.retentionDrive,
    reindex: rooms.reindexer,
    vectors: {
      run: () => vectors.drain(currentModel()),
      nextDue: () => vectors.nextDue(currentModel()),
    },
    messages: rooms.purger,
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
    entries: entryStore.expirySweep,
    answers,
    catalogue: rooms.listing,
    ...resumable,
  };
  return { chores, resumable };
}
