// `npm run bench -- --models`: what the models in the Worker cost there: to load, and for a text.
import { modelsInWorker, staticModel } from "#platform/embeddings/models.ts";
import { printTable } from "../table.ts";
import { startModels } from "./servers.ts";
import { median } from "./summary.ts";

/** Word pieces of a text, the last one as many as a window has; and how often it is embedded for one figure. */
const PIECES = [12, 34, 126];
const models = modelsInWorker.map(({ name }) => ({
  model: name,
  times: name === staticModel.name ? 2_000 : 50,
}));
const ROUNDS = 5;
const MB = 1e6;

export async function measureModels(): Promise<void> {
  const all: { load: number; memory: number; texts: number[] }[] = [];
  for (const { model, times } of models) {
    // Each in a workerd of its own, for the memory.
    const server = await startModels();
    const cpuOf = async (path: string): Promise<number> => {
      const before = server.cpu();
      const answer = await fetch(new URL(path, server.url));
      if (!answer.ok) throw new Error(`${model}: ${await answer.text()}`);
      return (server.cpu() ?? NaN) - (before ?? NaN);
    };
    try {
      await cpuOf(`${model}/1/0`);
      const before = server.memory();
      const load = await cpuOf(`${model}/1/1`);
      const memory = server.memory() - before;
      const texts: number[] = [];
      for (const pieces of PIECES) {
        const rounds: number[] = [];
        // The first one only warms up.
        for (let i = 0; i <= ROUNDS; i++) rounds.push((await cpuOf(`${model}/${pieces}/${times}`)) / times);
        texts.push(median(rounds.slice(1)));
      }
      all.push({ load, memory, texts });
    } finally {
      await server.stop();
    }
  }
  const row = (name: string, of: (one: (typeof all)[number]) => number, digits: number) => {
    const [first = NaN, second = NaN] = all.map(of);
    return [name, first.toFixed(digits), second.toFixed(digits), String(Math.round(second / first))];
  };
  printTable(
    ["", ...models.map(({ model }) => model), "ratio"],
    [
      row("load, ms of CPU", ({ load }) => load, 0),
      row("memory, MB", ({ memory }) => memory / MB, 0),
      ...PIECES.map((pieces, i) => row(`${pieces} pieces, ms of CPU`, ({ texts }) => texts[i] ?? NaN, 3)),
    ],
  );
}
