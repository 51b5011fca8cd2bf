import { z } from "@hono/zod-openapi";
import { timestamp, userPath } from "./bounds.ts";
import { shape, string } from "./described.ts";

const id = string("The id of a sign-in. `PUT /v1/revocations/tokens/{tokenId}` takes it too.");
export const signInPath = userPath.extend({ id });

export const SignIn = shape("SignIn", {
  id,
  app: z
    .object({
      id: z.string(),
      name: z.string(),
      domain: string("The domain that describes the app. Without one, it gave its name itself.").optional(),
      redirectHost: z.string(),
    })
    .openapi({ description: "The app that the person allowed." }),
  scopes: z.array(z.string()),
  createdAt: timestamp,
  expiresAt: timestamp,
});
export type SignIn = z.infer<typeof SignIn>;

export const SignInList = z.object({ items: z.array(SignIn) }).openapi("SignIns");

export const SignInCode = shape("SignInCode", {
  code: string("The person enters it where the app asks for it."),
  expiresAt: timestamp,
});
export type SignInCode = z.infer<typeof SignInCode>;
