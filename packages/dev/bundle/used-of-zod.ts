export * from "zod/v4";
export { absent as compile, absent as fromJSONSchema, absent as withParser };
export const core = {};
/** The messages in English, the default, stay. */
export const locales = {};
/** The whole namespace once more. */
export const z = {};

function absent(): never {
  throw new Error("packages/dev/bundle/used-of-zod.ts leaves this function of zod out");
}
