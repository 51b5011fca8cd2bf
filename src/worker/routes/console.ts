import type { Context, Handler } from "hono";
import { z } from "@hono/zod-openapi";
import { version } from "../../../package.json";
import type { AppEnv } from "../http/context.ts";
import { NO_STORE } from "../http/answer.ts";
import { answerFailure, unwrap } from "../http/failure.ts";
import { parsedBody, readBody } from "../http/json-body.ts";
import { countAddress } from "../http/rates.ts";
import { nobody } from "../http/owner.ts";
import { newRouter, page, undocumented } from "../http/router.ts";
import { signInAt } from "../sign-in/sign-in.ts";
import { redeemCode } from "../auth/console-code.ts";
import { parseInput } from "../parse-input.ts";
import type { ConsoleSettings } from "../settings.ts";

/** More than a code takes with the longest user id. */
const CODE_BYTES = 8_192;
const Code = z.strictObject({ code: z.string() });

type Serve = (c: Context<AppEnv>, settings: ConsoleSettings) => Response | Promise<Response>;

/** The console: a page over the API, from our own assets. Its files lie beside it, so that it works under any base path. */
export const consolePage = newRouter();

const serve = (path: string, answer: Serve): void => {
  page(consolePage, path, (c) => {
    const { console: settings } = c.get("services");
    return settings === null ? answerFailure(c, { code: "route_not_found" }) : answer(c, settings);
  });
};
const file: Serve = (c) => c.get("services").asset(c.req.raw);

/** Exchanges the code of a link for a token. The code comes in the body: an address would be logged. */
const session: Handler<AppEnv> = async (c) => {
  const { console: settings, secret = "", revocations, revoked, now } = c.get("services");
  // A page that takes logins only has no use for the tenant's own tokens.
  if (settings === null || settings.issuer !== undefined)
    return answerFailure(c, { code: "route_not_found" });
  await countAddress(c);
  const { code } = unwrap(parseInput(Code, parsedBody(c), "body"));
  const token = unwrap(await redeemCode(code, { secret, revocations, revoked, now }));
  return c.json({ token }, 200, NO_STORE);
};
undocumented(
  consolePage,
  { method: "post", path: "/console/session", scope: "open", owner: nobody, before: [readBody(CODE_BYTES)] },
  session,
);

serve("/console", file);
serve("/console/settings.json", (c, settings) => {
  const by = signInAt(c)?.signIn.settings;
  return c.json({
    version,
    ...settings,
    ...(by !== undefined && { signIn: by.provider === null ? "codes" : "provider" }),
  });
});
serve("/console/{file}", file);
