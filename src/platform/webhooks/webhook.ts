import { Webhook as Signer } from "standardwebhooks";
import { retryAfter } from "../endpoint-request.ts";
import { type Fetch, postOnce } from "../post-once.ts";

export type WebhookMessage = {
  /** The same for each attempt. */
  id: string;
  /** JSON. */
  body: string;
};
/** `retryAfterMs`: the least time until the next attempt, if the receiver names one. */
export type WebhookAttempt = { ok: true } | { ok: false; problem: string; retryAfterMs?: number };

type WebhookOptions = {
  url: URL;
  /** As the settings have them, `whsec_…`: the current one, and the one before it. */
  secrets: readonly string[];
  fetch: Fetch;
  now: () => number;
};

/** Milliseconds that the receiver has to answer. */
const WITHIN_MS = 15_000;

/**
 * Sends messages signed by Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks). While there are two
 * secrets, each message has two signatures. Success is a status from 200 to 299. No problem names the address.
 */
export class StandardWebhook {
  readonly #options: WebhookOptions;
  readonly #signers: readonly Signer[];

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#signers = options.secrets.map((secret) => new Signer(secret));
  }

  /** One attempt. Never rejects. */
  async send({ id, body }: WebhookMessage): Promise<WebhookAttempt> {
    const { now } = this.#options;
    const at = new Date(now());
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": this.#signers.map((signer) => signer.sign(id, at, body)).join(" "),
    };
    const response = await postOnce(this.#options, { headers, body, withinMs: WITHIN_MS });
    if (typeof response === "string") return { ok: false, problem: response };
    if (response.ok) return { ok: true };
    const retryAfterMs = retryAfter(response.headers, now());
    return {
      ok: false,
      problem: `answered ${response.status}`,
      ...(retryAfterMs !== null && { retryAfterMs }),
    };
  }
}

/** The receiver of a tenant's changes. */
export type Webhook = Pick<StandardWebhook, keyof StandardWebhook>;
