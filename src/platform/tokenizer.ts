import { BytePairEncodingCore } from "gpt-tokenizer/BytePairEncodingCore";
import { O200KBase } from "gpt-tokenizer/encodingParams/o200k_base";
import { type CountTokens, estimateTokens, type TokenizerName } from "../domain/context/tokens.ts";
import { type Assets, fetchAsset } from "./embeddings/assets.ts";
import { SharedModel } from "./embeddings/shared-model.ts";

type Tokenizer = { count: CountTokens };

/** A token as text, or as bytes where it is no valid UTF-8. Its index is its rank. */
type Ranks = (string | number[])[];

/** The tokenizer of an isolate: 17 MB, which the first call that asks for it loads in some 100 ms. */
export class SharedTokenizer extends SharedModel<Tokenizer> {
  constructor() {
    super(async (assets) => {
      const response = await fetchAsset(assets, "o200k_base.json");
      // The build of the assets writes the file from the package's own ranks.
      const core = new BytePairEncodingCore(O200KBase(await response.json<Ranks>()));
      return { count: (text) => core.countNative(text) };
    });
  }
}

/** Rejects where the tokenizer is not among the assets. */
export async function tokenCounter(
  name: TokenizerName,
  { tokenizer, assets }: { tokenizer: SharedTokenizer; assets: Assets },
): Promise<CountTokens> {
  return name === "characters" ? estimateTokens : (await tokenizer.get(assets)).count;
}
