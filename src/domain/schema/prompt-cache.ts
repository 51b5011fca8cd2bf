import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { DURATION, durationMs } from "../prompt-cache/duration.ts";
import {
  anyJson,
  anyJsonDocument,
  atMost,
  boundedInt,
  cursor,
  excludes,
  goesWith,
  type Json,
  overLimit,
  pageLimit,
  pageShape,
  text,
  timestamp,
  wholeNumber,
} from "./bounds.ts";
import { boolean, integer, optional, shape, strictShape, string } from "./described.ts";

/** The name of an app's part of the registry. */
export const namespace = text(limits.namespace)
  // Every proxy and library passes these bytes unchanged.
  .refine((name) => /^[\x20-\x7e]*$/.test(name), "holds characters other than printable ASCII");

export const namespaceHeader = z.object({
  "Cairn-Namespace": namespace.optional().openapi({
    description:
      "Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.",
    example: "support-bot",
  }),
});

const leaseMs = boundedInt({ min: 1, max: limits.leaseMs });
const waitMs = boundedInt({ min: 0, max: limits.waitMs });

export const GetCacheQuery = z
  .strictObject({
    lease: wholeNumber({ min: 1, max: limits.leaseMs }).optional().openapi({
      description:
        "On a miss, takes a lease to create the value, for this many milliseconds. The answer is 404 with `Cairn-Lease` and `Cairn-Lease-Expires`.",
    }),
    wait: wholeNumber({ min: 0, max: limits.waitMs }).optional().openapi({
      description:
        "With `lease`: waits up to this many milliseconds while another caller creates the value; then 409 `lease_held`.",
    }),
  })
  .refine(...goesWith("wait", "lease", "goes with `lease`"));

export const DeleteCacheQuery = z.strictObject({
  version: string("Deletes only this version, so that a late delete keeps a newer value.").optional(),
});

export const LeaseBody = strictShape("LeaseRequest", {
  leaseMs: leaseMs.openapi({ description: "Time to create the value, in milliseconds.", example: 30_000 }),
  waitMs: optional(waitMs, "Time to wait while another caller creates it, in milliseconds; 0 unless set."),
});

export const ReleaseQuery = z.strictObject({
  id: string("The id of the lease."),
});

const Lease = z.object({ id: z.string(), expiresAt: timestamp }).openapi("Lease");
const retryAfterMs = integer("When the other caller's lease ends. The value may come earlier.");

export const LeaseAnswer = z
  .discriminatedUnion("status", [
    z.object({
      status: z.literal("hit"),
      value: anyJson,
      version: z.string(),
      expiresAt: timestamp.optional(),
    }),
    z.object({ status: z.literal("lease"), lease: Lease }),
    z.object({ status: z.literal("wait"), retryAfterMs }),
  ])
  .openapi("LeaseAnswer");
export type LeaseAnswer = z.infer<typeof LeaseAnswer>;

export const provider = z.enum(["google", "anthropic", "openai"]).openapi("Provider");
export type Provider = z.infer<typeof provider>;

const model = text(limits.model).openapi({ example: "gemini-2.5-pro" });
const tokens = boundedInt({ min: 0, max: limits.tokens });

/** Numbers are refused: providers take no plain seconds. */
const ttl = z
  .custom<string>(
    (value) => typeof value === "string" && DURATION.test(value),
    "is no duration as in `3600s`, `30m`, `1h` or `1d`",
  )
  .refine((value) => (durationMs(value) ?? 0) <= limits.ttlMs, overLimit("is longer than 10 years"))
  .openapi({ type: "string", pattern: DURATION.source, example: "1h" });

/**
 * A region is any JSON value, or the etag of a context's stable block in place of its text. A parsed body is JSON already. A copy
 * would lose `__proto__`.
 */
const region = z
  .custom<Json>((value) => value !== undefined)
  .refine((value) => !isContext(value) || isText(value.context), {
    path: ["context"],
    error: "is no etag: give `stable.etag` of a context",
  })
  .openapi({
    ...anyJsonDocument,
    description:
      'Any JSON value. `{ "context": etag }` stands for the stable block of a context, by its `stable.etag`.',
  });

/** A region with other fields too is the caller's own. */
const isContext = (value: Json): value is { context: Json } =>
  typeof value === "object" && value !== null && Object.keys(value).join() === "context";
const isText = (value: Json): boolean => typeof value === "string" && value !== "";

export const ResolveBody = z
  .strictObject({
    provider,
    model,
    regions: z
      .array(region)
      .min(1)
      .refine(...atMost(limits.regions, `${limits.regions} regions`))
      .optional()
      .openapi({ description: "The regions to cache, in the order of the prompt. Cairn hashes them." }),
    hash: z
      .string()
      .regex(/^[A-Za-z0-9_-]+={0,2}$/, "is neither hex nor base64url")
      .refine(
        (value) => value.length <= limits.promptHash,
        overLimit(`is longer than ${limits.promptHash} characters`),
      )
      .optional()
      .openapi({ description: "Your own hash of the regions, instead of `regions`." }),
    ttl: ttl.optional().openapi({ description: "Time that the provider keeps the resource." }),
    minTokens: tokens.optional().openapi({ description: "Minimum size that the provider caches." }),
    tokens: tokens.optional().openapi({ description: "An estimate of the regions' size." }),
    leaseMs: leaseMs.optional().describe("Time to create the resource, in milliseconds; 60,000 unless set."),
    waitMs: optional(waitMs, "Time to wait while another caller creates it, in milliseconds; 0 unless set."),
  })
  .refine(({ regions, hash }) => regions !== undefined || hash !== undefined, {
    path: ["regions"],
    error: "is required, or `hash` in its place",
  })
  .refine(...excludes("hash", "regions", "takes the place of `regions`: give one of them"))
  .openapi("ResolvePromptCache", {
    example: {
      provider: "google",
      model: "gemini-2.5-pro",
      regions: ["You are …", { context: "V8Q-Ys2xUkgqUJnAQdqXZw" }],
      ttl: "1h",
      waitMs: 10_000,
    },
  });
export type ResolveBody = z.infer<typeof ResolveBody>;

/** The value that callers store under the key of a resource. */
export const StoredResource = z.union([
  z.object({ tooSmall: z.literal(true), expiresAt: z.int() }),
  z.object({ name: z.string().min(1), expiresAt: z.int() }),
]);

const Breakpoint = z.object({
  index: integer("Index of the last region of the prefix."),
  prefixHash: z.string(),
  likelyWarm: boolean("Sent within the provider's cache lifetime."),
  lastUsedAt: timestamp.optional(),
  expiresAt: timestamp.optional(),
});
export type Breakpoint = z.infer<typeof Breakpoint>;

const resource = z.string().openapi({
  description: "Key for `/v1/cache/{key}`, where the resource is stored.",
  example: "prompt-cache:google:…",
});

export const ResolveAnswer = z
  .union([
    z
      .object({
        status: z.literal("hit"),
        key: resource,
        name: z.string().openapi({ description: "The provider's resource.", example: "cachedContents/1" }),
        expiresAt: timestamp,
        version: z.string(),
      })
      .openapi({ description: "Use this resource. It lives for at least 30 s." }),
    z
      .object({
        status: z.literal("create"),
        key: resource,
        lease: Lease,
        ttlSeconds: integer("`ttl` in seconds, for the PUT.").optional(),
      })
      .describe(
        "Create the resource, then call `PUT /v1/cache/{key}?lease={id}&ttlSeconds=…` with `{ name, expiresAt }`.",
      ),
    z.object({ status: z.literal("wait"), key: resource, retryAfterMs }),
    z
      .object({ status: z.literal("too-small"), expiresAt: timestamp.optional() })
      .openapi({ description: "The provider does not cache a prompt this short. Valid until `expiresAt`." }),
    z
      .object({ status: z.literal("stateless"), breakpoints: z.array(Breakpoint) })
      .openapi({ description: "anthropic: nothing to create. One breakpoint per prefix, warm or cold." }),
    z
      .object({ status: z.literal("stateless"), promptCacheKey: z.string().max(64) })
      .openapi({ description: "openai: nothing to create. The `prompt_cache_key` for the request." }),
  ])
  .openapi("ResolvedPromptCache");
export type ResolveAnswer = z.infer<typeof ResolveAnswer>;

export const ReportBody = strictShape("ReportUsage", {
  provider,
  model,
  cachedInputTokens: tokens,
  uncachedInputTokens: tokens,
  at: z.int().min(0).optional().openapi({ description: "Time of the call; now unless set." }),
});
export type ReportBody = z.infer<typeof ReportBody>;

const time = wholeNumber({ min: 0, max: 999_999_999_999_999 }).optional();

export const ListKeysQuery = z.strictObject({
  prefix: string("Literal prefix, without wildcards.").optional(),
  limit: pageLimit(100),
  cursor,
});

export const RegistryKeys = pageShape(
  z.object({
    key: z.string(),
    version: string("Of the value; absent if there is none yet.").optional(),
    updatedAt: timestamp.optional(),
    expiresAt: timestamp.optional(),
    leaseUntil: timestamp.optional().describe("Somebody creates the value, and has until then."),
  }),
).openapi("RegistryKeys");
export type RegistryKeys = z.infer<typeof RegistryKeys>;

export const StatsQuery = z.strictObject({
  from: time.openapi({ description: "From the hour of this time." }),
  to: time.openapi({ description: "Up to the hour of this time." }),
  model: model.optional(),
  limit: pageLimit(1000),
  cursor,
});

const sums = {
  calls: z.int(),
  cachedInputTokens: z.int(),
  uncachedInputTokens: z.int(),
  hitRate: z.number().min(0).max(1).openapi({ description: "Share of the input that came from a cache." }),
};

export type StatsQuery = z.infer<typeof StatsQuery>;

export const Stats = shape("PromptCacheStats", {
  items: z.array(
    z.object({
      provider,
      model: z.string(),
      hour: timestamp.openapi({ description: "Start of the hour." }),
      ...sums,
    }),
  ),
  total: z
    .object({
      ...sums,
      tokensSaved: integer("Input tokens that were not processed again."),
    })
    .openapi({ description: "For the whole range, not for the page." }),
  cursor: z.string().optional(),
});
export type Stats = z.infer<typeof Stats>;
