import { type Failure, fail, ok, type Result, invalidField } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import type { Trust } from "../../domain/schema/provenance.ts";
import type { ImportAnswer } from "../../domain/schema/transfer.ts";
import type { Services } from "../services.ts";
import { ImportRun } from "../transfer/import-run.ts";
import { redactedJson } from "../../domain/redaction/redacted-json.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import { linesOf } from "../../domain/transfer/lines.ts";
import { retryOnReset } from "../../platform/retry-on-reset.ts";
import { parseHeader, parseLine } from "../transfer/parse-line.ts";
import { ownerOf } from "../../domain/memory/record.ts";

const EMPTY = fail("unsupported_format", {
  details: [{ path: "", message: "is missing: the body is empty" }],
});

type Needs = Pick<Services, "userMemory" | "now"> & { extraction: Pick<Services["extraction"], "current"> };

/**
 * Imports an export, line by line as it arrives. Changes nothing that is there, so the same file may be sent again. Unless it
 * is a `part`, it must have its last line, which counts the lines. Ends at the first wrong line; the lines before are stored.
 */
export async function importLines(
  needs: Needs,
  user: string,
  { body, ...how }: { body: ReadableStream<Uint8Array>; part: boolean; trust: Trust },
): Promise<Result<ImportAnswer>> {
  const lines = linesOf(body);
  try {
    return await importOf(lines, needs, { user, ...how });
  } finally {
    // Lets go of a body whose first line is refused: a loop lets go by itself.
    await lines.return();
  }
}

async function importOf(
  lines: ReturnType<typeof linesOf>,
  { userMemory, now, extraction }: Needs,
  { user, part, trust }: { user: string; part: boolean; trust: Trust },
): Promise<Result<ImportAnswer>> {
  const settings = await d1Result(() => extraction.current());
  if (!settings.ok) return settings;
  const { redactions } = settings.value;
  const owner = await ownerOf(user);
  const { value: first } = await lines.next();
  if (first === undefined) return inLine(1, EMPTY);
  const header = first.line.ok ? parseHeader(first.line.value) : first.line;
  if (!header.ok) return inLine(first.n, header);
  const exported = header.value;
  if ((await userHash(exported.userId)) !== exported.userHash)
    return inLine(1, invalidField("userHash", "is not the hash of `userId`"));
  // An erasure from here on must also erase what is imported.
  const epoch = await retryOnReset(() => userMemory(owner.hash).epoch());
  const run = new ImportRun({ owner, epoch, part, trust, from: exported.userHash, userMemory, now });
  for await (const { n, line } of lines) {
    const text = line.ok ? redactedJson(line.value, redactions) : "";
    const parsed = !line.ok ? line : text === null ? fail("value_too_large") : parseLine(text);
    const failed = await run.take(n, parsed);
    if (failed !== null) return inLine(failed.n, failed.failure);
  }
  const last = await run.end();
  return last === null ? ok(run.answer) : inLine(last.n, last.failure);
}

/** Adds the line to a failure's paths. An empty path means the whole line. */
function inLine(n: number, { code, message, details }: Failure): Failure {
  const paths = details?.map((detail) => ({
    ...detail,
    path: `line[${n}]${detail.path === "" ? "" : `.${detail.path}`}`,
  }));
  return fail(code, {
    ...(message !== undefined && { message: `Line ${n}: ${message}` }),
    details: paths ?? [{ path: `line[${n}]`, message: "could not be imported" }],
  });
}
