import { begun, continued, newSpanId, type TraceContext } from "./trace-context.ts";
import type { TracedAlarm, TracedCall, Wait } from "./traces.ts";

/** The numbers of OTLP. */
const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];
const ERROR = { code: 2 };
/** A caller may name any method. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * `gen_ai.operation.name` of OpenTelemetry's conventions for memory, by route:
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md#memory.
 * A write is `upsert_memory` where Cairn says if it makes a memory.
 */
export const MEMORY_OPERATIONS: ReadonlyMap<string, string> = new Map([
  ["POST /v1/users/{user}/recall", "search_memory"],
  ["POST /v1/users/{user}/context", "search_memory"],
  ["POST /v1/users/{user}/memories", "upsert_memory"],
  ["POST /v1/users/{user}/memories/batch", "upsert_memory"],
  ["POST /v1/users/{user}/ingest", "upsert_memory"],
  ["POST /v1/users/{user}/import", "upsert_memory"],
  ["PATCH /v1/users/{user}/memories/{id}", "update_memory"],
  ["POST /v1/users/{user}/memories/{id}/restore", "update_memory"],
  ["POST /v1/users/{user}/memories/{id}/release", "update_memory"],
  ["POST /v1/users/{user}/memories/review", "update_memory"],
  ["DELETE /v1/users/{user}/memories/{id}", "delete_memory"],
  ["POST /v1/users/{user}/memories/forget", "delete_memory"],
  ["DELETE /v1/users/{user}/memories", "delete_memory"],
  ["DELETE /v1/users/{user}", "delete_memory_store"],
]);

type Value = string | number | boolean | null;
type Attributes = Readonly<Record<string, Value>>;

/** The spans of a call, as OTLP has them in JSON. Null where its trace is not sampled. `share`: of the traces that begin here. */
export function spansOf(call: TracedCall, share: number): object[] | null {
  const trace = continued(call.traceparent) ?? begun(call.requestId, share);
  if (!trace.isSampled) return null;
  const spanId = newSpanId();
  const span = (more: object): object => ({ traceId: trace.traceId, ...more });
  return [
    span(callSpan(call, { trace, spanId })),
    ...call.waits.map((wait) => span({ ...waitSpan(call, wait), parentSpanId: spanId })),
  ];
}

/** The spans of an alarm, which begins a trace of its own: one for each chore below it. */
export function alarmSpansOf({ from, to, chores }: TracedAlarm, share: number): object[] | null {
  const { traceId, isSampled } = begun(null, share);
  if (!isSampled) return null;
  const spanId = newSpanId();
  const span = { traceId, kind: INTERNAL };
  return [
    { ...span, spanId, name: "alarm", ...between(from, to), attributes: [] },
    ...chores.map((chore) => ({
      ...span,
      spanId: newSpanId(),
      parentSpanId: spanId,
      name: `chore ${chore.name}`,
      ...between(chore.from, chore.to),
      attributes: attributesOf({ "error.type": chore.isFailed ? "_OTHER" : null }),
      ...(chore.isFailed && { status: ERROR }),
    })),
  ];
}

function callSpan(call: TracedCall, { trace, spanId }: { trace: TraceContext; spanId: string }): object {
  const { route, status, code, records } = call;
  const method = METHODS.has(call.method) ? call.method : "_OTHER";
  return {
    spanId,
    ...(trace.parentId !== null && { parentSpanId: trace.parentId }),
    name: [method === "_OTHER" ? "HTTP" : method, route ?? []].flat().join(" "),
    kind: SERVER,
    ...timesOf(call, 0, call.ms),
    attributes: attributesOf({
      "http.request.method": method,
      "http.route": route,
      "http.response.status_code": status,
      "error.type": code === "ok" ? null : code,
      "gen_ai.operation.name": MEMORY_OPERATIONS.get(`${method} ${route}`) ?? null,
      "gen_ai.memory.record.count": records,
      "cairn.degraded": call.degraded || null,
      "cairn.waits.unlisted": call.unlisted || null,
    }),
    // By the conventions, a caller's own error leaves the status of a server's span unset.
    ...(status >= 500 && { status: ERROR }),
  };
}

const waitSpan = (call: TracedCall, { part, name, from, to, failure }: Wait): object => ({
  spanId: newSpanId(),
  name: `${part} ${name}`,
  kind: CLIENT,
  ...timesOf(call, from, to),
  attributes: attributesOf({
    "cairn.part": part,
    "error.type": failure,
    "gen_ai.operation.name": part === "embedder" ? "embeddings" : null,
  }),
  ...(failure !== null && { status: ERROR }),
});

const timesOf = ({ startedAt }: TracedCall, from: number, to: number): object =>
  between(startedAt + from, startedAt + to);

const between = (from: number, to: number): object => ({
  startTimeUnixNano: nanosOf(from),
  endTimeUnixNano: nanosOf(to),
});

/** Nanoseconds since 1970 are no safe integer: the digits of the whole milliseconds, and those of the rest. */
function nanosOf(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}

/** Those with a value. OTLP writes an integer as a text. */
export const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [{ key, value: typed(value) }],
  );

function typed(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  return typeof value === "boolean" ? { boolValue: value } : { intValue: String(value) };
}
