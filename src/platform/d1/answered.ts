import { fail, ok, type Result } from "../../domain/errors.ts";
import { storageFailureOf } from "../storage-failure.ts";

/** A read of D1 as a result: one that D1 does not answer is a failure that the caller may retry. */
export async function answered<T>(read: () => Promise<T>): Promise<Result<T>> {
  try {
    return ok(await read());
  } catch (error) {
    console.error({ message: "D1 did not answer a read", error: String(error) });
    return fail(storageFailureOf(error) ?? "storage_unavailable");
  }
}
