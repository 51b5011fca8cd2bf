import {
  type CreateObservationalMemoryInput,
  type CreateReflectionGenerationInput,
  MemoryStorage,
  type ObservationalMemoryHistoryOptions,
  type ObservationalMemoryRecord,
  type SwapBufferedReflectionToActiveInput,
  type SwapBufferedToActiveInput,
  type SwapBufferedToActiveResult,
  type UpdateActiveObservationsInput,
  type UpdateBufferedObservationsInput,
  type UpdateBufferedReflectionInput,
  type UpdateObservationalMemoryConfigInput,
} from "@mastra/core/storage";
import type { Cairn } from "../../../client/src/cairn.ts";
import { ObservationRecords } from "./observation-records.ts";

/** The part of Mastra's memory domain that keeps observational memory. Each change is one step, so no concurrent one is lost. */
export abstract class ObservationalStorage extends MemoryStorage {
  override readonly supportsObservationalMemory = true;
  readonly #observations: ObservationRecords;

  constructor(options: { memory: Cairn; user: string; prefix: string }) {
    super();
    this.#observations = new ObservationRecords(options);
  }

  override getObservationalMemory(
    threadId: string | null,
    resourceId: string,
  ): Promise<ObservationalMemoryRecord | null> {
    return this.#observations.read({ threadId, resourceId }, 1, (store) =>
      store.getObservationalMemory(threadId, resourceId),
    );
  }

  override getObservationalMemoryHistory(
    threadId: string | null,
    resourceId: string,
    limit?: number,
    options?: ObservationalMemoryHistoryOptions,
  ): Promise<ObservationalMemoryRecord[]> {
    return this.#observations.read({ threadId, resourceId }, Infinity, (store) =>
      store.getObservationalMemoryHistory(threadId, resourceId, limit, options),
    );
  }

  override initializeObservationalMemory(
    input: CreateObservationalMemoryInput,
  ): Promise<ObservationalMemoryRecord> {
    return this.#observations.add(input, [], (store) => store.initializeObservationalMemory(input));
  }

  override insertObservationalMemoryRecord(record: ObservationalMemoryRecord): Promise<void> {
    return this.#observations.add(record, "all", (store) => store.insertObservationalMemoryRecord(record));
  }

  override createReflectionGeneration(
    input: CreateReflectionGenerationInput,
  ): Promise<ObservationalMemoryRecord> {
    return this.#observations.add(input.currentRecord, [], (store) =>
      store.createReflectionGeneration(input),
    );
  }

  /** Concurrent calls make one generation: the others throw, as there is no buffered reflection any more. */
  override swapBufferedReflectionToActive(
    input: SwapBufferedReflectionToActiveInput,
  ): Promise<ObservationalMemoryRecord> {
    const { currentRecord } = input;
    return this.#observations.add(currentRecord, [currentRecord.id], (store) =>
      store.swapBufferedReflectionToActive(input),
    );
  }

  override updateActiveObservations(input: UpdateActiveObservationsInput): Promise<void> {
    return this.#observations.change(input.id, (store) => store.updateActiveObservations(input));
  }

  override updateBufferedObservations(input: UpdateBufferedObservationsInput): Promise<void> {
    return this.#observations.change(input.id, (store) => store.updateBufferedObservations(input));
  }

  override swapBufferedToActive(input: SwapBufferedToActiveInput): Promise<SwapBufferedToActiveResult> {
    return this.#observations.change(input.id, (store) => store.swapBufferedToActive(input));
  }

  override updateBufferedReflection(input: UpdateBufferedReflectionInput): Promise<void> {
    return this.#observations.change(input.id, (store) => store.updateBufferedReflection(input));
  }

  override setReflectingFlag(id: string, isReflecting: boolean): Promise<void> {
    return this.#observations.change(id, (store) => store.setReflectingFlag(id, isReflecting));
  }

  override setObservingFlag(id: string, isObserving: boolean): Promise<void> {
    return this.#observations.change(id, (store) => store.setObservingFlag(id, isObserving));
  }

  override setBufferingObservationFlag(id: string, isBuffering: boolean, tokens?: number): Promise<void> {
    return this.#observations.change(id, (store) =>
      store.setBufferingObservationFlag(id, isBuffering, tokens),
    );
  }

  override setBufferingReflectionFlag(id: string, isBuffering: boolean): Promise<void> {
    return this.#observations.change(id, (store) => store.setBufferingReflectionFlag(id, isBuffering));
  }

  override setPendingMessageTokens(id: string, tokenCount: number): Promise<void> {
    return this.#observations.change(id, (store) => store.setPendingMessageTokens(id, tokenCount));
  }

  override updateObservationalMemoryConfig(input: UpdateObservationalMemoryConfigInput): Promise<void> {
    return this.#observations.change(input.id, (store) => store.updateObservationalMemoryConfig(input));
  }

  override clearObservationalMemory(threadId: string | null, resourceId: string): Promise<void> {
    return this.#observations.clear({ threadId, resourceId });
  }
}
