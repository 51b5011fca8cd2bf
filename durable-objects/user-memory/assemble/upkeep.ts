import type { Ports } from "../../../src/platform/bindings.ts";
import { ErasedTables } from "../erasure/erased-tables.ts";
import { ErasureDrive } from "../erasure/erasure-drive.ts";
import { ErasureSteps } from "../erasure/erasure-steps.ts";
import { Eraser } from "../erasure/eraser.ts";
import { StorageReset } from "../erasure/storage-reset.ts";
import { AgedMemories } from "../memories/aged-memories.ts";
import { Restorer } from "../restore/restorer.ts";
import { AgedConversations } from "../retention/aged-conversations.ts";
import { RetentionDrive } from "../retention/retention-drive.ts";
import { migrations } from "../schema.ts";
import { AgedMessages } from "../threads/aged-messages.ts";
import { Exporter } from "../transfer/exporter.ts";
import { Importer } from "../transfer/importer.ts";
import { Reindexer } from "../transfer/reindexer.ts";
import type { Ground } from "./ground.ts";
import type { Memories, Recalls, Threads } from "./rooms.ts";

/** Export, import and reindex; retention; restore; erasure. `abort`: stops the object without what was written since the last `await`. */
export function assembleUpkeep(
  ports: Ports,
  rooms: Ground & Threads & Memories & Recalls,
  abort: () => void,
) {
  const { sql, erasureEpoch, erasureLog: log, stores, ingestStore } = rooms;
  const parts = { ...ports, ...rooms, log };
  const aged = new AgedMessages(sql);
  const retentionDrive = new RetentionDrive({
    ...parts,
    settings: ports.retention,
    aged,
    agedMemories: new AgedMemories(sql),
    agedConversations: new AgedConversations({ ...parts, aged }),
  });
  const restorer = new Restorer({ ...parts, retentionDrive });
  const tables = new ErasedTables(sql, erasureEpoch);
  const reset = new StorageReset({ ...parts, tables, migrations, abort });
  const steps = new ErasureSteps({ ...parts, tables, reset });
  const { vectors, memoryWrites, owner, recallLog, index } = rooms;
  const erasable = [vectors, memoryWrites, owner, recallLog, stores.threads, index, ingestStore];
  return {
    reindexer: new Reindexer(parts),
    exporter: new Exporter(parts),
    importer: new Importer(parts),
    retentionDrive,
    restorer,
    eraser: new Eraser({ ...parts, erasable, tables, steps, restorer }),
    erasureDrive: new ErasureDrive({ ...parts, steps }),
  };
}
