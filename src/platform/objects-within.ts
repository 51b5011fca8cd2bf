import { isJurisdiction } from "./jurisdiction.ts";

/**
 * The objects of a class that are held to the jurisdiction. Asked for with each object: a runtime that knows no
 * jurisdictions, as the one on a laptop, says so in an answer then, and not before any request.
 */
export function within<T extends Rpc.DurableObjectBranded>(
  objects: DurableObjectNamespace<T>,
  jurisdiction = "",
): () => DurableObjectNamespace<T> {
  return () => (isJurisdiction(jurisdiction) ? objects.jurisdiction(jurisdiction) : objects);
}
