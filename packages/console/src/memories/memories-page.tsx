import type { Memory, MemoryKind } from "edgecairn";
import { useMemo, useState } from "preact/hooks";
import { useLoad } from "../parts/load.ts";
import { Since, useSince } from "../parts/since.tsx";
import { Empty, Shown } from "../parts/states.tsx";
import { count, plural } from "../parts/numbers.ts";
import { dayText, Time, timeText } from "../parts/times.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { go, setQuery, to, useRoute } from "../shell/route.ts";
import { may, useSession } from "../shell/session.ts";
import { reviewedOf, useStored } from "../shell/stored.ts";
import { AddMemory } from "./add-memory.tsx";
import { FillDemo } from "./fill-demo.tsx";
import { MemoryPanel } from "./memory-panel.tsx";
import { Former } from "./former.tsx";
import { MOST, newest } from "./read-memories.ts";
import { subjectAddress } from "./subject-page.tsx";
import { EPISODES, headingOf, lineOf, placeOf } from "./words.ts";

const KINDS: readonly MemoryKind[] = ["fact", "episode", "procedure", "reflection"];

type Row =
  | { heading: string; count: number; subject: string | undefined; isFolded: boolean }
  | { memory: Memory };

/** The memories of a user by subject, now or at another moment, and one of them beside the list. */
export function MemoriesPage({ user, id }: { user: string; id: string | undefined }) {
  const session = useSession();
  const { query } = useRoute();
  const asOf = query.has("asOf") ? Number(query.get("asOf")) : undefined;
  const kind = KINDS.find((one) => one === query.get("kind"));
  const since = useSince();
  const words = query.get("find") ?? "";
  const [adding, setAdding] = useState(false);
  const loaded = useLoad(
    (signal) =>
      newest(
        session.memory,
        user,
        {
          ...(kind && { kind: [kind] }),
          ...(asOf !== undefined && { asOf }),
          ...(since !== undefined && { updatedAtMin: since }),
        },
        signal,
      ),
    [user, kind, asOf, since],
  );
  const stored = useStored();
  const isAll = kind === undefined && words === "" && asOf === undefined && since === undefined;
  const reload = () => {
    loaded.reload();
    stored.reload();
  };
  const close = () => go(to(["users", user, "memories"], Object.fromEntries(query)));
  return (
    <div class={id === undefined ? "split" : "split open"}>
      <section aria-label="Memories">
        <div class="bar">
          <Filters />
          {may(session, "write") && (
            <button type="button" onClick={() => setAdding(!adding)} aria-expanded={adding}>
              Add
            </button>
          )}
        </div>
        {adding && (
          <AddMemory
            user={user}
            done={() => {
              setAdding(false);
              reload();
            }}
          />
        )}
        <Shown of={loaded}>
          {(all) => (
            <>
              <Moment memories={all} asOf={asOf} />
              <Listed
                all={all}
                words={words}
                user={user}
                id={id}
                asOf={asOf}
                past={isAll && stored.value ? reviewedOf(stored.value) - all.length : 0}
              />
              {all.length === 0 && isAll && <FillDemo user={user} done={reload} />}
            </>
          )}
        </Shown>
      </section>
      {id !== undefined && (
        <MemoryPanel key={id} user={user} id={id} asOf={asOf} changed={reload} close={close} />
      )}
    </div>
  );
}

function Filters() {
  const { query } = useRoute();
  return (
    <>
      <input
        type="search"
        aria-label="Filter by words"
        placeholder="Filter by words"
        value={query.get("find") ?? ""}
        onInput={({ currentTarget }) => setQuery({ find: currentTarget.value })}
      />
      <select
        aria-label="Kind"
        value={query.get("kind") ?? ""}
        onChange={({ currentTarget }) => setQuery({ kind: currentTarget.value })}
      >
        <option value="">all kinds</option>
        {KINDS.map((one) => (
          <option key={one} value={one}>
            {one}s
          </option>
        ))}
      </select>
      <Since />
    </>
  );
}

function Listed({
  all,
  words,
  user,
  id,
  asOf,
  past,
}: {
  all: readonly Memory[];
  words: string;
  user: string;
  id: string | undefined;
  asOf: number | undefined;
  /** Memories that are not true now, if they are known. */
  past: number;
}) {
  const { query } = useRoute();
  const isNarrowed = words !== "" || query.has("kind") || query.has("since");
  const [unfolded, setUnfolded] = useState(false);
  const folds = !unfolded && !isNarrowed && !all.some((one) => one.id === id && headingOf(one) === EPISODES);
  const rows = useMemo(() => rowsOf(all, words, folds), [all, words, folds]);
  const found = rows.reduce((sum, row) => sum + ("memory" in row ? 0 : row.count), 0);
  if (all.length === 0)
    return (
      <Empty>
        {isNarrowed
          ? "No memory fits. What was forgotten is not listed."
          : asOf === undefined
            ? "Nothing is remembered of this user. Add a memory, or store a conversation with an ingest."
            : `Nothing was known on ${dayText(asOf)}.`}
      </Empty>
    );
  return (
    <>
      <p class="quiet" role="status">
        {plural(found, "memory", "memories")}
        {all.length === MOST && `, of the newest ${plural(MOST, "memory", "memories")}`}
        {all.length < MOST && past > 0 && `, and ${count(past)} not true now`}
      </p>
      <VirtualList
        count={rows.length}
        estimate={44}
        label="Memories by subject"
        goal={
          id === undefined
            ? undefined
            : { key: id, index: rows.findIndex((row) => "memory" in row && row.memory.id === id) }
        }
        row={(index) => {
          const row = rows[index];
          if (row === undefined) return null;
          if ("heading" in row) return <Heading user={user} {...row} unfold={() => setUnfolded(true)} />;
          return <MemoryRow memory={row.memory} user={user} isOpen={row.memory.id === id} />;
        }}
      />
    </>
  );
}

type HeadingProps = {
  user: string;
  heading: string;
  count: number;
  subject: string | undefined;
  isFolded: boolean;
  unfold: () => void;
};

function Heading({ user, heading, count: n, subject, isFolded, unfold }: HeadingProps) {
  return (
    <h2 class="subject">
      {subject === undefined ? (
        heading
      ) : (
        <a href={subjectAddress(user, subject)}>
          <bdi>{subject}</bdi>
        </a>
      )}{" "}
      <span class="quiet">{count(n)}</span>{" "}
      {isFolded && (
        <button type="button" class="quiet" onClick={unfold}>
          Unfold
        </button>
      )}
    </h2>
  );
}

function MemoryRow({ memory, user, isOpen }: { memory: Memory; user: string; isOpen: boolean }) {
  const { query } = useRoute();
  return (
    <a
      class="memory"
      href={to(["users", user, "memories", memory.id], Object.fromEntries(query))}
      aria-current={isOpen ? "true" : undefined}
    >
      <span class="said">
        <bdi>{lineOf(memory)}</bdi>
        {memory.updatedAt > memory.createdAt && !query.has("asOf") && <Former user={user} memory={memory} />}
      </span>
      <span class="quiet">
        {memory.trust !== "user" && memory.trust !== "operator" && <span class="chip">{memory.trust}</span>}
        <Time at={memory.validFrom} day />
      </span>
    </a>
  );
}

/**
 * Headings and memories, as the list shows them: subjects by their name, then what has none; the newest memories first. `folds`: the
 * episodes are not shown, which are long, and most of them.
 */
function rowsOf(all: readonly Memory[], words: string, folds: boolean): Row[] {
  const wanted = words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const fits = (memory: Memory) => {
    const text =
      `${lineOf(memory)} ${memory.subject ?? ""} ${(memory.tags ?? []).join(" ")}`.toLocaleLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  const groups = Map.groupBy(all.filter(fits), headingOf);
  return [...groups]
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b) || a.localeCompare(b))
    .flatMap(([heading, memories]): Row[] => {
      const isFolded = folds && heading === EPISODES && groups.size > 1;
      const shown = isFolded ? [] : memories.toSorted((a, b) => b.validFrom - a.validFrom);
      return [
        { heading, count: memories.length, subject: memories[0]?.subject, isFolded },
        ...shown.map((memory) => ({ memory })),
      ];
    });
}

/** Places of the slider. */
const PLACES = 1_000;

/** A slider over the time from the first memory until now. */
function Moment({ memories, asOf }: { memories: readonly Memory[]; asOf: number | undefined }) {
  // The beginning stays while the slider moves, though fewer memories are there.
  const [first, setFirst] = useState(Infinity);
  const [value, setValue] = useState(asOf);
  const [now] = useState(() => Date.now());
  const earliest = memories.reduce((least, { recordedAt }) => Math.min(least, recordedAt), first);
  if (earliest < first) setFirst(earliest);
  if (!Number.isFinite(earliest)) return null;
  const shown = value ?? now;
  const at = (place: number) => Math.round(earliest + ((now - earliest) * place) / PLACES);
  return (
    <div class="moment">
      <label>
        <span>Known {value === undefined ? "now" : `on ${timeText(shown)}`}</span>
        <input
          type="range"
          min={0}
          max={PLACES}
          value={Math.round(((shown - earliest) / Math.max(1, now - earliest)) * PLACES)}
          aria-valuetext={value === undefined ? "now" : timeText(shown)}
          onInput={({ currentTarget }) => setValue(at(currentTarget.valueAsNumber))}
          onChange={({ currentTarget }) => setQuery({ asOf: at(currentTarget.valueAsNumber) })}
        />
      </label>
      {asOf !== undefined && (
        <button
          type="button"
          onClick={() => {
            setValue(undefined);
            setQuery({ asOf: undefined });
          }}
        >
          Now
        </button>
      )}
    </div>
  );
}
