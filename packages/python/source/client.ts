import type { Document } from "./document.ts";
import { methodsOf } from "./methods.ts";
import { Types } from "./types.ts";

/** The client as one file of Python: what sends a call, the types of the document, and one class with its operations. */
export function clientOf(document: Document, transport: string): string {
  const types = new Types(document);
  // They ask for the types, which stand before them.
  const methods = methodsOf(document, types);
  return `${transport}

VERSION = ${JSON.stringify(document.info.version)}


${types.text}class Cairn(_Transport):
    __doc__ = _Transport.__doc__

${methods.trimEnd()}
`;
}
