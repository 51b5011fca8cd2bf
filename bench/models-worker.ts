// A Worker that only embeds: `GET /MODEL/WORDS/TIMES`.
import { EmbeddedEmbedder } from "../src/platform/embeddings/embedded.ts";
import { WordModel } from "../src/platform/embeddings/embedded/word-model.ts";
import { MiniLmEmbedder } from "../src/platform/embeddings/minilm.ts";
import { SharedMiniLm } from "../src/platform/embeddings/minilm/minilm.ts";

/** A piece each, of both models. */
const WORDS = "we keep the spare key of the old house under a stone near the water".split(" ");

const [wordModel, minilm] = [new WordModel(), new SharedMiniLm()];

export default {
  async fetch(request, { ASSETS }) {
    const [, model, words = 0, times = 0] = new URL(request.url).pathname.split("/");
    const embedder =
      model === "minilm-l6" ? new MiniLmEmbedder(ASSETS, minilm) : new EmbeddedEmbedder(ASSETS, wordModel);
    const text = Array.from({ length: Number(words) }, (_, i) => WORDS[i % WORDS.length]).join(" ");
    for (let i = 0; i < Number(times); i++) await embedder.embed([text]);
    return new Response();
  },
} satisfies ExportedHandler<{ ASSETS: Fetcher }>;
