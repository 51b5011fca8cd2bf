import { exports } from "cloudflare:workers";
import { token } from "../../../../test/call.ts";
import { clientContract } from "../contract.ts";

clientContract(() => ({ options: { fetch: exports.default, token: "" }, token }));
