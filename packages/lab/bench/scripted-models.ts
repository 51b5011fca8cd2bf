// A language model and an embedder of a service, on loopback: they answer as they would, know nothing, and count what they read.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Tokens } from "./counts.ts";

export const DIMENSIONS = 768;

type Line = { n: number; from?: string; text?: string; fact?: { object: string } };
type Question = { messages: { content: string }[] };

export type ScriptedModels = {
  /** The variables of a Worker that asks them. */
  llm: Readonly<Record<string, string>>;
  embedder: Readonly<Record<string, string>>;
  /** Of the language model so far. */
  tokens: () => Tokens;
  stop: () => Promise<void>;
};

export async function startModels(): Promise<ScriptedModels> {
  const tokens: Tokens = { calls: 0, input: 0, output: 0 };
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answered = await answerTo(request);
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(answered));
  };
  const answerTo = async (request: IncomingMessage): Promise<object> => {
    const asked = JSON.parse(await text(request)) as Question & { input?: string[] };
    if (request.url?.endsWith("/embeddings")) return vectorsOf(asked.input ?? []);
    const content = JSON.stringify(found(asked));
    const usage = {
      prompt_tokens: asked.messages.reduce((sum, one) => sum + countTokens(one.content), 0),
      completion_tokens: countTokens(content),
    };
    tokens.calls++;
    tokens.input += usage.prompt_tokens;
    tokens.output += usage.completion_tokens;
    return { choices: [{ message: { content } }], usage };
  };
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    llm: { LLM_URL: url, LLM_MODEL: "scripted" },
    embedder: {
      EMBEDDINGS_URL: url,
      EMBEDDINGS_MODEL: "scripted",
      EMBEDDINGS_DIMENSIONS: String(DIMENSIONS),
    },
    tokens: () => ({ ...tokens }),
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** Finds "I like …" in the user's messages that are to be extracted from, and agrees to each fact that it sees again. */
function found({ messages: [system, question] }: Question): object {
  const asks = (field: string): boolean => system?.content.includes(`- "${field}":`) ?? false;
  const [, shown = question?.content ?? ""] = question?.content.split("Messages to extract from:\n") ?? [];
  const lines = shown.split("\n").flatMap((line) => (line.startsWith("{") ? (JSON.parse(line) as Line) : []));
  if (system?.content.includes('"looks"'))
    return {
      looks: lines.map(({ n, fact }) => ({
        n,
        object: fact?.object,
        says: true,
        subject: true,
        fact: true,
        now: true,
      })),
    };
  const facts = lines.flatMap(({ n, from, text: said = "" }) => {
    const object = from === "user" ? /\bI like ([^.]+)\./.exec(said)?.[1] : undefined;
    return object === undefined ? [] : [{ subject: "user", predicate: "likes", object, sources: [n] }];
  });
  const [first] = lines;
  const episodes = [{ text: first?.text ?? "", sources: lines.map(({ n }) => n) }];
  return {
    ...(asks("facts") && { facts }),
    ...(asks("episodes") && { episodes }),
    ...(asks("procedures") && { procedures: [] }),
  };
}

const vectorsOf = (texts: readonly string[]): object => ({
  data: texts.map((one, index) => ({
    index,
    embedding: Array.from({ length: DIMENSIONS }, (_, i) => Math.sin((i + 1) * (one.length + i))),
  })),
});
