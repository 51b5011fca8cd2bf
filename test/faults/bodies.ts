// The few memories that histories are about, so that operations meet.
import type { Operation } from "./steps.ts";
import { type Body, type Memo, type Op, triple } from "./world.ts";

type Given = (Operation & { do: "remember" })["body"];
type Patch = (Operation & { do: "patch" })["patch"];

const MINUTE = 60_000;

export function bodyOf({ as, name, value, tag, expires }: Given, now: number): Body {
  const rest = {
    object: null,
    tags: tag === null ? [] : [tag],
    status: "active" as const,
    expiresAt: expires === null ? null : now + expires * MINUTE,
  };
  switch (as) {
    case "triple": {
      const [subject, object] = [`memo s${name}`, `o${value}`];
      return { ...rest, name: `triple ${subject}`, how: "supersede", text: triple(subject, object), object };
    }
    case "key":
      return { ...rest, name: `key k${name}`, how: "supersede", text: `memo k${name} says v${value}` };
    case "procedure":
      return { ...rest, name: `procedure t${name}`, how: "replace", text: `memo t${name} takes v${value}` };
    case "external":
      return { ...rest, name: `external e${name}`, how: "replace", text: `memo e${name} is v${value}` };
    case "plain":
      return { ...rest, name: null, how: "merge", text: `memo plain p${value}` };
    // A memory for review, and the same by a writer of more trust.
    case "review":
      return {
        ...rest,
        name: `review q${name}`,
        how: "merge",
        text: `memo review q${name}`,
        status: "quarantined",
      };
    default:
      return { ...rest, name: null, how: "merge", text: `memo review q${name}` };
  }
}

export function patchOf(
  patch: Patch,
  { target, birth, now }: { target: Memo; birth: string; now: number },
): (Op & { do: "patch" })["changes"] | null {
  switch (patch.what) {
    case "text":
      return { text: `memo patched ${birth}` };
    case "tags":
      return { tags: patch.tag === null ? [] : [patch.tag] };
    case "object":
      return target.name?.startsWith("triple ") ? { object: `o${patch.value}` } : null;
    default:
      // The answer of an idempotency key outlives what has expired.
      return target.versions[0]?.text.includes("unique") ? null : { expiresAt: now + patch.minutes * MINUTE };
  }
}
