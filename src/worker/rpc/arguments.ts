/** The arguments of a method as they crossed, and what the method takes. */
type Given = { args: readonly unknown[]; required: number; takesBytes: boolean };

/** What is wrong with an argument, by its path: `arguments.1.metadata`, counted from 0. */
export type Fault = { path: string; message: string };

/**
 * The first argument that the method does not take. RPC carries more types than JSON has, and JSON would make `{}` of a
 * `Map` without a word. The content of what JSON has is checked by the schemas of the routes.
 */
export function faultOf({ args, required, takesBytes }: Given): Fault | undefined {
  for (let i = 0; i < Math.max(required, args.length); i++) {
    const fault = faultIn(args[i], { isRequired: i < required, takesBytes });
    if (fault !== undefined)
      return { path: [`arguments.${i}`, ...fault.path].join("."), message: fault.message };
  }
  return undefined;
}

type Found = { path: string[]; message: string };

function faultIn(
  value: unknown,
  { isRequired, takesBytes }: { isRequired: boolean; takesBytes: boolean },
): Found | undefined {
  if (value === undefined) return isRequired ? { path: [], message: "is missing" } : undefined;
  if (isRequired && takesBytes && (value instanceof Uint8Array || value instanceof Blob)) return undefined;
  // An argument that may be left out holds fields: a filter, or options.
  if (!isRequired && (typeof value !== "object" || value === null || Array.isArray(value)))
    return { path: [], message: "must be an object, or left out" };
  try {
    return withoutJson(value);
  } catch {
    // The stack ended.
    return { path: [], message: "contains itself, or is nested too deep" };
  }
}

/** The first part of a value that JSON would drop or change. Its path is made on the way back: most values have none. */
function withoutJson(value: unknown): Found | undefined {
  if (typeof value === "function" || typeof value === "bigint")
    return { path: [], message: `is a ${typeof value}, which has no JSON` };
  if (typeof value !== "object" || value === null || value instanceof Date) return undefined;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = withoutJson(value[i]);
      if (found !== undefined) return { ...found, path: [String(i), ...found.path] };
    }
    return undefined;
  }
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return { path: [], message: `is of the type ${prototype.constructor.name}, which has no JSON` };
  for (const name in value) {
    // What has this prototype has no other names than its own.
    const found = withoutJson((value as Record<string, unknown>)[name]);
    if (found !== undefined) return { ...found, path: [name, ...found.path] };
  }
  return undefined;
}
