// `npm run bench -- --codes`: how many of the nearest vectors are among those that a search by codes reads, and what it costs.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { printTable } from "../table.ts";

type Vector = Float32Array;
type Quantised = { data: Int8Array; scale: number };
type Scored = { n: number; score: number };
type Table = {
  add: (n: number, vector: Quantised) => boolean;
  readonly bytes: number;
};
type Vectors = Table & {
  nearest: (query: Vector, limit: number, allowed: (n: number) => boolean) => Scored[];
};
type Codes = Table & { likely: (query: Vector, limit: number, allowed: (n: number) => boolean) => number[] };

const root = join(import.meta.dirname, "../../..");
/** As many as an object holds. */
const MOST = 98_304;
const WANTED = 32;
const QUERIES = 100;
const TABLES = 500;
const all = () => true;
const READ = [256, 512, 1_024, 2_048, 4_096];

/** By addresses that the compiler does not follow: these modules are typed for workerd, not for Node. */
async function load<T>(path: string): Promise<T> {
  const { href } = new URL(path, import.meta.url);
  return (await import(href)) as T;
}

export async function measureCodes({ smoke = false } = {}): Promise<void> {
  // Its hooks load the modules of WebAssembly.
  const { embed } = await load<{ embed: (text: string) => number[] }>("../peers/embed.ts");
  const { quantise } = await load<{ quantise: (vector: Vector) => Quantised }>(
    "../../../src/platform/vectors/int8.ts",
  );
  const { VectorTable } = await load<{
    VectorTable: new (dimensions: number, most: number, kernel: object) => Vectors;
  }>("../../../src/platform/vectors/vector-table.ts");
  const { Kernel } = await load<{ Kernel: new () => object }>(
    "../../../src/platform/vectors/kernel/kernel.ts",
  );
  const { CodeTable } = await load<{ CodeTable: new (dimensions: number, most: number) => Codes }>(
    "../../../src/platform/vectors/code-table.ts",
  );
  const vectorOf = (text: string): Vector | null => {
    try {
      return Float32Array.from(embed(text));
    } catch {
      // No word of the model is in it.
      return null;
    }
  };
  const rows: string[][] = [];
  for (const [name, texts] of [
    ["sentences of documentation", sentencesOfDocs()],
    ["words as frequent as in a language", madeUp(MOST + QUERIES)],
  ] as const) {
    const some = texts.slice(0, (smoke ? 1_000 : MOST) + QUERIES);
    const queries = some.splice(0, smoke ? 10 : QUERIES).flatMap((text, i) => {
      // A question is shorter than what answers it.
      const vector = vectorOf(i % 2 === 0 ? text : text.split(" ").slice(0, 6).join(" "));
      return vector === null ? [] : [vector];
    });
    const [vectors, codes] = [new VectorTable(256, MOST, new Kernel()), new CodeTable(256, MOST)];
    let size = 0;
    for (const text of some) {
      const vector = vectorOf(text);
      if (vector === null) continue;
      vectors.add(size, quantise(vector));
      codes.add(size++, quantise(vector));
    }
    const agreed = READ.map(() => 0);
    let wanted = 0;
    for (const query of queries) {
      const nearest = vectors.nearest(query, WANTED, all);
      wanted += nearest.length;
      for (const [i, read] of READ.entries()) {
        const likely = new Set(codes.likely(query, read, all));
        agreed[i] = (agreed[i] ?? 0) + nearest.filter(({ n }) => likely.has(n)).length;
      }
    }
    const ratio =
      cpuOf(() => queries.forEach((query) => codes.likely(query, 2_048, all))) /
      cpuOf(() => queries.forEach((query) => vectors.nearest(query, WANTED, all)));
    const cells = agreed.map((n) => `${((100 * n) / wanted).toFixed(2)} %`);
    const share = `${((100 * codes.bytes) / vectors.bytes).toFixed(0)} %`;
    rows.push([name, size.toLocaleString("en-US"), ...cells, `${ratio.toFixed(1)} ×`, share]);
  }
  printTable(
    ["texts", "vectors", ...READ.map((n) => `${n.toLocaleString("en-US")} read`), "CPU of a scan", "bytes"],
    rows,
  );
  const shared = new Kernel();
  const bytes = bytesOf(() => {
    const table = new VectorTable(256, MOST, shared);
    table.add(1, quantise(new Float32Array(256).fill(1 / 16)));
    return table;
  });
  console.log(
    `\nThe vectors of an awake object with one: ${(bytes / 1024).toFixed(1)} KB of heap and buffers`,
  );
}

/** The heap and the buffers that each result of this holds. */
function bytesOf(make: () => object): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = () => {
    // Buffers of what the first one finds are freed by the second.
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  const made = Array.from({ length: TABLES }, make);
  return (used() - before) / made.length;
}

function cpuOf(act: () => void): number {
  act();
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Sentences of this project's documents, and of those of its packages, in a mixed order. */
function sentencesOfDocs(): string[] {
  const files = globSync(["docs/**/*.md", "node_modules/**/*.md", "packages/adapters/node_modules/**/*.md"], {
    cwd: root,
  });
  const found = new Set<string>();
  for (const file of files.toSorted())
    for (const part of readFileSync(join(root, file), "utf8")
      .replaceAll(/```[\s\S]*?```/g, " ")
      .split(/(?<=[.!?])\s+|\n+/)) {
      const sentence = part.replaceAll(/[#*`|>[\]()\s]+/g, " ").trim();
      const words = sentence.split(" ").length;
      if (words >= 5 && words <= 60) found.add(sentence);
    }
  const next = seeded(1);
  return [...found]
    .map((text) => ({ text, at: next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ text }) => text);
}

/** Twelve words of the model's vocabulary each: the nth comes up 1/n times as often as the first. */
function madeUp(count: number): string[] {
  const words = readFileSync(join(root, "assets/model/vocab.txt"), "utf8")
    .split("\n")
    .filter((word) => /^[a-z]{3,}$/.test(word));
  const next = seeded(2);
  const word = () => words[Math.floor(words.length ** next()) - 1] ?? "";
  return Array.from({ length: count }, () => Array.from({ length: 12 }, word).join(" "));
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
