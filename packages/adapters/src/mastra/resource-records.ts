import type { StorageResourceType } from "@mastra/core/storage";
import type { Cairn } from "../../../client/src/cairn.ts";
import { withDates, type Timed } from "./with-dates.ts";
import { Records } from "./records.ts";

type ResourceRecord = Timed<StorageResourceType>;
type Change = { resourceId: string; workingMemory?: string; metadata?: Record<string, unknown> };

/** Mastra's working memory and metadata of a resource, which is Mastra's user. */
export class ResourceRecords {
  readonly #records: Records<ResourceRecord>;

  constructor(options: { memory: Cairn; user: string; prefix: string }) {
    this.#records = new Records(options, "resources");
  }

  async get(id: string): Promise<StorageResourceType | null> {
    const record = await this.#records.get(id);
    return record && withDates(record.value);
  }

  async save(resource: StorageResourceType): Promise<void> {
    const [createdAt, updatedAt] = [resource.createdAt.getTime(), resource.updatedAt.getTime()];
    await this.#records.change(resource.id, () => ({ ...resource, createdAt, updatedAt }));
  }

  /** Atomic: no concurrent update is lost. */
  async update({ resourceId, workingMemory, metadata }: Change): Promise<StorageResourceType> {
    const now = Date.now();
    const record = await this.#records.change(resourceId, (there): ResourceRecord => ({
      id: resourceId,
      createdAt: now,
      ...there,
      updatedAt: now,
      ...(workingMemory !== undefined && { workingMemory }),
      metadata: { ...there?.metadata, ...metadata },
    }));
    return withDates(record);
  }
}
