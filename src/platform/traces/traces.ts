import type { Part } from "../metrics/metrics.ts";

/** A wait of a call for a part, in milliseconds since the call began. */
export type Wait = {
  part: Part;
  /** What was asked, by names of the code: `records.list`. */
  name: string;
  from: number;
  to: number;
  /** The kind of the failure; null for an answer. */
  failure: string | null;
};

/** One call of the API. It has no user id, key, text or URL: a collector may belong to somebody else. */
export type TracedCall = {
  method: string;
  /** As the OpenAPI document has it: `/v1/users/{user}`; null where no route takes the call. */
  route: string | null;
  status: number;
  /** `ok`, or the code of the error. */
  code: string;
  /** Of the clock. */
  startedAt: number;
  ms: number;
  /** The caller's header. */
  traceparent: string | null;
  /** The request id, where Cairn made it; null where the caller did. */
  requestId: string | null;
  waits: readonly Wait[];
  /** Waits that are not in the list. */
  unlisted: number;
  /** The hits of its recall; null without one. */
  records: number | null;
  degraded: boolean;
};

/** Work of an alarm under a name of the code, and its times of the clock. */
export type TracedChore = { name: string; from: number; to: number; isFailed: boolean };
/** One alarm of an object, and what it did. Like a call, it names no user. */
export type TracedAlarm = { from: number; to: number; chores: readonly TracedChore[] };

/** Takes the traces of calls and alarms. */
export interface Traces {
  /** One attempt. Never rejects. */
  send(call: TracedCall): Promise<void>;
  /** The same. */
  sendAlarm(alarm: TracedAlarm): Promise<void>;
}
