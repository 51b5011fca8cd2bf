import { fetchAsset } from "../assets.ts";
import { staticModel } from "../models.ts";
import { SharedModel } from "../shared-model.ts";
import { EmbeddedModel } from "./model.ts";
import { SharedVocabulary } from "./vocabulary.ts";

/** The word model of an isolate: 7 MB. */
export class WordModel extends SharedModel<EmbeddedModel> {
  constructor({
    vocabulary = new SharedVocabulary(),
    ...options
  }: { vocabulary?: SharedVocabulary; takeOverMs?: number } = {}) {
    super(async (assets) => {
      const [tokens, table] = await Promise.all([
        vocabulary.get(assets),
        fetchAsset(assets, `${staticModel.name}/model.safetensors`).then((file) => file.arrayBuffer()),
      ]);
      return new EmbeddedModel(staticModel.name, tokens, table);
    }, options);
  }
}
