// A model behind an OpenAI-compatible endpoint that answers from a file, and asks a real one for what the file lacks.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { z } from "zod";

const Recording = z.object({
  /** The model that gave the answers. */
  model: z.string(),
  /** By the hash of the messages that were sent. */
  answers: z.record(z.string(), z.string()),
});
type Recording = z.infer<typeof Recording>;
const Asked = z.object({ messages: z.array(z.object({ role: z.string(), content: z.string() })) });
const Answer = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
});

/** The real model. `url`: as LLM_URL has it. */
export type RealModel = { url: string; model: string; key?: string };
export type RecordedModel = {
  /** The variables of the Worker that asks it. */
  vars: Readonly<Record<string, string>>;
  model: string;
  stop: () => void;
};

/** Serves the answers of `file` on loopback. With a `real` model, answers that are not in the file are added to it. */
export async function recordedModel(file: string, real: RealModel | null): Promise<RecordedModel> {
  const recording: Recording = existsSync(file)
    ? Recording.parse(JSON.parse(readFileSync(file, "utf8")))
    : { model: real?.model ?? "", answers: {} };
  if (real !== null && real.model !== recording.model)
    throw new Error(`${file} has answers of ${recording.model}, and LLM_MODEL is ${real.model}`);
  if (recording.model === "") throw new Error(`there is no ${file}, and no LLM_URL and LLM_MODEL to make it`);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await json(request);
    const key = createHash("sha256")
      .update(JSON.stringify(Asked.parse(body).messages))
      .digest("base64url");
    recording.answers[key] ??= real === null ? missing(file) : await askReal(real, body);
    if (real !== null) writeFileSync(file, `${JSON.stringify(recording, null, 2)}\n`);
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ choices: [{ message: { content: recording.answers[key] } }] }));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(String(error));
      response.writeHead(400).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    model: recording.model,
    vars: {
      LLM_URL: `http://127.0.0.1:${port}/v1`,
      LLM_MODEL: recording.model,
      QUOTA_MODEL_CALLS: "none",
      QUOTA_MODEL_TOKENS: "none",
      QUOTA_TENANT_MODEL_CALLS: "none",
      QUOTA_TENANT_MODEL_TOKENS: "none",
    },
    stop: () => void server.close(),
  };
}

const missing = (file: string): never => {
  throw new Error(`${file} has no answer to this prompt: it was recorded with other data, or another prompt`);
};

async function askReal({ url, key }: RealModel, body: unknown): Promise<string> {
  const base = url.replace(/\/$/, "");
  const response = await fetch(base.endsWith("/chat/completions") ? base : `${base}/chat/completions`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}`);
  const { choices } = Answer.parse(await response.json());
  return choices[0]?.message.content ?? "";
}
