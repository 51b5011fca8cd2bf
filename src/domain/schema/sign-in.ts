import { z } from "@hono/zod-openapi";
import { timestamp, userPath } from "./bounds.ts";

const id = z.string().openapi({
  param: { name: "id", in: "path" },
  description: "The id of a sign-in. `PUT /v1/revocations/tokens/{tokenId}` takes it too.",
});
export const signInPath = userPath.extend({ id });

export const SignIn = z
  .object({
    id,
    app: z
      .object({
        id: z.string(),
        name: z.string(),
        domain: z.string().optional().openapi({
          description: "The domain that describes the app. Without one, it gave its name itself.",
        }),
        redirectHost: z.string(),
      })
      .openapi({ description: "The app that the person allowed." }),
    scopes: z.array(z.string()),
    createdAt: timestamp,
    expiresAt: timestamp,
  })
  .openapi("SignIn");
export type SignIn = z.infer<typeof SignIn>;

export const SignInList = z.object({ items: z.array(SignIn) }).openapi("SignIns");

export const SignInCode = z
  .object({
    code: z.string().openapi({ description: "The person enters it where the app asks for it." }),
    expiresAt: timestamp,
  })
  .openapi("SignInCode");
export type SignInCode = z.infer<typeof SignInCode>;
