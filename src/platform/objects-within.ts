import { isJurisdiction } from "./jurisdiction.ts";

/**
 * The objects of a class, within the jurisdiction. Looked up with each object: a local runtime without jurisdictions
 * then fails a request, and not the start.
 */
export function within<T extends Rpc.DurableObjectBranded>(
  objects: DurableObjectNamespace<T>,
  jurisdiction = "",
): () => DurableObjectNamespace<T> {
  return () => (isJurisdiction(jurisdiction) ? objects.jurisdiction(jurisdiction) : objects);
}
