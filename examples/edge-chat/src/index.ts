import { type Cairn, cairn, CairnError } from "edgecairn";
import { answer, lastConversation, newConversation } from "./chat.ts";
import { echo } from "./echo.ts";
import type { Env } from "./env.ts";
import { isForgotten } from "./forgotten.ts";
import { newVisitor, type Visitor, visitorOf } from "./visitor.ts";
import { workersAi } from "./workers-ai.ts";

const LONGEST_TEXT = 4000;

/** A refusal that the page shows. */
const refuse = (status: number, error: string): Response =>
  Response.json({ error }, { status, headers: { "Cache-Control": "no-store" } });

export default {
  async fetch(request, env, context) {
    if (isForeign(request)) return refuse(403, "Only this site's own page may do this.");
    try {
      const response = await route(request, env, context);
      // What is known of one visitor is in no cache, not even in the browser's own after "Forget me".
      if (!response.headers.has("Cache-Control")) response.headers.set("Cache-Control", "no-store");
      return response;
    } catch (error) {
      if (isForgotten(error)) return refuse(409, "You were forgotten meanwhile. Say it again.");
      console.error(error);
      const who = error instanceof CairnError ? "memory" : "model";
      return refuse(502, `The ${who} does not answer. Try again.`);
    }
  },
} satisfies ExportedHandler<Env>;

async function route(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
  const { pathname } = new URL(request.url);
  const visitor = await visitorOf(request);
  const of = ({ user }: Visitor) => ({ memory: memoryOf(env, context), user });
  switch (`${request.method} ${pathname}`) {
    case "GET /api/conversation":
      return visitor === null
        ? welcome(request, { turns: [] })
        : Response.json({ turns: await lastConversation(of(visitor)) });
    case "POST /api/conversations":
      if (visitor !== null) await newConversation(of(visitor));
      return new Response(null, { status: 204 });
    case "POST /api/chat":
      return visitor === null
        ? refuse(401, "Your browser sent no cookie. Reload the page.")
        : chat(request, of(visitor), env);
    case "GET /api/memories":
      return Response.json({ memories: visitor === null ? [] : await memoriesOf(of(visitor)) });
    case "DELETE /api/me":
      return forget(request, visitor && of(visitor));
    default:
      return refuse(404, "There is nothing here.");
  }
}

/** The binding reaches every user's memory: each call names the visitor, whom no request can choose. */
const memoryOf = ({ MEMORY }: Env, context: ExecutionContext): Cairn =>
  cairn({ binding: MEMORY, waitUntil: (work) => context.waitUntil(work) });

/** A new visitor begins with the page, before anything is said: two first messages at once would be two visitors. */
const welcome = (request: Request, body: object): Response =>
  Response.json(body, { headers: { "Set-Cookie": newVisitor(request) } });

async function chat(request: Request, of: { memory: Cairn; user: string }, env: Env): Promise<Response> {
  const text = await textIn(request);
  if (text === null) return refuse(400, `Say something, of ${LONGEST_TEXT} characters at most.`);
  const model = env.AI === undefined ? echo : workersAi(env.AI);
  const { reply, done } = await answer({ ...of, model }, text);
  of.memory.later(() => done);
  const headers = new Headers({
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store, no-transform",
    // What is compressed on the way waits until there is enough of it.
    "Content-Encoding": "identity",
    "X-Content-Type-Options": "nosniff",
  });
  return new Response(reply, { headers });
}

async function textIn(request: Request): Promise<string | null> {
  if (!request.headers.get("Content-Type")?.startsWith("application/json")) return null;
  const body: unknown = await request.json().catch(() => null);
  if (typeof body !== "object" || body === null || !("text" in body) || typeof body.text !== "string")
    return null;
  // No memory holds U+0000, and nobody means it.
  const text = body.text.replaceAll("\0", "").trim();
  return text === "" || text.length > LONGEST_TEXT || !text.isWellFormed() ? null : text;
}

async function memoriesOf({ memory, user }: { memory: Cairn; user: string }) {
  const memories: { text: string; createdAt: number }[] = [];
  for await (const { text, createdAt } of memory.user(user).memories.all())
    memories.push({ text, createdAt });
  return memories;
}

/**
 * Everything: conversations, facts, and what makes them found. The receipt tells when it was done. Whoever goes on is a new
 * visitor.
 */
async function forget(request: Request, of: { memory: Cairn; user: string } | null): Promise<Response> {
  const erasure = of === null ? null : await of.memory.erasures.user(of.user);
  return welcome(request, { erasure: erasure && { id: erasure.id, status: erasure.status } });
}

/**
 * Browsers say which site a request comes from; what is no browser has no cookie to steal. Reads count too: without its
 * cookie, which a foreign site's link does not send, the visitor would get another one in its place.
 */
function isForeign(request: Request): boolean {
  const site = request.headers.get("Sec-Fetch-Site");
  return site !== null && site !== "same-origin";
}
