import type { Context } from "hono";
import { version } from "../../../package.json";
import type { AppEnv } from "../http/context.ts";
import { answerFailure } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import type { ConsoleSettings } from "../settings.ts";

type Serve = (c: Context<AppEnv>, settings: ConsoleSettings) => Response | Promise<Response>;

/** The console: a page over the API, from our own assets. Its files lie beside it, so that it works under any base path. */
export const consolePage = newRouter();

const serve = (path: string, answer: Serve): void => {
  consolePage.get(path, (c) => {
    const { console: settings } = c.get("services");
    return settings === null ? answerFailure(c, { code: "route_not_found" }) : answer(c, settings);
  });
};
const file: Serve = (c) => c.get("services").asset(c.req.raw);

serve("/console", file);
serve("/console/settings.json", (c, settings) => c.json({ version, ...settings }));
serve("/console/:file", file);
