import { type Failure, fail, ok, type Result, wrong } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import type { ImportAnswer } from "../../domain/schema/transfer.ts";
import type { Services } from "../services.ts";
import { ImportRun } from "../transfer/import-run.ts";
import { linesOf } from "../transfer/lines.ts";
import { retryOnReset } from "../../platform/retry-on-reset.ts";
import { parseHeader, parseLine } from "../transfer/parse-line.ts";
import { ownerOf } from "../../domain/memory/record.ts";

const NOTHING = fail("unsupported_format", {
  details: [{ path: "", message: "is missing: the body is empty" }],
});

type Needs = Pick<Services, "userMemory" | "now">;

/**
 * Takes an export in, line by line as it arrives: the one place where imports begin. What is there stays as it is, so the
 * same may be sent again, and goes on where it broke off. Unless it is said to be a part, it is to have its end, which counts
 * its lines. At the first line that is wrong it ends: what came before is there.
 */
export async function importLines(
  { userMemory, now }: Needs,
  user: string,
  { body, part }: { body: ReadableStream<Uint8Array>; part: boolean },
): Promise<Result<ImportAnswer>> {
  const owner = await ownerOf(user);
  const lines = linesOf(body);
  const { value: first } = await lines.next();
  if (first === undefined) return inLine(1, NOTHING);
  const header = first.line.ok ? parseHeader(first.line.value) : first.line;
  if (!header.ok) return inLine(first.n, header);
  const exported = header.value;
  if ((await userHash(exported.userId)) !== exported.userHash)
    return inLine(1, wrong("userHash", "is not that of `userId`"));
  // What the user's erasure takes is not to come in behind it.
  const epoch = await retryOnReset(() => userMemory(owner.hash).epoch());
  const run = new ImportRun({ owner, epoch, part, from: exported.userHash, userMemory, now });
  for await (const { n, line } of lines) {
    const parsed = line.ok ? parseLine(line.value) : line;
    const failed = parsed.ok ? await run.take(n, parsed.value) : { n, failure: parsed };
    if (failed === null) continue;
    // What stood before it is taken in all the same.
    const ended = (await run.flush()) ?? failed;
    return inLine(ended.n, ended.failure);
  }
  const last = await run.end();
  return last === null ? ok(run.answer) : inLine(last.n, last.failure);
}

/** A failure with the line that it is in; it is in all of the line where its path is empty. */
function inLine(n: number, { code, message, details }: Failure): Failure {
  const paths = details?.map((detail) => ({
    ...detail,
    path: `line[${n}]${detail.path === "" ? "" : `.${detail.path}`}`,
  }));
  return fail(code, {
    ...(message !== undefined && { message: `Line ${n}: ${message}` }),
    details: paths ?? [{ path: `line[${n}]`, message: "is the line that could not be taken" }],
  });
}
