import type { MiddlewareHandler } from "hono";
import { invalidField } from "../../domain/errors.ts";
import { isLocation, type Location, locations } from "../../domain/location.ts";
import type { Services } from "../services.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const LOCATION_HEADER = "Cairn-Location";

export const locationNote = `The header ${LOCATION_HEADER} of any call names where a new user's object is created: ${locations.join(", ")}.`;

/** Creates users' objects where the header says. It counts for the call that makes an object, and does nothing later. */
export const placeObjects: MiddlewareHandler<AppEnv> = async (c, next) => {
  const hint = c.req.header(LOCATION_HEADER);
  if (hint !== undefined) {
    if (!isLocation(hint))
      throw new Refusal(invalidField(`header.${LOCATION_HEADER}`, `must be one of ${locations.join(", ")}`));
    c.set("services", placedAt(c.get("services"), hint));
  }
  await next();
};

/** The services of a call whose new objects are created near a place. */
export const placedAt = (services: Services, location: Location): Services => ({
  ...services,
  userMemory: (owner) => services.userMemory(owner, location),
});
