import { endpointUrl } from "../endpoint-from-vars.ts";
import { OtlpTraces } from "./otlp-traces.ts";
import type { Traces } from "./traces.ts";

/** The settings of the collector of traces. */
export type TraceBindings = {
  /** The base of an OTLP/HTTP collector, or its whole address. */
  OTLP_URL?: string;
  /** `name=value`, comma-separated, as OTEL_EXPORTER_OTLP_HEADERS has them. */
  OTLP_HEADERS?: string;
  /** The name of the service in its spans; `cairn` unless set. */
  OTLP_SERVICE?: string;
  /** The share of the calls without a `traceparent` that are traced; 1 unless set. */
  OTLP_SAMPLE?: string;
};

const PATH = "/v1/traces";
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\x20-\x7e]*$/;

/** The traces; null if no collector is set, or if its settings are wrong. */
export function tracesFromBindings(env: TraceBindings): Traces | null {
  const settings = settingsOf(env);
  if (settings === null || typeof settings === "string") return null;
  return new OtlpTraces({
    ...settings,
    service: env.OTLP_SERVICE?.trim() || "cairn",
    fetch: (url, init) => fetch(url, init),
    now: () => Date.now(),
  });
}

/** The reason why no traces are sent though a collector is set; null if there is none. It does not repeat an address or a header. */
export function tracesProblem(env: TraceBindings): string | null {
  const settings = settingsOf(env);
  return typeof settings === "string" ? `${settings}: no traces are sent` : null;
}

type Settings = { url: URL; headers: Record<string, string>; share: number };

function settingsOf(env: TraceBindings): Settings | string | null {
  const [address = "", list = ""] = [env.OTLP_URL?.trim(), env.OTLP_HEADERS?.trim()];
  if (address === "") return list === "" ? null : "OTLP_HEADERS is set, and OTLP_URL is not";
  const url = endpointUrl("OTLP", address, PATH);
  if (typeof url === "string") return url;
  const headers: Record<string, string> = {};
  for (const one of list.split(",").filter((text) => text.trim() !== "")) {
    const header = headerIn(one);
    if (header === null) return "OTLP_HEADERS is not name=value, comma-separated";
    headers[header.name] = header.value;
  }
  const share = Number(env.OTLP_SAMPLE?.trim() || "1");
  if (!(share >= 0 && share <= 1)) return "OTLP_SAMPLE is not a number from 0 to 1";
  return { url, headers, share };
}

/** A value may be percent-encoded: a comma has to be. */
function headerIn(text: string): { name: string; value: string } | null {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(0, at)).trim();
  try {
    const value = decodeURIComponent(text.slice(at + 1).trim());
    return NAME.test(name) && VALUE.test(value) ? { name, value } : null;
  } catch {
    return null;
  }
}
