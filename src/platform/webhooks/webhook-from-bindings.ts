import ipaddr from "ipaddr.js";
import { endpointUrl, isLocalhost } from "../endpoint-from-vars.ts";
import { StandardWebhook, type Webhook } from "./webhook.ts";

/** The settings of the receiver of changes. */
export type WebhookBindings = {
  /** An https address. */
  WEBHOOK_URL?: string;
  /** `whsec_` and 24 to 64 bytes in base64. */
  WEBHOOK_SECRET?: string;
  /** The secret before this one: messages are signed with both. */
  WEBHOOK_SECRET_PREVIOUS?: string;
};

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
/** Names that no public resolver answers (RFC 6761, RFC 6762, RFC 8375, and `.internal` of ICANN). */
const PRIVATE_NAME = /^[^.]+\.?$|\.(local|internal|home\.arpa|localdomain|lan)\.?$/;

/** The webhook; null if none is set, or if its settings are wrong. */
export function webhookFromBindings(env: WebhookBindings): Webhook | null {
  const settings = settingsOf(env);
  if (settings === null || typeof settings === "string") return null;
  return new StandardWebhook({
    ...settings,
    fetch: (url, init) => fetch(url, init),
    now: () => Date.now(),
  });
}

/** The reason why no webhook is sent though one is set; null if there is none. It does not repeat a secret. */
export function webhookProblem(env: WebhookBindings): string | null {
  const settings = settingsOf(env);
  return typeof settings === "string" ? settings : null;
}

type Settings = { url: URL; secrets: string[] };

function settingsOf(env: WebhookBindings): Settings | string | null {
  const [address, secret, previous] = [env.WEBHOOK_URL, env.WEBHOOK_SECRET, env.WEBHOOK_SECRET_PREVIOUS].map(
    (text) => text?.trim() || undefined,
  );
  if (address === undefined) return null;
  const url = endpointUrl("WEBHOOK", address);
  if (typeof url === "string") return url;
  if (!isLocalhost(url) && isPrivate(url.hostname))
    return "WEBHOOK_URL is a private address: Cairn sends to public ones only";
  if (secret === undefined) return "WEBHOOK_URL is set, and WEBHOOK_SECRET is not";
  const secrets = [secret, previous ?? []].flat();
  const wrong = secrets.findIndex((one) => !isSecret(one));
  if (wrong !== -1)
    return `WEBHOOK_SECRET${wrong === 0 ? "" : "_PREVIOUS"} is not 'whsec_' and 24 to 64 bytes in base64`;
  return { url, secrets };
}

/** True for an address that is not public, and for a name of a local network. */
function isPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (!ipaddr.isValid(host)) return PRIVATE_NAME.test(host);
  const address = ipaddr.parse(host);
  if (address.range() !== "unicast") return true;
  return address instanceof ipaddr.IPv6 && !isGlobal(address);
}

/** The only block of IPv6 from which public addresses are assigned (RFC 4291). */
const GLOBAL: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/**
 * False for every address outside, which a gateway may take to an IPv4 address: `::10.0.0.1`, `64:ff9b:1::/48`. And for one
 * of ISATAP, whose last half is an IPv4 address (RFC 5214). `range` knows the others: `::ffff:…`, 6to4, Teredo.
 */
function isGlobal(address: ipaddr.IPv6): boolean {
  const [high = 0, low = 0] = address.parts.slice(4, 6);
  const isIsatap = (high & ~0x0200) === 0 && low === 0x5efe;
  return address.match(GLOBAL) && !isIsatap;
}

function isSecret(text: string): boolean {
  const [, key = ""] = SECRET.exec(text) ?? [];
  if (key === "" || key.length % 4 !== 0) return false;
  const bytes = atob(key).length;
  return bytes >= 24 && bytes <= 64;
}
