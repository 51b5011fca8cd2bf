import { exports } from "cloudflare:workers";
import { describe } from "vitest";
import { bindingWith, propsOf } from "../../../../test/binding-calls.ts";
import { token } from "../../../../test/call.ts";
import { clientContract } from "../contract.ts";

describe("over HTTP", () => {
  clientContract(() => ({
    optionsOf: async (user) => ({ fetch: exports.default, token: await token(user) }),
  }));
});

describe("over a service binding", () => {
  clientContract(() => ({ optionsOf: async (user) => ({ binding: bindingWith(propsOf({ user })) }) }));
});
