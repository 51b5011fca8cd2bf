// `edgecairn/binding`: Cairn's entrypoint as types, made of those of the client. Its code is in Cairn's Worker (src/worker/rpc/).
// Only a Worker has the types named `Rpc`.
import type { BindingAnswer, BindingCall } from "../../../src/domain/binding.ts";
import type { Cairn } from "./cairn.ts";
import type { CairnError } from "./error.ts";
import type { Json } from "./shapes.ts";

/** A failure as it crosses a service binding, where an error would lose its fields. They are those of `CairnError`. */
export type Refusal = Omit<CairnError, "name" | "stack" | "cause" | "call">;

/** The answer of a method. */
export type Remote<T> = { ok: true; value: T } | { ok: false; error: Refusal };

/** Any value of JSON. The RPC types of workers-types find no end in one that contains itself, nor in `any`. */
type AnyJson = string | number | boolean | object | null;

/** A value as it crosses: of items that come one by one, a stream of their lines of JSON. */
type Crossing<T> = Json extends T
  ? AnyJson
  : T extends AsyncGenerator
    ? ReadableStream<Uint8Array>
    : T extends ReadableStream
      ? T
      : T extends object
        ? { [Name in keyof T]: Crossing<T[Name]> }
        : T;

/** Options as they cross, where a signal cannot. */
type Sent<Options> = "signal" extends keyof NonNullable<Options>
  ? { [Name in keyof Options]: Name extends "signal" ? undefined : Options[Name] }
  : Options;

type Method<Call> = Call extends (...args: infer Args) => infer Value
  ? (...args: { [I in keyof Args]: Sent<Args[I]> }) => Promise<Remote<Crossing<Awaited<Value>>>>
  : never;

/** The parts of a client that call. */
type Parts = Omit<Cairn, "user" | "later" | "within" | "until">;

/** The entrypoint, as in `MEMORY: Service<Memory>`: the methods of the client, and `call`, by which `cairn({ binding })` calls. */
export type Memory = {
  readonly [Name in keyof Parts]: Parts[Name] extends (...args: never[]) => unknown
    ? Method<Parts[Name]>
    : { [Call in keyof Parts[Name]]: Method<Parts[Name][Call]> } & Rpc.RpcTargetBranded;
} & { call: (call: BindingCall) => Promise<BindingAnswer> } & Rpc.WorkerEntrypointBranded;
/** Nobody makes one. `wrangler types` looks for this export (cairn.toml). */
export const Memory = undefined as unknown as new () => Memory;
