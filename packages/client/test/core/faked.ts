// A client whose fetch, clock and chance are the test's.
import type { BindingAnswer, BindingCall } from "../../../../src/domain/binding.ts";
import { Cairn } from "../../src/cairn.ts";
import type { CairnOptions } from "../../src/options.ts";

type Answer = Response | Error | ((request: Request) => Response | Promise<Response>);

/** A clock that the test moves: how long was waited, and the limits that run. */
function fakedTime() {
  const waits: number[] = [];
  const limits = new Map<() => void, number>();
  let now = 1_000_000;
  const time = {
    now: () => now,
    random: () => 0.5,
    sleep: async (ms: number, signal: AbortSignal | undefined) => {
      waits.push(ms);
      now += ms;
      signal?.throwIfAborted();
    },
    after: (ms: number, run: () => void) => {
      limits.set(run, ms);
      return () => void limits.delete(run);
    },
  };
  /** Moves the clock; a limit that has passed does not end by itself. */
  const pass = (ms: number): void => void (now += ms);
  /** Lets the limit of the present step pass, and returns its milliseconds. */
  const expire = (): number => {
    const [run, ms] = [...limits].at(-1) ?? [() => undefined, 0];
    pass(ms);
    run();
    return ms;
  };
  return { time, waits, limits, expire, pass, now: () => now };
}

/** What the fetch got, how long was waited, the limits that run, and the client of it. The last answer is given for ever. */
export function faked(answers: readonly Answer[], options: Partial<CairnOptions> = {}) {
  const requests: Request[] = [];
  const { time, ...clock } = fakedTime();
  const fetch = async (request: Request): Promise<Response> => {
    requests.push(request);
    const answer = answers[Math.min(requests.length, answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer(request) : (answer?.clone() ?? Response.json({}));
  };
  const client = new Cairn({ token: "t", ...options, url: "https://cairn.test", fetch }, time);
  return { client, requests, ...clock };
}

type BoundAnswer = BindingAnswer | Error | (() => Promise<BindingAnswer>);

/** The same over a service binding. */
export function fakedBinding(answers: readonly BoundAnswer[], options: Partial<CairnOptions> = {}) {
  const calls: BindingCall[] = [];
  const { time, ...clock } = fakedTime();
  const call = async (given: BindingCall): Promise<BindingAnswer> => {
    calls.push(given);
    const answer = answers[Math.min(calls.length, answers.length) - 1];
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no answer is left");
    return typeof answer === "function" ? answer() : answer;
  };
  return { client: new Cairn({ ...options, binding: { call } }, time), calls, ...clock };
}

/** Cairn's answer of a failure. */
export const failure = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  Response.json({ error: { code, message: "no", requestId: "r1" } }, { status, headers });

export const down = (headers?: Record<string, string>): Response =>
  failure(503, "storage_unavailable", headers);
