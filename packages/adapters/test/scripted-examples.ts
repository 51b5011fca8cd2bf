// What the tests of the examples over the AI SDK share: an example in its folder, and a model that keeps its prompts.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import type { Cairn, CairnOptions } from "../../client/src/index.ts";
import { link } from "../../dev/example.ts";
import { tokenOf } from "./cairn.ts";

const examples = join(import.meta.dirname, "../../../examples");

export type Call = { prompt: { role: string; content: unknown }[]; responseFormat?: { type: string } };
type Generated = Promise<{ content: { text: string }[] }>;
export type ScriptedModel = {
  doGenerate: (call: Call) => Generated;
  doStream: (call: Call) => Promise<{ stream: ReadableStream }>;
};

/** A module of an example, which has its packages beside it. */
export async function load<T>(example: string, file: string): Promise<T> {
  link(example);
  return (await import(join(examples, example, file))) as T;
}

/** A client as the example imports it: errors and clients are of one copy. */
export async function builtClient(example: string, user: string): Promise<Cairn> {
  const { cairn } = await load<{ cairn: (options: CairnOptions) => Cairn }>(
    example,
    "node_modules/edgecairn/dist/client/index.js",
  );
  return cairn({ url: inject("cairn").url, token: await tokenOf(user) });
}

/** The scripted model, and the texts of each prompt that it was asked to answer. */
export async function recording(): Promise<{ model: ScriptedModel; prompts: string[][] }> {
  const { scriptedModel } = (await import(join(examples, "scripted-model.js"))) as {
    scriptedModel: ScriptedModel;
  };
  const prompts: string[][] = [];
  const keep = ({ prompt, responseFormat }: Call) => {
    if (responseFormat?.type !== "json") prompts.push(prompt.map(({ content }) => textOf(content)));
  };
  const model = {
    ...scriptedModel,
    doGenerate: (call: Call) => {
      keep(call);
      return scriptedModel.doGenerate(call);
    },
    doStream: (call: Call) => {
      keep(call);
      return scriptedModel.doStream(call);
    },
  };
  return { model, prompts };
}

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : (content as { text?: string }[]).map(({ text = "" }) => text).join("\n");

/** Runs a command of the example as its reader does, with these variables. */
export async function run(example: string, args: string[], env: Record<string, string>) {
  link(example);
  const cwd = join(examples, example);
  return promisify(execFile)(process.execPath, args, {
    cwd,
    env: { ...process.env, AI_GATEWAY_API_KEY: "", ...env },
  });
}

/** The variables that `npm start` prints, for a user. */
export const variablesOf = async (user: string): Promise<Record<string, string>> => ({
  CAIRN_URL: inject("cairn").url,
  CAIRN_TOKEN: await tokenOf(user),
  CAIRN_USER: user,
});
