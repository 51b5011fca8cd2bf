// "@modelcontextprotocol/server/_shims" in the bundles (wrangler.toml, bundler.ts). The SDK's file brings a
// validator of JSON Schema, and builds all schemas of the protocol as the isolate starts. Cairn asks clients for no input,
// which is all that the validator is for.
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("packages/dev/bundle/mcp-shims.ts leaves the validator out");
  }
}

/** The SDK's stdio transport alone needs these. */
export const process = {};
