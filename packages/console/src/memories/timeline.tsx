import type { PastMemory } from "edgecairn";
import type { ComponentChildren } from "preact";
import { dayText, Time } from "../parts/times.tsx";
import { to } from "../shell/route.ts";
import { lineOf, writerOf } from "./words.ts";

type Props = {
  user: string;
  versions: readonly PastMemory[];
  /** A version in words; its text unless given. */
  say?: (version: PastMemory) => ComponentChildren;
  actions?: (version: PastMemory) => ComponentChildren;
};

/** Versions of one memory or of several, in the given order: when each was true, who wrote it, and what replaced it. */
export function Timeline({ user, versions, say, actions }: Props) {
  const now = Date.now();
  const from = Math.min(...versions.map(({ validFrom }) => validFrom));
  const until = Math.max(now, ...versions.map(({ validTo = now }) => validTo));
  const share = (at: number) => `${(100 * (at - from)) / Math.max(1, until - from)}%`;
  const nextOf = ({ id, supersededBy }: PastMemory) =>
    supersededBy === undefined
      ? undefined
      : versions.find((one) => one.id === id && one.version === supersededBy);
  return (
    <>
      <p class="quiet span">
        <span>{dayText(from)}</span>
        <span>{dayText(until)}</span>
      </p>
      <ol class="versions">
        {versions.map((one) => (
          <li key={`${one.id} ${one.version}`} class={one.correctedAt === undefined ? "" : "corrected"}>
            <svg class="when" aria-hidden="true">
              <rect
                x={share(one.validFrom)}
                width={share(from + Math.max(0, (one.validTo ?? until) - one.validFrom))}
                height="100%"
              />
            </svg>
            <p class="what">{say ? say(one) : <bdi>{lineOf(one)}</bdi>}</p>
            <When version={one} next={nextOf(one)} />
            <By user={user} version={one} />
            {actions?.(one)}
          </li>
        ))}
      </ol>
    </>
  );
}

function When({ version, next }: { version: PastMemory; next: PastMemory | undefined }) {
  const { validFrom, validTo, correctedAt } = version;
  return (
    <p class="quiet">
      {correctedAt === undefined ? "true " : "never true, held from "}
      <Time at={correctedAt === undefined ? validFrom : version.recordedAt} /> to{" "}
      {correctedAt !== undefined ? (
        <Time at={correctedAt} />
      ) : validTo === undefined ? (
        "now"
      ) : (
        <Time at={validTo} />
      )}
      {next && (
        <>
          , then <bdi>{next.object ?? next.text}</bdi>
        </>
      )}
    </p>
  );
}

function By({ user, version }: { user: string; version: PastMemory }) {
  const { thread, message } = version.source ?? {};
  return (
    <p class="quiet">
      by <bdi>{writerOf(version)}</bdi>
      {thread !== undefined && typeof message === "number" && (
        <>
          , from <a href={to(["users", user, "threads", thread], { seq: message })}>message {message}</a>
        </>
      )}
      , known from <Time at={version.recordedAt} />
    </p>
  );
}
