import type { Memory } from "edgecairn";
import { useLoad } from "../parts/load.ts";
import { plural } from "../parts/numbers.ts";
import { Empty, Shown } from "../parts/states.tsx";
import { Time } from "../parts/times.tsx";
import { to } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";
import { nameOf, readSubject, type Subject } from "./read-memories.ts";
import { Timeline } from "./timeline.tsx";

export const subjectAddress = (user: string, subject: string): string =>
  to(["users", user, "memories", "about", subject]);

/** One subject: its facts over time, and the facts that link to it. */
export function SubjectPage({ user, subject }: { user: string; subject: string }) {
  const { memory } = useSession();
  const known = useLoad((signal) => readSubject(memory, user, subject, signal), [user, subject]);
  return (
    <section aria-label="Subject">
      <p>
        <a href={to(["users", user, "memories"])}>All memories</a>
      </p>
      <h2>
        <bdi>{subject}</bdi>
      </h2>
      <Shown of={known}>
        {(value) =>
          value.versions.length + value.pointing.length === 0 ? (
            <Empty>No fact is about it, and none names it.</Empty>
          ) : (
            <div class="two">
              <Facts user={user} known={value} />
              {value.pointing.length > 0 && <Pointing user={user} pointing={value.pointing} />}
            </div>
          )
        }
      </Shown>
    </section>
  );
}

function Facts({ user, known: { versions, names } }: { user: string; known: Subject }) {
  if (versions.length === 0) return null;
  return (
    <section aria-label="Timeline">
      <h3>{plural(versions.length, "statement")}, the newest first</h3>
      <Timeline
        user={user}
        versions={versions}
        say={({ id, predicate, object, text }) => (
          <>
            <a href={to(["users", user, "memories", id])}>
              <bdi>{predicate ?? text}</bdi>
            </a>{" "}
            {object !== undefined && <Name user={user} name={object} names={names} />}
          </>
        )}
      />
    </section>
  );
}

/** A name, which leads to its page if there are facts about it. */
const Name = ({ user, name, names }: { user: string; name: string; names: ReadonlySet<string> }) =>
  names.has(nameOf(name)) ? (
    <a class="chip" href={subjectAddress(user, name)}>
      <bdi>{name}</bdi>
    </a>
  ) : (
    <bdi>{name}</bdi>
  );

const Pointing = ({ user, pointing }: { user: string; pointing: readonly Memory[] }) => (
  <section aria-label="Facts that name it">
    <h3>{plural(pointing.length, "fact names it", "facts name it")}</h3>
    <ul class="versions">
      {pointing.map(({ id, subject = "", predicate, validFrom }) => (
        <li key={id}>
          <p>
            <a class="chip" href={subjectAddress(user, subject)}>
              <bdi>{subject}</bdi>
            </a>{" "}
            <a href={to(["users", user, "memories", id])}>
              <bdi>{predicate}</bdi>
            </a>{" "}
            it
          </p>
          <p class="quiet">
            true from <Time at={validFrom} />
          </p>
        </li>
      ))}
    </ul>
  </section>
);
