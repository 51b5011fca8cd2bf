import { fail, ok, type Result } from "../../domain/errors.ts";
import { storageFailureOf } from "../storage-failure.ts";

/** The result of a call to D1. Any error becomes a failure, `storage_unavailable` unless its cause is known. */
export async function d1Result<T>(call: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await call());
  } catch (error) {
    console.error({ message: "D1 did not answer", error: String(error) });
    return fail(storageFailureOf(error) ?? "storage_unavailable");
  }
}
