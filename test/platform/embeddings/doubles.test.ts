// The other tests' doubles of an embedder keep the same contract.
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";
import type { Embedder } from "../../../src/platform/embeddings/embedder.ts";
import { control, restore } from "../../doubles/control.ts";
import { faultyPorts } from "../../doubles/ports.ts";
import { embedderContract, texts } from "./contract.ts";

afterEach(restore);

embedderContract("the embedder that can fail", () => faultyPorts(env).embedder, {
  known: texts,
  hanging: () => {
    control.embedder = "hang";
    return faultyPorts(env).embedder;
  },
});
embedderContract("the embedder of another space", () => faultyPorts(env).formerEmbedders[0] as Embedder, {
  known: texts,
});
