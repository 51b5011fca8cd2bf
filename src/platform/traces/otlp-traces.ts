import { type Fetch, postOnce } from "../post-once.ts";
import { alarmSpansOf, attributesOf, spansOf } from "./otlp-spans.ts";
import type { TracedAlarm, TracedCall, Traces } from "./traces.ts";

type OtlpOptions = {
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** The name of the service in its spans. */
  service: string;
  /** The share of the traces without a caller's that are sent, from 0 to 1. */
  share: number;
  fetch: Fetch;
  now: () => number;
};

/** The time that the collector has to answer. */
const WITHIN_MS = 5_000;
/** Calls of an isolate whose spans are under way: while a collector hangs, the spans of more are dropped. */
const UNDER_WAY = 100;

/**
 * Sends the spans of each call to a collector, as OTLP/HTTP has them in JSON. Spans that it does not take are lost. Written here, as the
 * packages of OpenTelemetry for Workers make spans of each `fetch`, with its URL.
 */
export class OtlpTraces implements Traces {
  readonly #options: OtlpOptions;
  /** The beginnings of what is under way: one that the platform ended with its call counts no longer than others. */
  #underWay: number[] = [];
  #failing = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
  }

  send(call: TracedCall): Promise<void> {
    return this.#send(spansOf(call, this.#options.share));
  }

  sendAlarm(alarm: TracedAlarm): Promise<void> {
    return this.#send(alarmSpansOf(alarm, this.#options.share));
  }

  async #send(spans: object[] | null): Promise<void> {
    if (spans === null) return;
    const began = this.#options.now();
    this.#underWay = this.#underWay.filter((one) => one > began - WITHIN_MS);
    if (this.#underWay.length >= UNDER_WAY) return this.#outcome("too many are under way");
    this.#underWay.push(began);
    this.#outcome(await this.#post(spans));
    const place = this.#underWay.indexOf(began);
    if (place >= 0) this.#underWay.splice(place, 1);
  }

  /** Null, or the problem. */
  async #post(spans: object[]): Promise<string | null> {
    const { headers, service } = this.#options;
    const resource = { attributes: attributesOf({ "service.name": service }) };
    const body = JSON.stringify({
      resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "cairn" }, spans }] }],
    });
    const answer = await postOnce(this.#options, { headers, body, withinMs: WITHIN_MS });
    if (typeof answer === "string") return answer;
    return answer.ok ? null : `answered ${answer.status}`;
  }

  /** Logs the first failure after a success: each call would fail alike. */
  #outcome(problem: string | null): void {
    if (problem !== null && !this.#failing)
      console.error({ message: "traces could not be sent", error: `the collector: ${problem}` });
    this.#failing = problem !== null;
  }
}
