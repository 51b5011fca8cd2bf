import type { RememberBody } from "../../../client/src/index.ts";
import { moment, nameOf, textWithin, within } from "./fields.ts";
import {
  type Aside,
  asideOf,
  contentOf,
  emotionOf,
  externalIdOf,
  given,
  type Stored,
  vadOf,
  withRest,
} from "./record.ts";
import type { AppraisalVector, Episode } from "./types.ts";

/** Marks an episode whose context exceeds its field: a search in the context has to read all of it. */
export const LONG_CONTEXT = "molroo:long-context";

const APPRAISAL = [
  "goal_relevance",
  "goal_congruence",
  "expectedness",
  "controllability",
  "agency",
  "norm_compatibility",
  "internal_standards",
  "adjustment_potential",
  "urgency",
] as const satisfies (keyof AppraisalVector)[];

const signed = (value: number) => within(value, -1, 1);

/** An episode as a memory of kind `episode`, in Cairn's fields. */
export async function episodeBody(episode: Episode, scope: string): Promise<RememberBody> {
  const { text, content } = textOf(episode);
  const context = textWithin(episode.context);
  const body: RememberBody = given({
    kind: "episode" as const,
    scope,
    externalId: await externalIdOf(scope, "episodes", episode.id),
    createdAt: moment(episode.timestamp),
    text,
    type: await nameOf(episode.type),
    context,
    sourceEntity: await nameOf(episode.sourceEntity),
    importance: within(episode.importance, 0, 1),
    intensity: within(episode.intensity, 0, 1),
    appraisal: episode.appraisal && appraisalOf(episode.appraisal),
    // Typed as present, but a JavaScript caller may omit it.
    emotion: episode.emotionSnapshot && emotionOf(episode.emotionSnapshot, signed),
    tags: context !== (episode.context || undefined) ? [LONG_CONTEXT] : undefined,
  });
  const aside: Aside = content === undefined ? {} : { content };
  const read = episodeOf(
    { ...body, id: "", text, createdAt: body.createdAt ?? 0, metadata: { molroo: { ...aside } } },
    scope,
    null,
  );
  return withRest(body, aside, read, episode);
}

/** The episode of a memory; `whole` if the memory does not hold all of it. */
export function episodeOf(memory: Stored, scope: string, whole: unknown): Episode {
  // This adapter wrote an episode there.
  if (whole !== null) return whole as Episode;
  const aside = asideOf(memory);
  const id = memory.externalId ?? memory.id;
  const prefix = `${encodeURIComponent(scope)}/episodes/`;
  return {
    ...given({
      id: id.startsWith(prefix) ? id.slice(prefix.length) : id,
      timestamp: memory.createdAt,
      type: memory.type,
      content: contentOf(memory, aside),
      // The SDK shows a model only the context, so a foreign memory has its text there.
      context: memory.context ?? (aside === null ? memory.text : undefined),
      sourceEntity: memory.sourceEntity,
      // The server returns exactly the numbers that were given.
      appraisal: memory.appraisal as AppraisalVector | undefined,
      intensity: memory.intensity,
      importance: memory.importance ?? 0,
      emotionSnapshot: vadOf(memory.emotion),
    }),
    ...aside?.rest,
  };
}

/** The searchable text: the content, then the context if it adds anything. */
function textOf({ content, context, type }: Episode): { text: string; content: number | undefined } {
  const more = context !== undefined && content?.includes(context) !== true ? context : undefined;
  const said = [content, more].filter((part) => part !== undefined && part !== "");
  const text = textWithin(said.join("\n\n"));
  const has = content === undefined ? undefined : content.length;
  // A memory's text is never empty.
  if (text === undefined || text.trim() === "")
    return { text: textWithin(type)?.trim() || "episode", content: undefined };
  return { text, content: has };
}

const appraisalOf = (appraisal: AppraisalVector): Partial<AppraisalVector> =>
  given(Object.fromEntries(APPRAISAL.map((field) => [field, signed(appraisal[field])])));
