import { type Bindings, type Ports, portsOf } from "../../src/platform/bindings.ts";
import { D1TenantModelUsage } from "../../src/platform/d1/tenant-model-usage.ts";
import type { ErasureRecords } from "../../src/platform/d1/erasure-records.ts";
import type { MemoryRecords } from "../../src/platform/d1/memory-records.ts";
import { FullDatabase, RefusedWrite } from "../../src/platform/d1/write-errors.ts";
import { DeadlineExceeded, withDeadline } from "../../src/platform/deadline.ts";
import type { Embedder } from "../../src/platform/embeddings/embedder.ts";
import { MisconfiguredEmbedder } from "../../src/platform/embeddings/embedders-from-bindings.ts";
import { type WorkersAi, WorkersAiEmbedder } from "../../src/platform/embeddings/workers-ai.ts";
import type { Reranker } from "../../src/platform/reranking/workers-ai.ts";
import { VectorizeIndex } from "../../src/platform/vectors/vectorize.ts";
import { advance, clock, control } from "./control.ts";
import { hold } from "./held-writes.ts";
import type { VectorizeDouble } from "./vectorize.ts";

let vectorize: VectorizeDouble | null = null;
let withReranker = false;
let bindings = 0;

/** Grows with each change of what is bound: the Worker under test is then built anew, as by a deployment. */
export const bindingsVersion = (): number => bindings;

/** Binds a double of Vectorize for the rest of the test file. Objects that were used before keep what they had. */
export function bindVectorize(double: VectorizeDouble | null): void {
  vectorize = double;
  bindings++;
}

/** Binds a reranker for the rest of the test file. */
export function bindReranker(): void {
  withReranker = true;
  bindings++;
}

/**
 * Binds neither, as before each test file: all files of a worker share this module. The Worker is built anew, as it keeps the language
 * model that a test had set when it was built.
 */
export function unbind(): void {
  vectorize = null;
  withReranker = false;
  bindings++;
}

/** The real ports at the time of the tests. */
export const realPorts = (...given: Parameters<typeof portsOf>): Ports => ({
  ...portsOf(...given),
  now: clock,
});

/** The real ports, with faults and a clock that the tests turn. */
export function faultyPorts(env: Bindings): Ports {
  const real = portsOf(env);
  return {
    records: faultyRecords(real.records),
    catalogue: {
      apply: (changes) =>
        write(changes.put.length > 0 ? "listing" : "other", () => real.catalogue.apply(changes)),
      list: (page) => read(() => real.catalogue.list(page)),
      createdByDay: (from) => read(() => real.catalogue.createdByDay(from)),
    },
    unlisted: faulty(real.unlisted, () => control.unlisted),
    users: {
      list: (page) => read(() => real.users.list(page)),
      count: () => read(() => real.users.count()),
    },
    jobs: {
      get: (name) => read(() => real.jobs.get(name)),
      unfinished: (prefix, limit) => read(() => real.jobs.unfinished(prefix, limit)),
      start: (job, options) => write("other", () => real.jobs.start(job, options)),
      advance: (from, to) => write("other", () => real.jobs.advance(from, to)),
      rewrite: (from, to) => write("other", () => real.jobs.rewrite(from, to)),
      remove: (prefix, finishedBefore) => write("other", () => real.jobs.remove(prefix, finishedBefore)),
      forget: (user, upTo) => write("other", () => real.jobs.forget(user, upTo)),
    },
    revocations: faulty(real.revocations, () => control.revocations),
    signIns: faulty(real.signIns, () => control.signIns),
    tenantProfiles: real.tenantProfiles,
    quarantineMs: real.quarantineMs,
    predicates: real.predicates,
    extraction: faulty(real.extraction, () => control.extraction),
    retention: faulty(real.retention, () => control.retention),
    auditLog: faulty(
      {
        add: (event) => {
          control.duringAuditWrite(event.action);
          return real.auditLog.add(event);
        },
        list: (page) => real.auditLog.list(page),
        prune: (time, limit) => real.auditLog.prune(time, limit),
      },
      () => control.auditLog,
    ),
    deployment: real.deployment,
    erasures: faultyErasures(real.erasures),
    receipts: real.receipts,
    embedder: embedderOf(real),
    formerEmbedders: control.misnamed ? [real.embedder] : [mirrored(real.embedder)],
    tokenCounter: (name) =>
      control.tokenizer === "fail"
        ? Promise.reject(new Error("the tokenizer is away"))
        : real.tokenCounter(name),
    loadedLexicon: () => (control.lexicon === "fail" ? null : real.loadedLexicon()),
    lexicon: () => (control.lexicon === "fail" ? Promise.reject(new Error("no word model")) : real.lexicon()),
    get languageModel() {
      return control.languageModel;
    },
    get webhook() {
      return control.webhook;
    },
    webhookBreaker: real.webhookBreaker,
    get modelQuota() {
      return control.modelQuota;
    },
    tenantModelUsage: faulty(
      new D1TenantModelUsage(env.DB, {
        get calls() {
          return control.tenantModelQuota.calls;
        },
        get tokens() {
          return control.tenantModelQuota.tokens;
        },
      }),
      () => control.tenantModelUsage,
    ),
    get metrics() {
      return control.metrics;
    },
    traces: real.traces,
    vectors: vectorize === null ? real.vectors : new VectorizeIndex(vectorize, { write: 20, read: 20 }),
    // Objects outlive a test's settings.
    quotas: {
      get entries() {
        return control.quotas.entries;
      },
      get memories() {
        return control.quotas.memories;
      },
      get threads() {
        return control.quotas.threads;
      },
      get bytes() {
        return control.quotas.bytes;
      },
    },
    get storageBytes() {
      return control.storageBytes ?? real.storageBytes;
    },
    recall: {
      ...real.recall,
      messageIndexing: control.messageIndexing,
      reranker: withReranker ? longestFirst : null,
    },
    vectorBudget: control.vectorBudget ?? real.vectorBudget,
    kernel: real.kernel,
    vectorBytes: control.vectorBytes ?? real.vectorBytes,
    now: clock,
    sleep: async (ms) => advance(ms),
  };
}

/** A port whose every method fails or hangs while `how` says so. */
function faulty<Port extends object>(port: Port, how: () => "ok" | "fail" | "hang"): Port {
  return new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...given: unknown[]): Promise<unknown> => {
        if (how() === "fail") throw new Error("D1_ERROR: the network went away");
        if (how() === "hang") return new Promise(() => {});
        return Reflect.apply(method, target, given) as unknown;
      };
    },
  });
}

/** `leave` is any call of D1: it leaves an object when what that has stored is safe, and the intent with it. */
async function write<T>(
  kind: "put" | "listing" | "other",
  perform: () => Promise<T>,
  leave: () => Promise<void> = async () => {},
): Promise<T> {
  await control.duringD1Write();
  const how = control.d1NextWrites.shift() ?? control.d1Writes;
  if (how === "before") throw new Error("D1_ERROR: the network went away");
  if (how === "full" && kind !== "other")
    throw new FullDatabase("D1_ERROR: database or disk is full: SQLITE_FULL");
  if (how === "refused" && kind === "put") throw new RefusedWrite("D1_ERROR: SQLITE_CONSTRAINT");
  if (how === "late" || how === "hang-late") {
    await leave();
    hold(perform);
  }
  if (how === "late") throw new DeadlineExceeded(10_000);
  if (how === "hang" || how === "hang-late") return forGood();
  const done = await perform();
  if (how === "after") throw new Error("D1_ERROR: the answer was lost");
  return how === "hang-after" ? forGood() : done;
}

function forGood(): Promise<never> {
  control.hanging = true;
  return new Promise(() => {});
}

async function read<T>(perform: () => Promise<T>): Promise<T> {
  if (control.d1Reads === "fail") throw new Error("D1_ERROR: the network went away");
  const answer = await perform();
  await control.duringD1Read();
  return answer;
}

function faultyRecords(real: MemoryRecords): MemoryRecords {
  return {
    write: (one) =>
      write(
        one.put.length > 0 ? "put" : "other",
        () => real.write(one),
        () => real.check(),
      ),
    get: (owner, id, moment) => read(() => real.get(owner, id, moment)),
    list: (owner, page) => read(() => real.list(owner, page)),
    history: (owner, id, page) => read(() => real.history(owner, id, page)),
    all: (owner, page) => read(() => real.all(owner, page)),
    exported: (owner, page) => read(() => real.exported(owner, page)),
    owners: (page) => read(() => real.owners(page)),
    createdByDay: (from) => read(() => real.createdByDay(from)),
    waiting: () => read(() => real.waiting()),
    check: () => read(() => real.check()),
  };
}

/** Prefers what is long. */
const longestFirst: Reranker = {
  model: "longest-first",
  async rerank(_query, texts, { withinMs }) {
    if (control.reranker === "fail") throw new Error("the reranker is down");
    if (control.reranker === "hang") return withDeadline(new Promise(() => {}), Math.min(withinMs, 20));
    return texts.map((text) => Math.min(1, text.length / 1000));
  },
};
function faultyErasures(real: ErasureRecords): ErasureRecords {
  const leave = async () => void (await real.keys());
  return {
    note: (...given) => write("other", () => real.note(...given), leave),
    erase: (...given) => write("other", () => real.erase(...given), leave),
    addKey: (key) => write("other", () => real.addKey(key), leave),
    get: (id) => read(() => real.get(id)),
    hasRows: (...given) => read(() => real.hasRows(...given)),
    versionsOfScope: (scope) => read(() => real.versionsOfScope(scope)),
    eraseVersions: (...given) => write("other", () => real.eraseVersions(...given), leave),
    running: (page) => read(() => real.running(page)),
    anySince: (...given) => read(() => real.anySince(...given)),
    unfinished: () => read(() => real.unfinished()),
    hasThread: (id) => read(() => real.hasThread(id)),
    keys: () => read(() => real.keys()),
  };
}

function embedderOf({ embedder }: Ports): Embedder {
  if (control.misnamed) return new MisconfiguredEmbedder("EMBEDDINGS_MODEL is misspelt");
  return control.formerModel ? mirrored(embedder) : faultyEmbedder(embedder);
}

function faultyEmbedder(real: Embedder): Embedder {
  return {
    model: real.model,
    dimensions: real.dimensions,
    get batchCharacters() {
      return control.batchCharacters ?? real.batchCharacters ?? Infinity;
    },
    async embed(texts, options = {}) {
      control.embedded.push({ texts, as: options.as ?? "document" });
      await control.duringEmbed();
      if (control.embedder === "fail") throw new Error("the embedder is down");
      // The callers' patience is cut short, as that of Vectorize's is.
      if (control.embedder === "hang") return withDeadline(new Promise(() => {}), 20);
      if (control.embedder === "wrong") return new WorkersAiEmbedder(wrong).embed(texts, options);
      if (texts.some((text) => text === control.unembeddable)) throw new Error("the embedder refuses a text");
      return real.embed(texts, options);
    },
    embedNow: (text) => (control.embedsNow ? real.embedNow?.(text) : undefined),
  };
}

const wrong: WorkersAi = { run: async () => ({ shape: [1, 3], data: [[1, 2, 3]] }) };

/** A model of another space: the first one's, with each number in another place. */
const mirrored = (real: Embedder): Embedder => ({
  model: `${real.model}-mirrored`,
  dimensions: real.dimensions,
  embed: async (texts, options) =>
    (await real.embed(texts, options)).map((vector) => vector && vector.toReversed()),
});
