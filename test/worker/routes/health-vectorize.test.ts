// A deployment that binds Vectorize: what /health says of it.
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { portsOf } from "../../../src/platform/bindings.ts";
import { health } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { bindVectorize } from "../../doubles/ports.ts";
import { VectorizeDouble } from "../../doubles/vectorize.ts";

afterEach(restore);
bindVectorize(new VectorizeDouble(256));

/** The embedded model has 256 dimensions. */
const healthWith = async (dimensions: number) => {
  const bound = { ...env, VECTORIZE: new VectorizeDouble(dimensions) };
  const response = await createApp(portsOf).request("/health", {}, bound);
  return { status: response.status, body: await response.json<{ problems?: string[] }>() };
};

it("says that Vectorize is live", async () => {
  const { status, body } = await health();
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "ok", vectorIndex: "vectorize" });
  expect(await healthWith(256)).toMatchObject({ status: 200, body: { vectorIndex: "vectorize" } });
});

it("says that the index has other dimensions than the embedder, and how to make one that fits", async () => {
  const { status, body } = await healthWith(768);
  // Recall has the objects' own index meanwhile.
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "degraded" });
  expect(body.problems).toEqual([expect.stringContaining("768 dimensions, the embedder 256")]);
  expect(body.problems?.[0]).toContain("wrangler vectorize create NAME --dimensions=256 --metric=cosine");
});

it.each(["fail", "hang"] as const)("says that Vectorize does not answer, while its reads %s", async (how) => {
  control.vectorizeReads = how;
  const { status, body } = await health();
  expect(status).toBe(200);
  expect(body.status).toBe("degraded");
  expect(body.problems).toEqual([expect.stringContaining("Vectorize does not answer")]);
});
