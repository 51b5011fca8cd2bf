// Stands in for a model of the AI SDK where there is no key. It answers with the lines of memory in its prompt, but not those of its
// own answers, and finds a few facts where it is asked for JSON.

const SAYS =
  /\bI(?:['’]m| am)? (?:now )?(?<words>live in|work at|allergic to) (?<object>[\p{L}][\p{L} ]*?)(?=[.,!?]|$)/gu;
const PREDICATES = { "live in": "lives in", "work at": "works at", "allergic to": "is allergic to" };

const usage = { inputTokens: {}, outputTokens: {} };
const finishReason = { unified: "stop", raw: undefined };

export const scriptedModel = {
  specificationVersion: "v4",
  provider: "scripted",
  modelId: "scripted",
  supportedUrls: {},
  doGenerate: async (call) => ({
    content: [{ type: "text", text: answerTo(call) }],
    finishReason,
    usage,
    warnings: [],
  }),
  doStream: async (call) => ({
    stream: ReadableStream.from([
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "0" },
      ...answerTo(call)
        .split(/(?<=\s)/)
        .map((delta) => ({ type: "text-delta", id: "0", delta })),
      { type: "text-end", id: "0" },
      { type: "finish", finishReason, usage },
    ]),
  }),
};

function answerTo({ prompt, responseFormat }) {
  const given = prompt.filter(({ role }) => role !== "assistant");
  const texts = given.flatMap(({ content }) =>
    typeof content === "string"
      ? [content]
      : content.flatMap(({ type, text }) => (type === "text" ? [text] : [])),
  );
  if (responseFormat?.type === "json") return JSON.stringify({ facts: factsIn(texts.at(-1)) });
  const lines = texts.flatMap((text) => text.match(/^- .+$/gm) ?? []);
  return lines.length === 0 ? "I know nothing about that yet." : `I remember:\n${lines.join("\n")}`;
}

const factsIn = (text) =>
  [...text.matchAll(SAYS)].map(({ groups: { words, object } }) => ({ predicate: PREDICATES[words], object }));
