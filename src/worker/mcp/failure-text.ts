import { errors, type Failure } from "../../domain/errors.ts";

/** Where a failure of a part of Cairn names a field of a request, the model's argument has the same name. */
const PART = /^(?:arguments|body|query)\./;

/** A failure as a sentence that a model can act on, with its code, and with each field that was wrong. */
export function failureText({ code, message, details = [] }: Omit<Failure, "ok">): string {
  const said = message ?? (code === "invalid_request" ? "The arguments do not fit." : errors[code][1]);
  const fields = details.map((detail) => `- ${detail.path.replace(PART, "")}: ${detail.message}`);
  return [`${code}: ${said}`, ...fields].join("\n");
}
