import { z } from "@hono/zod-openapi";
import { type ErrorCode, errors } from "../errors.ts";
import { shape } from "./described.ts";

const codes = Object.keys(errors) as [ErrorCode, ...ErrorCode[]];

export const ErrorBody = shape("Error", {
  error: z.object({
    code: z.enum(codes),
    message: z.string(),
    details: z
      .array(
        z.object({
          path: z.string().openapi({ example: "body.messages[0].role" }),
          message: z.string(),
          code: z.string().optional(),
        }),
      )
      .optional(),
    requestId: z.string(),
  }),
});
