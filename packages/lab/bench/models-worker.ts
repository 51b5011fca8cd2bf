// A Worker that only embeds: `GET /MODEL/WORDS/TIMES`.
import { EmbeddedEmbedder } from "#platform/embeddings/embedded.ts";
import { WordModel } from "#platform/embeddings/embedded/word-model.ts";
import { MiniEmbedder } from "#platform/embeddings/mini.ts";
import { SharedMini } from "#platform/embeddings/mini/mini.ts";
import { miniModel } from "#platform/embeddings/models.ts";

/** A piece each. */
const WORDS = "we keep the spare key of the old house under a stone near the water".split(" ");

const [wordModel, mini] = [new WordModel(), new SharedMini()];

export default {
  async fetch(request, { ASSETS }) {
    const [, model, words = 0, times = 0] = new URL(request.url).pathname.split("/");
    const embedder =
      model === miniModel.name ? new MiniEmbedder(ASSETS, mini) : new EmbeddedEmbedder(ASSETS, wordModel);
    const text = Array.from({ length: Number(words) }, (_, i) => WORDS[i % WORDS.length]).join(" ");
    for (let i = 0; i < Number(times); i++) await embedder.embed([text]);
    return new Response();
  },
} satisfies ExportedHandler<{ ASSETS: Fetcher }>;
