import type { ContextRequest, PromptContext } from "../../contract/user-memory.ts";
import { HISTORY } from "../../domain/context/layers/history.ts";
import { rulesOf } from "../../domain/context/layers/rules.ts";
import {
  isOfMessages,
  planned,
  type PlannedLayer,
  searches,
  USUAL_LAYERS,
} from "../../domain/context/plan.ts";
import { messageHash } from "../../domain/context/message-hash.ts";
import { withBlock } from "../../domain/context/prompted-message.ts";
import { steadyWindow } from "../../domain/conversation/history-window.ts";
import { sanitizeConversation } from "../../domain/conversation/sanitize.ts";
import { fail, invalidField, ok, type Result } from "../../domain/errors.ts";
import { hash16 } from "../../domain/hash.ts";
import { newThreadId, userHash } from "../../domain/ids.ts";
import { type Owner, ownerOf } from "../../domain/memory/record.ts";
import { present } from "../../domain/present.ts";
import { searchedQuery } from "../../domain/memory/searched-query.ts";
import { messagesJson, type ReadMessage } from "../../domain/page-json.ts";
import type { CountTokens, TokenizerName } from "../../domain/context/tokens.ts";
import { cacheLifetimeMs } from "../../domain/prompt-cache/lifetime.ts";
import { durationMs } from "../../domain/prompt-cache/duration.ts";
import type { ContextAnswer, ContextBody, ContextFormat, ContextLayer } from "../../domain/schema/context.ts";
import type { Message } from "../../domain/schema/thread.ts";
import { embedOne } from "../../platform/embeddings/embed.ts";
import type { Services } from "../services.ts";
import { promptedMessage } from "./prompted-message.ts";

type Needs = Pick<
  Services,
  "embedder" | "userMemory" | "recallIds" | "tenantProfiles" | "tokenCounter" | "now"
>;

const BUDGET = 2_000;
const HOUR_MS = 60 * 60 * 1000;

/** `history`: the thread's last messages as JSON, in the bytes that they were stored in. */
type MadeContext = { answer: ContextAnswer; history?: Uint8Array };

/**
 * Makes the memory of a prompt: one embedding of the query, then one call to the user's object. `readOnly`: somebody else
 * reads the user's memory; nothing is counted, no thread begins, and no block is kept.
 */
export async function context(
  needs: Needs,
  user: string,
  body: ContextBody,
  { readOnly }: { readOnly: boolean },
): Promise<Result<MadeContext>> {
  const keeping = readOnly ? keepingField(body) : undefined;
  if (keeping !== undefined) return refusedKeeping(keeping);
  const owner = await ownerOf(user);
  const object = needs.userMemory(owner.hash);
  const chosen = await layersOf(
    body,
    async (name) => (await object.contextProfile(name)) ?? needs.tenantProfiles.get(name),
  );
  if (!chosen.ok) return chosen;
  const plan = await planOf(body, chosen.value);
  if (!plan.ok) return plan;
  const request = await requestOf(needs, plan.value, owner);
  const made = await object.context({
    ...request,
    ...present({ history: plan.value.length }),
    ...(readOnly && { isUncounted: true }),
  });
  return made.ok ? ok(await shownAs(needs, plan.value, made.value)) : made;
}

/** `shown`: the layers of the request; `length`: the messages of the thread that the answer has. */
type Plan = {
  body: ContextBody & { budget: number; format: ContextFormat };
  shown: readonly ContextLayer[];
  layers: PlannedLayer[];
  length: number | undefined;
};

async function planOf(given: ContextBody, chosen: readonly ContextLayer[]): Promise<Result<Plan>> {
  const body = { ...given, budget: given.budget ?? BUDGET, format: given.format ?? "xml" };
  const hasHistory = body.format === "messages" || body.history !== undefined;
  const shown = chosen.filter((layer) => !hasHistory || rulesOf(layer).isInHistory !== true);
  const layers = planned(shown, body.budget);
  const problem = problemOf(layers, body) ?? (await problemOfMessages(body));
  if (problem !== null) return invalidField(...problem);
  const length = hasHistory ? (body.history ?? historyLength(historyOf(layers))) : undefined;
  return ok({ body, shown, layers, length });
}

/** The answer in the form that the caller asks for: with the thread's last messages, or as messages. */
async function shownAs(
  needs: Needs,
  { body, layers, length = 0 }: Plan,
  { history: messages = [], isStored = false, recallId, ...made }: PromptContext,
): Promise<MadeContext> {
  const answer = {
    ...made,
    ...(recallId !== undefined && { recallId: await needs.recallIds.sealed(recallId) }),
  };
  if (body.history !== undefined) return withHistory(answer, messages, length);
  if (body.format !== "messages") return { answer };
  const most = historyOf(layers)?.max;
  const count = await needs.tokenCounter(most === undefined ? "characters" : tokenizerOf(body));
  const prompt = promptOf({ ...answer, history: messages, isStored }, body.query, { most, length, count });
  return { answer: { ...answer, messages: prompt, etag: await hash16(JSON.stringify(prompt)) } };
}

const historyOf = (layers: readonly PlannedLayer[]): PlannedLayer | undefined =>
  layers.find(({ layer }) => isOfMessages(layer));

const tokenizerOf = ({ tokenizer = "characters" }: ContextBody): TokenizerName => tokenizer;

/** The request to the user's object: everything that the layers need, and one vector of the query. */
async function requestOf(needs: Needs, { body, shown, layers }: Plan, owner: Owner): Promise<ContextRequest> {
  const { query, threadId, thread, scope, snapshot, messages, referenceDate, timeZone } = body;
  const { budget, format, sources = false } = body;
  const tokenizer = tokenizerOf(body);
  const others = new Set((body.owners ?? []).filter((name) => name !== owner.id));
  const owners = await Promise.all(Array.from(others, (name) => userHash(name)));
  return {
    owner: owner.hash,
    budget,
    layers: layers.filter(({ layer }) => !isOfMessages(layer)),
    format,
    tokenizer,
    sources,
    recipe: await hash16(
      JSON.stringify([shown, isText(format) ? format : "xml", scope ?? null, tokenizer, sources]),
    ),
    explain: body.explain ?? false,
    answerable: body.answerable ?? "auto",
    cacheTtlMs: cacheLifetimeMs(body.provider ?? "anthropic", msOf(body.cacheTtl)),
    ...present({ threadId, scope, messages, referenceDate, timeZone }),
    ...(query !== undefined && { query: await queryOf(needs, query, layers) }),
    ...(thread && { thread: { ...thread, newId: newThreadId(owner.hash, needs.now()), owner } }),
    ...(snapshot !== undefined && { snapshot: { name: snapshot, ttlMs: msOf(body.snapshotTtl) ?? HOUR_MS } }),
    ...(owners.length > 0 && { owners }),
  };
}

const msOf = (ttl: string | undefined): number | undefined =>
  ttl === undefined ? undefined : (durationMs(ttl) ?? undefined);

/** An answer with the thread's last messages, of a longer history so that their start holds. */
async function withHistory(
  answer: ContextAnswer,
  messages: ReadMessage[],
  length: number,
): Promise<MadeContext> {
  const items = messages.length < length ? messages : steadyWindow(messages);
  const { json } = messagesJson({ items, more: false }, ",");
  return { answer: { ...answer, etag: await hash16(answer.etag + decoder.decode(json)) }, history: json };
}

async function layersOf(
  { layers, profile }: ContextBody,
  stored: (name: string) => Promise<ContextLayer[] | null>,
): Promise<Result<readonly ContextLayer[]>> {
  if (profile === undefined) return ok(layers ?? USUAL_LAYERS);
  const found = await stored(profile);
  return found === null
    ? invalidField("body.profile", "is no profile of this user nor of the tenant")
    : ok(found);
}

/** The field that asks to keep the blocks. */
const keepingField = (body: ContextBody): string | undefined =>
  (["threadId", "thread", "snapshot"] as const).find((field) => body[field] !== undefined);

const KEEPS_BLOCKS = "keeps blocks, and this caller only reads the memory of this shared owner";
const refusedKeeping = (field: string) =>
  fail("forbidden", { details: [{ path: `body.${field}`, message: KEEPS_BLOCKS }] });

/** The field of a request that cannot be met, and why. */
function problemOf(
  layers: readonly PlannedLayer[],
  { budget, format, profile }: Plan["body"],
): [path: string, message: string] | null {
  // The history is no part of the blocks.
  const least = layers.reduce((sum, { layer, min }) => sum + (isOfMessages(layer) ? 0 : min), 0);
  if (least > budget) return ["body.budget", `is below the sum of the layers' minimums, ${least}`];
  if (historyOf(layers) === undefined || format === "messages") return null;
  const path = profile === undefined ? "body.layers" : "body.profile";
  return [path, "has history, which goes with the format messages"];
}

/** A prompt without its current message would take each block for another turn's. */
async function problemOfMessages({
  query,
  messages = [],
}: ContextBody): Promise<[path: string, message: string] | null> {
  if (query === undefined || messages.length === 0 || messages.at(-1) === (await messageHash(query)))
    return null;
  return [`body.messages[${messages.length - 1}]`, "is not the hash of query, which is the current message"];
}

async function queryOf(
  { embedder, now }: Needs,
  given: string,
  layers: readonly PlannedLayer[],
): Promise<NonNullable<ContextRequest["query"]>> {
  const began = now();
  const { query: text } = searchedQuery(given);
  const vector = layers.some(({ layer }) => searches(layer))
    ? await embedOne(embedder, text, "query")
    : { model: embedder.model, dimensions: embedder.dimensions, vector: null };
  return { text, given, vector, embeddedMs: now() - began };
}

/** Messages hold blocks as XML. */
const isText = (format: ContextFormat): boolean => format !== "messages";

const historyLength = (history: PlannedLayer | undefined): number =>
  (history?.layer.type === "history" ? history.layer.n : undefined) ?? HISTORY;

/** The room for the last messages: so many tokens, and of a longer history so many messages. */
type Room = { most: number | undefined; length: number; count: CountTokens };

/** The messages of a prompt: the stable block, the last messages of the thread, and the user's message with the turn's block. */
function promptOf(
  { stable, recalled, history = [], isStored = false }: PromptContext,
  query: string | undefined,
  room: Room,
): Message[] {
  const last = sanitizeConversation(lastWithin(history, room).map(promptedMessage));
  const first = last.findIndex(({ role }) => role === "user");
  const summaries = history.filter(({ compaction }) => compaction !== undefined).map(promptedMessage);
  const current: Message[] = query === undefined || isStored ? [] : [{ role: "user", content: query }];
  return [
    ...(stable.text === "" ? [] : [{ role: "system", content: stable.text }]),
    ...summaries,
    ...(first < 0 ? [] : last.slice(first)),
    ...current.map((message) => (recalled.text === "" ? message : withBlock(message, recalled.text))),
  ];
}

/** The last messages that are within so many tokens, summaries left out; of a longer history so that their start holds. */
function lastWithin(
  history: readonly ReadMessage[],
  { most = Infinity, length, count }: Room,
): ReadMessage[] {
  let left = most;
  const messages = history.filter(({ compaction }) => compaction === undefined);
  const cut = messages.findLastIndex(
    ({ body, block = "" }) => (left -= count(decoder.decode(body)) + count(block)) < 0,
  );
  const isWhole = cut < 0 && messages.length < length;
  return isWhole ? messages : steadyWindow(messages.slice(cut + 1));
}

const decoder = new TextDecoder();
