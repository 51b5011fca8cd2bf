/** The limits of Cairn. Sizes are bytes of UTF-8 unless the name says otherwise; times are milliseconds. */
export const limits = {
  userId: 256,
  /** Shared owners that one token reads. */
  sharedOwners: 64,
  /** A token's `jti`. */
  tokenId: 256,
  /** Tokens that are revoked one by one: each isolate holds them all. */
  revokedTokens: 10_000,
  /** Sign-ins of one user, and access tokens of one of these: the oldest end. */
  signIns: 50,
  tokensOfSignIn: 10,
  /** Registered apps that nobody has signed in to: the oldest go. */
  unusedApps: 10_000,
  /** Characters of an app's request for a sign-in. */
  signInRequest: 2048,
  /** A form, a registration or a request for a token. */
  signInBody: 16 * 1024,
  key: 1024,
  value: 1024 * 1024,
  message: 8 * 1024 * 1024,
  messagesPerAppend: 1000,
  /** Characters of a message's role. */
  role: 64,
  /** Approvals, and rejections, that come with one conversation. */
  toolCallIds: 1000,
  toolCallId: 256,
  operationsPerBatch: 1000,
  /** The values that one batch of entries may ask for. RPC moves 32 MiB. */
  batchBytes: 16 * 1024 * 1024,
  idempotencyKey: 255,
  text: 32 * 1024,
  memoriesPerBatch: 500,
  tags: 32,
  tag: 64,
  metadata: 10 * 1024,
  /** Titles, agents and the like. */
  name: 1024,
  /** The nesting depth of metadata: RPC and parsers recurse into it. */
  metadataDepth: 64,
  /** Comparisons and groups in a filter of metadata. A comparison binds one of the 100 parameters of a statement. */
  filterConditions: 32,
  /** The nesting depth of `and`, `or` and `not`. */
  filterDepth: 5,
  /** The most values that one field of a filter takes. */
  filterValues: 1000,
  /** The name of who speaks in a message, and the names of a thread that are its owner's. */
  speaker: 256,
  ownerNames: 32,
  /** The messages that one extracted memory cites. */
  sources: 32,
  /** The memories of the caller's own model, as JSON: an ingest keeps them in one row, with its state, until they are stored. */
  extractedBytes: 1024 * 1024,
  /** The results that one ingest lists. */
  ingestResults: 1000,
  query: 256 * 1024,
  /** The part of a query that is searched: half from its beginning, half from its end. */
  searchedQuery: 8 * 1024,
  k: 100,
  /** Tokens of the memory in one prompt. */
  contextTokens: 100_000,
  contextTokensMin: 100,
  /** Stored lists of layers, of a user and of the tenant. */
  contextProfiles: 100,
  /** Rules of predicates that a tenant stores: each isolate holds them all. */
  predicateRules: 1000,
  /** Opposites that one of these rules names. */
  opposites: 16,
  /** The opposites of all rules: each write reads them. */
  oppositesBytes: 100 * 1024,
  /** Rules of extraction, the topics of one of their lists, and their texts: each isolate holds them all. */
  extractionRules: 100,
  extractionBytes: 100 * 1024,
  topics: 50,
  topic: 256,
  extractionPrompt: 4 * 1024,
  /** Rules of retention of memories, of the tenant and of each user, and the longest age of a rule. */
  retentionRules: 50,
  retentionDays: 3650,
  /** Patterns of redaction: each call that has a body applies them all. */
  redactions: 16,
  redactionPattern: 256,
  redactionText: 64,
  /** The longest life of a named snapshot of a context. */
  snapshotMs: 24 * 60 * 60 * 1000,
  /** Messages on each side of a hit. */
  window: 5,
  /** The longest time that a recall may wait for Vectorize. */
  recallDeadlineMs: 10_000,
  /** Shared owners that one recall asks besides the user. */
  owners: 16,
  page: 1000,
  ttlMs: 10 * 365 * 24 * 60 * 60 * 1000,
  namespace: 256,
  /** The name of a provider's model. */
  model: 256,
  leaseMs: 10 * 60 * 1000,
  waitMs: 60 * 1000,
  regions: 1000,
  /** Characters of a caller's own hash. */
  promptHash: 128,
  /** Tokens of one prompt or report. */
  tokens: 1_000_000_000,
  /** A request body. An append may hold 16 MiB of messages; the rest is room for what is around them. */
  body: 16 * 1024 * 1024 + 64 * 1024,
  /** A line of an export: a message, as a text in which every other character may be escaped. */
  exportLine: 17 * 1024 * 1024,
  /** The lines of one memory with its history, which are imported together. */
  exportedMemory: 16 * 1024 * 1024,
  /** A request body of MCP: a tool's longest argument is a text of 32 KiB, which JSON may write six times as long. */
  mcpBody: 1024 * 1024,
  /** Messages in one POST of MCP, which knew batches once: each may be a call of a tool. */
  mcpBatch: 20,
  /** The size at which a page of messages or entries is cut; it holds at least one item. RPC moves 32 MiB. */
  pageBytes: 8 * 1024 * 1024,
  /** The size of a sanitized page that does not cut a turn of tool calls. */
  turnBytes: 24 * 1024 * 1024,
  /** A summary that stands for messages. */
  summary: 1024 * 1024,
  /** The nesting depth of a message: comparing and printing recurse into it. */
  messageDepth: 512,
  /** Characters of a message's text that are searched, from its beginning. */
  searchableText: 32 * 1024,
} as const;

const encoder = new TextEncoder();

/** Bytes of UTF-8 of `text`. Lone surrogates count as the three bytes of U+FFFD. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}

/** True if `text` is of at most `max` bytes of UTF-8. No character takes more than three: most need no encoding. */
export const isWithin = (text: string, max: number): boolean =>
  text.length * 3 <= max || (text.length <= max && byteLength(text) <= max);
