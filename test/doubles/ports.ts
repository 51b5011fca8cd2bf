import { type Bindings, type Ports, portsOf } from "../../src/bindings.ts";
import type { MemoryRecords } from "../../src/d1/memory-records.ts";
import { RefusedWrite } from "../../src/d1/refused.ts";
import type { Embedder } from "../../src/embeddings/embedder.ts";
import { control } from "./control.ts";

/** The real ports, with faults and a clock that the tests turn. */
export function faultyPorts(env: Bindings): Ports {
  const real = portsOf(env);
  return {
    records: faultyRecords(real.records),
    catalogue: {
      apply: (changes) => write(() => real.catalogue.apply(changes)),
      list: (page) => read(() => real.catalogue.list(page)),
    },
    embedder: faultyEmbedder(real.embedder),
    now: () => control.clockAt ?? real.now() + control.clockAhead,
  };
}

async function write(perform: () => Promise<void>): Promise<void> {
  await control.duringD1Write();
  if (control.d1Writes === "before") throw new Error("D1_ERROR: the network went away");
  if (control.d1Writes === "refused") throw new RefusedWrite("D1_ERROR: SQLITE_CONSTRAINT");
  await perform();
  if (control.d1Writes === "after") throw new Error("D1_ERROR: the answer was lost");
}

async function read<T>(perform: () => Promise<T>): Promise<T> {
  if (control.d1Reads === "fail") throw new Error("D1_ERROR: the network went away");
  return perform();
}

function faultyRecords(real: MemoryRecords): MemoryRecords {
  return {
    put: (row) => write(() => real.put(row)),
    delete: (owner, id) => write(() => real.delete(owner, id)),
    get: (owner, id) => read(() => real.get(owner, id)),
    list: (owner, page) => read(() => real.list(owner, page)),
    check: () => read(() => real.check()),
  };
}

function faultyEmbedder(real: Embedder): Embedder {
  return {
    model: real.model,
    dimensions: real.dimensions,
    async embed(texts) {
      if (control.embedder === "fail") throw new Error("the embedder is down");
      return real.embed(texts);
    },
  };
}
