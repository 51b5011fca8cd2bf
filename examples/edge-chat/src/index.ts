import { type Cairn, cairn, CairnError } from "cairn-memory";
import { answer, lastConversation, newConversation } from "./chat.ts";
import { echo } from "./echo.ts";
import type { Env } from "./env.ts";
import { mintToken } from "./token.ts";
import { newVisitor, noVisitor, type Visitor, visitorOf } from "./visitor.ts";
import { workersAi } from "./workers-ai.ts";

const LONGEST_TEXT = 4000;

/** A refusal that the page shows. */
const refuse = (status: number, error: string): Response => Response.json({ error }, { status });

export default {
  async fetch(request, env, context) {
    if (isForeign(request)) return refuse(403, "Only this site's own page may do this.");
    try {
      return await route(request, env, context);
    } catch (error) {
      console.error(error);
      const who = error instanceof CairnError ? "memory" : "model";
      return refuse(502, `The ${who} does not answer. Try again.`);
    }
  },
} satisfies ExportedHandler<Env>;

async function route(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
  const { pathname } = new URL(request.url);
  const visitor = await visitorOf(request);
  const of = ({ user }: Visitor) => ({ memory: memoryOf(user, env, context), user });
  switch (`${request.method} ${pathname}`) {
    case "GET /api/conversation":
      return Response.json({ turns: visitor === null ? [] : await lastConversation(of(visitor)) });
    case "POST /api/conversations":
      if (visitor !== null) await newConversation(of(visitor));
      return new Response(null, { status: 204 });
    case "POST /api/chat":
      return chat(request, env, context);
    case "GET /api/memories":
      return Response.json({ memories: visitor === null ? [] : await memoriesOf(of(visitor)) });
    case "DELETE /api/me":
      return forget(request, visitor && of(visitor));
    default:
      return refuse(404, "There is nothing here.");
  }
}

/** The memory of one user: the token opens no other one's. */
const memoryOf = (user: string, env: Env, context: ExecutionContext): Cairn =>
  cairn({
    fetch: env.CAIRN,
    token: () => mintToken(env.CAIRN_SECRET, user),
    waitUntil: (work) => context.waitUntil(work),
  });

async function chat(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
  const text = await textIn(request);
  if (text === null) return refuse(400, `Say something, of ${LONGEST_TEXT} characters at most.`);
  const visitor = (await visitorOf(request)) ?? (await newVisitor(request));
  const memory = memoryOf(visitor.user, env, context);
  const model = env.AI === undefined ? echo : workersAi(env.AI);
  const { reply, done } = await answer({ memory, user: visitor.user, model }, text);
  memory.later(() => done);
  const headers = new Headers({
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store, no-transform",
    // What is compressed on the way waits until there is enough of it.
    "Content-Encoding": "identity",
    "X-Content-Type-Options": "nosniff",
  });
  if (visitor.cookie !== undefined) headers.set("Set-Cookie", visitor.cookie);
  return new Response(reply, { headers });
}

async function textIn(request: Request): Promise<string | null> {
  if (!request.headers.get("Content-Type")?.startsWith("application/json")) return null;
  const body: unknown = await request.json().catch(() => null);
  if (typeof body !== "object" || body === null || !("text" in body) || typeof body.text !== "string")
    return null;
  const text = body.text.trim();
  return text === "" || text.length > LONGEST_TEXT || !text.isWellFormed() ? null : text;
}

async function memoriesOf({ memory, user }: { memory: Cairn; user: string }) {
  const memories: { text: string; createdAt: number }[] = [];
  for await (const { text, createdAt } of memory.memories.all(user)) memories.push({ text, createdAt });
  return memories;
}

/** Everything: conversations, facts, and what makes them found. The receipt tells when it was done. */
async function forget(request: Request, of: { memory: Cairn; user: string } | null): Promise<Response> {
  const erasure = of === null ? null : await of.memory.erasures.user(of.user);
  const headers = { "Set-Cookie": noVisitor(request) };
  return Response.json({ erasure: erasure && { id: erasure.id, status: erasure.status } }, { headers });
}

/** Browsers say which site a request comes from; what is no browser has no cookie to steal. */
function isForeign(request: Request): boolean {
  const site = request.headers.get("Sec-Fetch-Site");
  return request.method !== "GET" && site !== null && site !== "same-origin";
}
