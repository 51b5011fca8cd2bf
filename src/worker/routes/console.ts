import type { Context } from "hono";
import { version } from "../../../package.json";
import type { AppEnv } from "../http/context.ts";
import { cookieAt } from "../http/console-cookie.ts";
import { answerFailure } from "../http/failure.ts";
import { newRouter, page } from "../http/router.ts";
import { signInAt } from "../http/sign-in-at.ts";
import type { ConsoleSettings } from "../settings.ts";

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

serve("/console", file);
serve("/console/settings.json", (c, { issuer }) => {
  const by = signInAt(c)?.signIn.settings;
  return c.json({
    version,
    ...(issuer !== undefined && { issuer }),
    ...(cookieAt(c) !== null && { cookie: true }),
    ...(by !== undefined && { signIn: by.provider === null ? "codes" : "provider" }),
  });
});
serve("/console/{file}", file);
