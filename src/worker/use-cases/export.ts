import { d1Result } from "../../platform/d1/d1-result.ts";
import type { VersionPlace } from "../../platform/d1/memory-records.ts";
import { type ErrorCode, fail, ok, type Result } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { FORMAT, FORMAT_VERSION } from "../../domain/transfer/format.ts";
import type { Services } from "../services.ts";
import { readableFromGenerator } from "../../platform/readable-from-generator.ts";
import { memoryLine } from "../../domain/transfer/memory-lines.ts";
import { retryOnReset } from "../../platform/retry-on-reset.ts";
import { type Owner, ownerOf } from "../../domain/memory/record.ts";
import type { ExportPage } from "../../contract/user-memory.ts";

type Needs = Pick<Services, "userMemory" | "records">;
/** Versions in the first read of a page, some 10 MB at most. The read grows for a longer history. */
const VERSIONS = 100;

const encoder = new TextEncoder();

/** An export that broke off, other than by a bug or a failed store. */
export class BrokenOff extends Error {
  override readonly name = "BrokenOff";
  readonly code: ErrorCode;

  constructor(code: ErrorCode) {
    super(`the export could not go on: ${code}`);
    this.code = code;
  }
}

/**
 * Streams all data of a user as lines (docs/reference/export.md), one page in memory at a time. Breaks off without the last line where
 * a store does not answer or the user is erased meanwhile, and calls `brokenOff` with the reason.
 */
export async function exportLines(
  needs: Needs,
  user: string,
  brokenOff: (reason: unknown) => void,
): Promise<Result<ReadableStream>> {
  const owner = await ownerOf(user);
  // Fails before the stream begins if one of the stores does.
  const first = await needs.userMemory(owner.hash).exportPage();
  if (!first.ok) return first;
  const d1 = await d1Result(() => needs.records.exported(owner.hash, { limit: 1 }));
  return d1.ok ? ok(readableFromGenerator(linesOf(needs, owner, first.value), brokenOff)) : d1;
}

async function* linesOf(needs: Needs, owner: Owner, first: ExportPage): AsyncGenerator<Uint8Array, void> {
  const object = () => needs.userMemory(owner.hash);
  const header = { format: FORMAT, version: FORMAT_VERSION, userId: owner.id, userHash: owner.hash };
  const { retention } = first;
  yield line({ ...header, ...(retention && { retention }) });
  let count = 1;
  for (let page = first; ;) {
    count += page.count;
    if (page.count > 0) yield page.lines;
    const { next } = page;
    if (next === undefined) break;
    page = unwrapPage(await retryOnReset(() => object().exportPage(next)));
  }
  for await (const lines of memories(needs, owner.hash)) {
    count += lines.length;
    yield encoder.encode(lines.join(""));
  }
  // After an erasure, D1 shows nothing: the export would seem complete.
  if (first.epoch !== (await retryOnReset(() => object().epoch()))) unwrapPage(fail("not_found"));
  yield line({ type: "end", lines: count + 1 });
}

/**
 * Reads all versions of a memory at once: a correction between two reads would leave two current versions. So the next
 * page begins with the last memory of a full page.
 */
async function* memories({ records }: Needs, owner: string): AsyncGenerator<string[], void> {
  let after: VersionPlace | undefined;
  let [id, nth] = ["", 0];
  for (let limit = VERSIONS; ;) {
    const [from, most] = [after, limit];
    const rows = await retryOnReset(() =>
      records.exported(owner, { limit: most, ...(from && { after: from }) }),
    );
    const full = rows.length === limit;
    let taken = full ? rows.filter((row) => row.id !== rows.at(-1)?.id) : rows;
    if (full && taken.length === 0) {
      if (JSON.stringify(rows).length <= limits.exportedMemory) {
        limit *= 2;
        continue;
      }
      // Larger than an import takes: goes out as it is.
      taken = rows;
    }
    const lines = taken.map((row) => {
      nth = row.id === id ? nth + 1 : 1;
      ({ id } = row);
      return `${JSON.stringify(memoryLine(row, nth))}\n`;
    });
    if (lines.length > 0) yield lines;
    const last = taken.at(-1);
    if (!full || last === undefined) return;
    after = [last.id, last.version];
    limit = VERSIONS;
  }
}

const line = (fields: object): Uint8Array => encoder.encode(`${JSON.stringify(fields)}\n`);

/** A failure in the middle of a stream can only break it off. `not_found` there means that the user was erased. */
function unwrapPage<T>(page: Result<T>): T {
  if (!page.ok) throw new BrokenOff(page.code === "not_found" ? "erased_meanwhile" : page.code);
  return page.value;
}
