import { exports } from "cloudflare:workers";
import { token } from "../call.ts";
import { clientContract } from "./contract.ts";

clientContract(() => ({ options: { fetch: exports.default, token: "" }, token }));
