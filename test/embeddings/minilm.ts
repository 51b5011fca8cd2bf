import { env } from "cloudflare:workers";
import { MiniLmEmbedder } from "../../src/platform/embeddings/minilm.ts";
import { problemOfWeights, SharedMiniLm } from "../../src/platform/embeddings/minilm/minilm.ts";

export const isMade = (await problemOfWeights(env.ASSETS)) === null;
/** For the names of tests that need the weights. */
export const REASON = isMade ? "" : " (skipped: npm run minilm has not been run)";

export const shared = new SharedMiniLm();
export const minilm = () => new MiniLmEmbedder(env.ASSETS, shared);
