// A coding agent of one test's own: its memory extension, with a model that says what it is told to.
import { expect, inject } from "vitest";
import { type DexMemoryOptions, dexMemory, type DexRequest } from "../src/dex.ts";
import { type Cairn, type CairnOptions, cairn } from "../../client/src/index.ts";
import { newUser, tokenOf } from "./cairn.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { fromNow } from "../../../test/from-now.ts";

/** A model's answer to what it is asked. */
export type Model = (request: DexRequest) => string | Promise<string>;

/** A client of all users, as a backend has it. */
export const backend = async (more: Partial<CairnOptions> = {}): Promise<Cairn> =>
  cairn({ url: inject("cairn").url, token: await tokenOf("*"), ...more });

/** A token of one user who may read a shared owner. */
export const readerToken = (user: string, shared: string): Promise<string> =>
  mintToken(inject("cairn").secret, { user, shared: [shared] }, fromNow(-60_000));

/** A client with such a token, as a user's own machine has it. */
export const reader = async (user: string, shared: string): Promise<Cairn> =>
  cairn({ url: inject("cairn").url, token: await readerToken(user, shared) });

type More = Partial<Omit<DexMemoryOptions, "llm">> & { model?: Model; client?: Partial<CairnOptions> };

export async function agent({ model, client, ...more }: More = {}) {
  const user = more.user ?? newUser();
  const owner = more.procedureOwner ?? `shared:${crypto.randomUUID()}`;
  const memory = more.memory ?? (await backend(client));
  const asked: DexRequest[] = [];
  const errors: unknown[] = [];
  const extension = dexMemory({
    memory,
    user,
    projectRoot: "/projects/shop",
    procedureOwner: owner,
    timeoutMs: 20_000,
    onError: (error) => errors.push(error),
    ...(model && {
      llm: async (request: DexRequest) => {
        asked.push(request);
        return model(request);
      },
    }),
    ...more,
  });
  /** Calls a tool as a host does: by its name. */
  const call = (name: string, args?: unknown) => {
    const tool = extension.tools.find((one) => one.name === name);
    return tool?.execute(args) ?? Promise.reject(new Error(`no tool ${name}`));
  };
  /** The block that a model sees with these words of the user; null for none. */
  const block = async (said: string) => {
    const messages = await extension.inject([{ role: "user", content: said }]);
    return messages.length === 1 ? null : messages[0]?.content;
  };
  return { user, owner, memory, extension, asked, errors, call, block };
}

export const turn = (said: string, answered = "Done.") => [
  { role: "user", content: said },
  { role: "assistant", content: answered },
];

export const found = (summary: string, facts: unknown[] = []): string => JSON.stringify({ summary, facts });

/** What becomes so, however busy the machine is. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read);
