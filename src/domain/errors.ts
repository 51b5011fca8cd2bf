/** The commands that apply the migrations of D1, for the operator. */
export const APPLY_MIGRATIONS =
  "run `npx wrangler d1 migrations apply DB` with `--local` for a `wrangler dev` of your own (`npm start` applies them itself), or with `--remote` and the -c of the deployment (and the same for each FACTS_n)";

/**
 * Every error that Cairn answers with: `code → [HTTP status, message]`. The one place that turns a failure
 * into a status; a failure may carry a message of its own, more exact than the one here.
 */
export const errors = {
  invalid_request: [400, "The request does not fit its schema; `details` names each field."],
  invalid_json: [400, "The body is not valid JSON in UTF-8."],
  body_incomplete: [400, "The body broke off, or its chunks are not valid HTTP; send all of it again."],
  invalid_path: [400, "The path or query holds a percent-encoding that is not valid UTF-8."],
  invalid_cursor: [400, "The cursor is not one that this list handed out."],
  unauthenticated: [401, "Send `Authorization: Bearer <token>` with a token of this tenant."],
  invalid_token: [
    401,
    "The token was not signed with this tenant's CAIRN_SECRET (HS256) nor by its login provider, or a claim of it is missing or wrong. Who has the secret mints one: npm run token -- --user ID",
  ],
  token_expired: [401, "The token has expired; get a new one."],
  token_revoked: [401, "The token was revoked; get a new one."],
  link_spent: [
    410,
    "This link was used before, or is older than ten minutes. Press Enter in the terminal of `npm start`, or run `npm run token -- --link`, for another.",
  ],
  token_not_yet_valid: [401, "The token is not valid yet (nbf or iat); check the issuer's clock."],
  invalid_props: [
    403,
    "The props of this service binding do not say who calls: set `props` in the calling Worker's wrangler.toml.",
  ],
  forbidden: [403, "The scope of the caller does not allow this call."],
  trust_too_low: [403, "The memory has a higher trust than this caller, who cannot change or release it."],
  // A quota is the deployment's decision, and no fault that another try gets past: so neither 429 nor 507.
  quota_entries: [403, "This user holds as many entries as the deployment allows."],
  quota_memories: [403, "This user holds as many memories as the deployment allows."],
  quota_threads: [403, "This user holds as many threads as the deployment allows."],
  quota_bytes: [403, "This user holds as many bytes as the deployment allows."],
  not_found: [404, "There is no such thing, or it is not yours."],
  route_not_found: [404, "There is no such route; GET /openapi.json lists them all."],
  method_not_allowed: [405, "This route does not take this method; the Allow header lists those it takes."],
  not_acceptable: [406, "Send `Accept: application/json, text/event-stream`."],
  body_too_large: [413, "The body is larger than this route takes."],
  value_too_large: [413, "A value, a message, a summary or a line of an import is larger than its limit."],
  limit_exceeded: [400, "A field is over its limit; `details` names it, and the limit."],
  limit_reached: [409, "As many are stored as there may be; delete one first."],
  lease_held: [409, "Another caller is creating this value; try again after Retry-After."],
  lease_lost: [409, "This lease is not the current one: it ran out, was released, or the value was set."],
  length_mismatch: [409, "Another writer was first: the thread does not hold as many messages as expected."],
  invalid_continuation: [409, "The messages do not continue the stored conversation."],
  compaction_overlap: [409, "The range overlaps a part of another compaction's range."],
  external_id_taken: [409, "Another memory of this user has this externalId."],
  not_quarantined: [
    409,
    "The memory does not wait in quarantine: it was released meanwhile, or never waited.",
  ],
  fact_conflict: [
    409,
    "A stored fact says otherwise, and the rule of this predicate refuses facts that contradict each other.",
  ],
  erased_meanwhile: [
    409,
    "The user was erased during this call, and nothing was written after that. Send it again to store it.",
  ],
  erased_since: [
    409,
    "Something of this user was erased since that time, and a restore would bring it back. Take a later time.",
  ],
  restore_unavailable: [
    501,
    "This object has no state of that time. Only Cloudflare keeps earlier states, for 30 days.",
  ],
  precondition_failed: [412, "The stored version does not meet the request's condition."],
  parts_missing: [
    409,
    "The value is shaped like the entry of a value in parts (`cairnParts`, `count`), and these parts are not there.",
  ],
  batch_too_large: [413, "The values that the batch asks for are more than 16 MiB; split it."],
  precondition_unsupported: [400, "This call does not take this condition; nothing was done."],
  idempotency_conflict: [409, "This Idempotency-Key was used with another request; take a new one."],
  rate_limited: [429, "Too many calls; come again after Retry-After."],
  unsupported_format: [400, "This is no export of Cairn, or one of another version of the format."],
  unsupported_media_type: [415, "Send the body as application/json."],
  not_configured: [503, "This deployment is not configured; GET /health says what is missing."],
  login_keys_unavailable: [503, "The login provider's keys (JWT_JWKS_URL) could not be fetched; try again."],
  login_provider_unavailable: [
    503,
    "The identity provider (OIDC_ISSUER) did not answer, so nobody can sign in; try again. Apps that are signed in go on.",
  ],
  deployment_changed: [
    503,
    "The bindings do not name the databases and objects that hold the data; GET /health names the difference.",
  ],
  storage_full: [
    507,
    "No room is left for this write, in the user's object or in the database. Delete something first; deletes work.",
  ],
  daily_limit: [
    503,
    "The account's limit of rows for the day is used up (Cloudflare's free plan); it begins anew at 0:00 UTC. The paid plan has none.",
  ],
  // Not a 503: no retry helps before a person has acted.
  migrations_not_applied: [500, `The migrations of D1 are not applied: ${APPLY_MIGRATIONS}.`],
  catalogue_behind: [503, "The list lacks threads that began while the database was down; try again."],
  storage_unavailable: [503, "A store did not answer; try again."],
  internal: [500, "Something went wrong in Cairn; the request id finds it in the logs."],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof errors;

/** The code as this version knows it. Null for a code of another version, which an object may answer during a deployment. */
export const knownCode = (code: string): ErrorCode | null =>
  Object.hasOwn(errors, code) ? (code as ErrorCode) : null;

/**
 * One offending field: where it is (`body.messages[2].role`, `query.limit`) and what is wrong with it, with a code of
 * its own where a program has to tell the reasons apart.
 */
export type Detail = { path: string; message: string; code?: string };

/** An expected failure, as it is returned between the parts of Cairn and over RPC. */
export type Failure = { ok: false; code: ErrorCode; message?: string; details?: Detail[] };
export type Result<T> = { ok: true; value: T } | Failure;

export const ok = <T>(value: T): { ok: true; value: T } => ({ ok: true, value });
export const fail = (code: ErrorCode, more: { message?: string; details?: Detail[] } = {}): Failure => ({
  ok: false,
  code,
  ...more,
});
/** The failure for one field that is over its limit, which the message names. */
export const fieldOverLimit = (path: string, message: string): Failure =>
  fail("limit_exceeded", { details: [{ path, message }] });
/** The failure for one field that is not as it has to be. */
export const invalidField = (path: string, message: string): Failure =>
  fail("invalid_request", { details: [{ path, message }] });
