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

/** Which tokens hold, and who did what. Wants the scope `admin` and a token of all users (`*`). */
export class Access {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Refuses one token, by its `jti`, everywhere within 30 seconds. */
  revoke(tokenId: string, body: RevokeTokenBody = {}, options: CallOptions = {}): Promise<RevokedToken> {
    return this.#http.send({ method: "PUT", path: pathOf("tokens", tokenId), json: body, ...options });
  }

  /** Takes back the revocation of one token. */
  restore(tokenId: string, options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: pathOf("tokens", tokenId), ...options });
  }

  /** Refuses all tokens that were issued before this time (milliseconds since the epoch), perhaps that of this very call. */
  setMinIssuedAt(minIssuedAt: number, options: CallOptions = {}): Promise<MinIssuedAt> {
    const json = { minIssuedAt };
    return this.#http.send({ method: "PUT", path: pathOf("min-issued-at"), json, ...options });
  }

  /** Takes tokens again however old they are. */
  clearMinIssuedAt(options: CallOptions = {}): Promise<void> {
    return this.#http.send({ method: "DELETE", path: pathOf("min-issued-at"), ...options });
  }

  /** A page of the revoked tokens, and the time before which none may have been issued. */
  revocations(query: ListRevocationsQuery = {}, options: CallOptions = {}): Promise<RevocationsList> {
    return this.#http.send({ method: "GET", path: pathOf(), query, ...options });
  }

  /** All revoked tokens, page by page. */
  allRevocations(
    query: ListRevocationsQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<RevokedToken, void> {
    return itemsOf((cursor) => this.revocations({ ...query, cursor }, options), query.cursor);
  }

  /** Who deleted, forgot or administered what: a page, the newest first. */
  audit(query: ListAuditQuery = {}, options: CallOptions = {}): Promise<AuditEvents> {
    return this.#http.send({ method: "GET", path: ["v1", "audit"], query, ...options });
  }

  /** All of it, page by page. */
  allAudit(query: ListAuditQuery = {}, options: CallOptions = {}): AsyncGenerator<AuditedEvent, void> {
    return itemsOf((cursor) => this.audit({ ...query, cursor }, options), query.cursor);
  }
}

const pathOf = (...rest: string[]): string[] => ["v1", "revocations", ...rest];
