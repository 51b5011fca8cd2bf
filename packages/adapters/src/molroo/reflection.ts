import type { RememberBody } from "../../../client/src/index.ts";
import { moment, nameOf, textWithin, within } from "./fields.ts";
import {
  asideOf,
  contentOf,
  emotionOf,
  externalIdOf,
  given,
  type Stored,
  vadOf,
  withRest,
} from "./record.ts";
import type { Reflection } from "./types.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/**
 * A reflection as a memory of kind `reflection`. The SDK's ids are milliseconds and may collide, so its whole content
 * identifies it.
 */
export async function reflectionBody(reflection: Reflection, scope: string): Promise<RememberBody> {
  const said = textWithin(reflection.content);
  const text = said === undefined || said.trim() === "" ? "reflection" : said;
  const { sourceEntity, trigger, emotionSnapshot, ...others } = reflection;
  const all = JSON.stringify([
    others.id,
    others.timestamp,
    others.content,
    sourceEntity,
    trigger,
    emotionSnapshot,
  ]);
  const body: RememberBody = given({
    kind: "reflection" as const,
    scope,
    externalId: await externalIdOf(scope, "reflections", await sha256Hex(all)),
    createdAt: moment(reflection.timestamp),
    text,
    trigger: textWithin(trigger),
    sourceEntity: await nameOf(sourceEntity),
    emotion: emotionSnapshot && emotionOf(emotionSnapshot, (value) => within(value, -1, 1)),
  });
  const aside = { content: text.length };
  const read = reflectionOf(
    { ...body, id: "", text, createdAt: body.createdAt ?? 0, metadata: { molroo: aside } },
    null,
  );
  return withRest(body, aside, read, reflection);
}

/** The reflection of a memory; `whole` if the memory does not hold all of it. */
export function reflectionOf(memory: Stored, whole: unknown): Reflection {
  // This adapter wrote a reflection there.
  if (whole !== null) return whole as Reflection;
  const aside = asideOf(memory);
  return {
    ...given({
      id: memory.externalId ?? memory.id,
      timestamp: memory.createdAt,
      sourceEntity: memory.sourceEntity,
      content: contentOf(memory, aside) ?? "",
      trigger: memory.trigger ?? "",
      emotionSnapshot: vadOf(memory.emotion),
    }),
    ...aside?.rest,
  };
}
