import type { CairnHttp } from "./http.ts";
import type { CallOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  AuditedEvent,
  AuditEvents,
  ListAuditQuery,
  ListRevocationsQuery,
  MinIssuedAt,
  RevocationsList,
  RevokedToken,
  RevokeTokenBody,
} from "./shapes.ts";

/** Revocation of tokens, and the audit log. Needs the scope `admin` and a token of all users (`*`). */
export class Access {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Revokes one token by its `jti`. It takes effect everywhere within 30 seconds, or 5 minutes while D1 is down. */
  revoke(tokenId: string, body: RevokeTokenBody = {}, options: CallOptions = {}): Promise<RevokedToken> {
    return this.#http.send({ method: "PUT", path: pathOf("tokens", tokenId), json: body }, options);
  }

  /** Removes the revocation of one token. */
  restore(tokenId: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: pathOf("tokens", tokenId) }, options);
  }

  /** Revokes all tokens issued before this time, in milliseconds since the epoch. This may include the caller's own. */
  setMinIssuedAt(minIssuedAt: number, options: CallOptions = {}): Promise<MinIssuedAt> {
    const json = { minIssuedAt };
    return this.#http.send({ method: "PUT", path: pathOf("min-issued-at"), json }, options);
  }

  /** Removes the minimum issue time. */
  clearMinIssuedAt(options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: pathOf("min-issued-at") }, options);
  }

  /** Returns a page of the revoked tokens, and the minimum issue time. */
  revocations(query: ListRevocationsQuery = {}, options: CallOptions = {}): Promise<RevocationsList> {
    return this.#http.send({ method: "GET", path: pathOf(), query }, options);
  }

  /** Yields all revoked tokens. Fetches pages on demand. */
  allRevocations(
    query: ListRevocationsQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<RevokedToken, void> {
    return itemsOf((cursor) => this.revocations({ ...query, cursor }, options), query.cursor);
  }

  /** Returns a page of the audit log, newest first: deletions and administrative calls. */
  audit(query: ListAuditQuery = {}, options: CallOptions = {}): Promise<AuditEvents> {
    return this.#http.send({ method: "GET", path: ["v1", "audit"], query }, options);
  }

  /** Yields the whole audit log, newest first. Fetches pages on demand. */
  allAudit(query: ListAuditQuery = {}, options: CallOptions = {}): AsyncGenerator<AuditedEvent, void> {
    return itemsOf((cursor) => this.audit({ ...query, cursor }, options), query.cursor);
  }
}

const pathOf = (...rest: string[]): string[] => ["v1", "revocations", ...rest];
