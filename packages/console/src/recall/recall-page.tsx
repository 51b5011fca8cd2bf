import type { RecallAnswer } from "edgecairn";
import { useState } from "preact/hooks";
import { useLoad } from "../parts/load.ts";
import { SearchForm } from "../parts/search-form.tsx";
import { Empty, Shown } from "../parts/states.tsx";
import { setQuery, useRoute } from "../shell/route.ts";
import { useSession } from "../shell/session.ts";
import { Answer } from "./answer.tsx";
import { BEYOND, bodyOf, formOf, MOST, optionsOf } from "./form.ts";
import { Options } from "./options.tsx";

/** A query, what it finds, and why. */
export function RecallPage({ user }: { user: string }) {
  const { memory } = useSession();
  const { query: given } = useRoute();
  const [choosing, setChoosing] = useState(false);
  const form = formOf(given);
  const body = bodyOf(form);
  const set = optionsOf(given);
  const answer = useLoad<RecallAnswer | null>(
    async (signal) => {
      if (form.query.trim() === "") return null;
      const { minScore: _all, ...asked } = body;
      const k = Math.min(MOST, form.k + BEYOND);
      return memory.recall(user, { ...asked, k, explain: true }, { signal });
    },
    [user, body],
    { keep: true },
  );
  return (
    <section aria-label="Recall">
      <SearchForm
        label="Query"
        placeholder="Ask, as your program would"
        value={form.query}
        search={(text) => setQuery({ query: text })}
        action="Recall"
        main
      >
        <button type="button" aria-expanded={choosing} onClick={() => setChoosing(!choosing)}>
          Options{set > 0 && ` (${set} set)`}
        </button>
      </SearchForm>
      {choosing && <Options form={form} />}
      <Shown of={answer}>
        {(value) =>
          value === null ? (
            <Empty>Ask something, and see what is found and why. No model is asked.</Empty>
          ) : (
            <Answer user={user} answer={value} form={form} body={body} />
          )
        }
      </Shown>
    </section>
  );
}
