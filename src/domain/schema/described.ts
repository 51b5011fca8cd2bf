// Schemas with what the OpenAPI document says of them.
import { z } from "@hono/zod-openapi";

/** An object of an answer, by its name in the OpenAPI document. */
export const shape = <Fields extends z.ZodRawShape>(title: string, fields: Fields) =>
  z.object(fields).openapi(title);

/** An object of a request, likewise: it has no other fields. */
export const strictShape = <Fields extends z.ZodRawShape>(title: string, fields: Fields) =>
  z.strictObject(fields).openapi(title);

// Fields with their descriptions.
export const integer = (description: string) => z.int().openapi({ description });
export const string = (description: string) => z.string().openapi({ description });
export const boolean = (description: string) => z.boolean().openapi({ description });
export const optional = <T extends z.ZodType>(field: T, description: string) =>
  field.optional().openapi({ description });
/** True, or absent. */
export const mark = (description: string) => z.literal(true).optional().openapi({ description });
