import { gateway } from "ai";
import { cairn } from "edgecairn";
import { scriptedModel } from "../../../../scripted-model.js";
import { answer } from "../../../lib/chat.js";

const {
  CAIRN_URL,
  CAIRN_TOKEN,
  CAIRN_USER = "alice",
  AI_GATEWAY_API_KEY,
  MODEL = "openai/gpt-5-mini",
} = process.env;

/** The user of the token. Put your login here, and a token of all users on the server. */
const user = CAIRN_USER;
const refuse = (status, error) => Response.json({ error }, { status });

export async function POST(request) {
  if (!CAIRN_URL || !CAIRN_TOKEN) return refuse(500, "CAIRN_URL and CAIRN_TOKEN are not set.");
  const { id, messages } = (await request.json().catch(() => null)) ?? {};
  if (typeof id !== "string" || !Array.isArray(messages) || messages.at(-1)?.role !== "user")
    return refuse(400, "The body is { id, messages }, and the last message is the user's.");
  const memory = cairn({ url: CAIRN_URL, token: CAIRN_TOKEN });
  const model = AI_GATEWAY_API_KEY ? gateway(MODEL) : scriptedModel;
  return answer({ memory, user, model }, { id, messages });
}

/** Forgets the user: conversations, facts and their index. */
export async function DELETE() {
  await cairn({ url: CAIRN_URL, token: CAIRN_TOKEN }).erasures.user(user);
  return new Response(null, { status: 204 });
}
