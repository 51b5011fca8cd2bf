import { ok, type Result } from "../../domain/errors.ts";
import type { Page } from "../use-cases/browse.ts";
import { fitting } from "./text.ts";

/** A page as lines, and where the next one begins. */
export type Lines = { lines: string[]; cursor?: string };

/**
 * A page of at most `limit` items that fits into one result. Where it does not, the shorter page is read anew, so that
 * its cursor goes on with what was left out.
 */
export async function fittingPage<T>(
  read: (limit: number) => Promise<Result<Page<T>>>,
  limit: number,
  lineOf: (item: T) => string,
): Promise<Result<Lines>> {
  const page = await read(limit);
  if (!page.ok) return page;
  const { items, cursor } = page.value;
  const lines = items.map(lineOf);
  const shown = fitting(lines);
  if (shown < lines.length) return fittingPage(read, shown, lineOf);
  return ok({ lines, ...(cursor !== undefined && { cursor }) });
}
