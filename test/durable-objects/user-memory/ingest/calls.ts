import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { userHash } from "../../../../src/domain/ids.ts";
import { type Answer, call } from "../../../call.ts";

export const user = (content: string) => ({ role: "user", content });
export const assistant = (content: string) => ({ role: "assistant", content });

/** Starts an ingest, and waits for its extraction unless told otherwise. */
export const ingest = (owner: string, body: object, options: { token?: string } = {}): Promise<Answer> =>
  call(`/v1/users/${owner}/ingest`, { json: { mode: "wait", ...body }, ...options });

export const readIngest = async (id: string): Promise<Answer["body"]> =>
  (await call(`/v1/ingests/${id}`)).body;

/** The outcome of an ingest. */
export const ingested = async (owner: string, body: object): Promise<Answer["body"]> =>
  readIngest((await ingest(owner, body)).body.ingestId);

export const messagesOf = async (threadId: string): Promise<string[]> =>
  (await call(`/v1/threads/${threadId}/messages?order=oldest&limit=1000`)).body.items.map(
    ({ message }: { message: { content: string } }) => message.content,
  );

export const memoriesOf = async (owner: string, query = ""): Promise<Answer["body"][]> =>
  (await call(`/v1/users/${owner}/memories?limit=1000${query}`)).body.items;

/** Lets the alarm of a user's object go off. */
export async function ring(owner: string): Promise<void> {
  await runDurableObjectAlarm(env.USER_MEMORY.getByName(await userHash(owner)));
}
