import { SharedModel } from "../shared-model.ts";
import { type EmbeddedModel, loadModel } from "./model.ts";

export const MODEL_NAME = "static-en-256";

/** The word model of an isolate: 7 MB. */
export class WordModel extends SharedModel<EmbeddedModel> {
  constructor(options: { takeOverMs?: number } = {}) {
    super((assets) => loadModel(assets, MODEL_NAME), options);
  }
}
