import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { userHash } from "../../src/domain/ids.ts";
import { type Answer, call, token } from "../call.ts";
import { clock } from "../doubles/control.ts";
import type { Answered, Shown } from "./candidates.ts";
import { Candidates } from "./candidates.ts";
import type { Body, Op } from "./world.ts";

/** Long enough for histories that begin far from today. */
const bearer = await token("*", undefined, 80 * 365 * 24 * 3600);

type Request = { path: string; method?: string; json?: unknown; headers?: Record<string, string> };

/** One user of the product: what it is asked and shows by HTTP, and the model of what it may be. */
export class User {
  readonly name: string;
  readonly model = new Candidates();
  /** Memories of an idempotency key, with when their key was used first. */
  readonly unique: { births: string[]; key: string; body: Body; at: number }[] = [];
  /** The ids that were ever seen. */
  readonly known = new Set<string>();

  constructor(name: string) {
    this.name = name;
  }

  async object() {
    return env.USER_MEMORY.getByName(await userHash(this.name));
  }

  ask({ path, ...request }: Request): Promise<Answer> {
    return call(`/v1/users/${this.name}${path && `/${path}`}`, { token: bearer, ...request });
  }

  async perform(op: Op, key?: string): Promise<Answered> {
    const request = await this.#request(op, key);
    return request === null ? { how: "nothing" } : answered(op, await this.ask(request));
  }

  /** By a word that all have, unless asked by another. */
  async recalled(query = "memo"): Promise<Shown[]> {
    const { status, body, text } = await this.ask({ path: "recall", json: { query, k: 100 } });
    if (status !== 200) throw new Error(`recall answered ${status}: ${text}`);
    return body.hits.map(shown);
  }

  /** All that D1 shows, whatever its status. */
  async listed(): Promise<Shown[]> {
    const answer = await this.ask({ path: "memories?limit=1000&status=active&status=quarantined" });
    if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`);
    return answer.body.items.map(shown);
  }

  /** Rings the alarm, if one is set. One that fails rings again. */
  async alarm(): Promise<boolean> {
    const object = await this.object();
    try {
      return await runDurableObjectAlarm(object);
    } catch {
      await this.ringAgain();
      return true;
    }
  }

  /** Takes the object out of memory, if it is there. */
  async evict(): Promise<void> {
    await evictDurableObject(await this.object()).catch(() => null);
  }

  /** The object stops where it is; what it has stored stays. */
  async die(): Promise<void> {
    await runInDurableObject(await this.object(), (_, state) => state.abort("died")).catch(() => null);
  }

  /** The object has nothing any more, as after a restore of a time before its first write. */
  async lose(): Promise<void> {
    const lose = async (_: unknown, state: DurableObjectState) => {
      await state.storage.deleteAll();
      await state.storage.sync();
      state.abort("lost");
    };
    await runInDurableObject(await this.object(), lose).catch(() => null);
    // Answers of idempotency keys were there, and nowhere else.
    this.unique.splice(0);
  }

  async ringAgain(): Promise<void> {
    const set = async (_: unknown, state: DurableObjectState) => {
      await state.storage.setAlarm(clock());
      await state.storage.sync();
      // It reads the alarm that is set when it starts.
      state.abort("died");
    };
    await runInDurableObject(await this.object(), set).catch(() => null);
  }

  async #request(op: Op, key: string | undefined): Promise<Request | null> {
    const id = "birth" in op && op.do !== "remember" ? this.model.id(op.birth) : undefined;
    switch (op.do) {
      case "remember": {
        const [first] = op.bodies;
        const json = op.bodies.length === 1 && first ? wire(first) : { memories: op.bodies.map(wire) };
        const path = op.bodies.length === 1 ? "memories" : "memories/batch";
        return { path, json, ...(key !== undefined && { headers: { "Idempotency-Key": key } }) };
      }
      case "patch":
        return { path: `memories/${id}`, method: "PATCH", json: op.changes };
      case "restore": {
        const { status, body } = await this.ask({ path: `memories/${id}/history?limit=1000` });
        const version: unknown = status === 200 ? body.items.at(-1 - op.version)?.version : undefined;
        return version === undefined ? null : { path: `memories/${id}/restore`, json: { version } };
      }
      case "release":
        return { path: `memories/${id}/release`, method: "POST" };
      case "forget":
        return { path: `memories/${id}`, method: "DELETE" };
      case "forgetTag":
        return { path: "memories/forget", json: { filter: { tags: [op.tag] } } };
      case "forgetUser":
        return { path: "", method: "DELETE" };
      default:
        return { path: "memories", method: "DELETE" };
    }
  }
}

/** The outcome by its answer. */
function answered(op: Op, { status, body, text }: Answer): Answered {
  const message = String(body?.error?.message ?? "");
  if (body?.error?.code === "erased_meanwhile") return { how: "nothing" };
  if (status === 503 && message.includes("nothing was stored")) return { how: "nothing" };
  // A full database, or object, holds nothing of a write that it had no room for.
  if (body?.error?.code === "storage_full") return { how: "nothing" };
  if (status === 503 && /no longer finds|nothing of it is recalled/.test(message)) return { how: "leaving" };
  if (status >= 500) return { how: "lost" };
  if (status === 400) throw new Error(`${JSON.stringify(op)} answered ${text}`);
  const items: { memory: { id: string } }[] = body?.items ?? (body?.id ? [{ memory: body }] : []);
  const ids = op.do.startsWith("forget") ? [] : items.map(({ memory }) => memory.id);
  return { how: "done", status, ids };
}

const shown = ({ id, text, tags = [] }: Partial<Shown> & { id: string; text: string }): Shown => ({
  id,
  text,
  tags,
});

/** A body as it is sent: what it is named by is in the model's name. */
function wire({ name, how, text, object, tags, status, expiresAt }: Body): object {
  const [as, named] = name?.split(" ", 2) ?? [];
  const rest = name?.slice((as?.length ?? 0) + 1);
  return {
    ...(as === "triple" ? { subject: rest, predicate: "lives in", object } : { text }),
    ...(as === "key" && { key: named }),
    ...(as === "procedure" && { kind: "procedure", title: named }),
    ...(as === "external" && { externalId: named }),
    ...(status === "quarantined" && { status }),
    ...(tags.length > 0 && { tags }),
    ...(expiresAt !== null && { expiresAt }),
    ...(how === "none" && { dedupe: "none" }),
  };
}
